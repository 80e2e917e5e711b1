// Shows the plan of a run: new records, changes with old and new values, deletions, and refused rows.
import { Group, Stack, Table, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import type { TransformationPlan, TransformationRowError } from "../../api/generated.ts";
import { countOf, countText } from "../../lib/format.ts";
import { Value } from "./preview-table.tsx";
import classes from "./transformations.module.css";

export function PlanView({ plan }: { plan: TransformationPlan }) {
  const { read, created, changed, unchanged, deleted, refused } = plan;
  return (
    <Stack gap="sm" component="section" aria-label="Plan">
      <Text size="sm" role="status">
        A run would read {countOf(read, "row")}:
      </Text>
      <Group gap="lg" component="ul" className={classes["counts"]}>
        <Count count={created.count} label="created" />
        <Count count={changed.count} label="changed" />
        <Count count={unchanged} label="unchanged" />
        <Count count={deleted.count} label="deleted" />
        <Count count={refused.count} label="refused" />
      </Group>
      <RefusedRows rows={refused.rows} count={refused.count} />
      <PlannedRows title="Changed" heads={["Key", "Field", "Old", "New"]} {...shown(changed)}>
        {changed.rows.flatMap(({ row, key, fields }) =>
          fields.map((one) => (
            <Cells key={`${row} ${one.field}`} values={[key, one.field, one.old, one.new]} />
          )),
        )}
      </PlannedRows>
      <PlannedRows title="Created" heads={["Key", "Values"]} {...shown(created)}>
        {created.rows.map(({ row, key, values }) => (
          <Cells key={row} values={[key, valuesText(values)]} />
        ))}
      </PlannedRows>
      <PlannedRows title="Deleted" heads={["Row", "Key"]} {...shown(deleted)}>
        {deleted.rows.map(({ row, key }) => (
          <Cells key={row} values={[row, key]} />
        ))}
      </PlannedRows>
    </Stack>
  );
}

const Count = ({ count, label }: { count: number; label: string }) => (
  <li>
    <strong>{countText(count)}</strong> {label}
  </li>
);

const shown = ({ count, rows }: { count: number; rows: readonly unknown[] }) => ({
  ...{ count, shownCount: rows.length },
});

const valuesText = (values: object): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");

interface RefusedRowsProps {
  readonly rows: readonly TransformationRowError[];
  readonly count: number;
}

/** The rows that a resource refuses, each with its reason. */
export const RefusedRows = ({ rows, count }: RefusedRowsProps) => (
  <PlannedRows
    title="Refused"
    heads={["Row", "Key", "Column", "Value", "Reason"]}
    count={count}
    shownCount={rows.length}
  >
    {rows.map(({ row, key = "", column = "", value = "", reason }) => (
      <Cells key={`${row} ${column}`} values={[row, key, column, value, reason]} />
    ))}
  </PlannedRows>
);

interface PlannedRowsProps {
  readonly title: string;
  readonly heads: readonly string[];
  readonly count: number;
  readonly shownCount: number;
  readonly children: ReactNode;
}

function PlannedRows({ title, heads, count, shownCount, children }: PlannedRowsProps) {
  if (count === 0) return null;
  return (
    <div>
      <Title order={3} size="h6" mb={4}>
        {title}
        {shownCount < count && `: the first ${countText(shownCount)} of ${countText(count)}`}
      </Title>
      <Table.ScrollContainer minWidth={heads.length * 120} mah={320} type="native" tabIndex={0}>
        <Table aria-label={title} fz="sm" stickyHeader>
          <Table.Thead>
            <Table.Tr>
              {heads.map((head) => (
                <Table.Th key={head}>{head}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>{children}</Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </div>
  );
}

const Cells = ({ values }: { values: readonly unknown[] }) => (
  <Table.Tr>
    {values.map((value, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the cells are in the order of the columns.
      <Table.Td key={index} className={classes["value"]}>
        <Value value={value} />
      </Table.Td>
    ))}
  </Table.Tr>
);
