// Rows of fields in a form: each can be changed and removed, and others are added below.
import { ActionIcon, Button, Fieldset, Group, Stack } from "@mantine/core";
import { Plus, X } from "lucide-react";
import type { ReactNode } from "react";
import { focusBeside } from "./focus.ts";

interface FieldRow {
  /** Tells the rows of the form apart. */
  readonly row: number;
}

interface FieldRowsProps<One extends FieldRow> {
  readonly legend: string;
  /** The noun for a row: `pair`. */
  readonly kind: string;
  readonly addLabel: string;
  readonly rows: readonly One[];
  onChange(rows: One[]): void;
  newRow(row: number): One;
  /** The fields of a row; `number` counts from 1. */
  renderFields(one: One, change: (part: Partial<One>) => void, number: number): ReactNode;
  /** Whether the fields of a row continue below each other in narrow windows. */
  readonly wrap?: boolean;
}

export function FieldRows<One extends FieldRow>(props: FieldRowsProps<One>) {
  const { legend, kind, addLabel, rows, onChange, newRow, renderFields, wrap = false } = props;
  const change = (row: number, part: Partial<One>) =>
    onChange(rows.map((one) => (one.row === row ? { ...one, ...part } : one)));
  const add = () => onChange([...rows, newRow(Math.max(-1, ...rows.map(({ row }) => row)) + 1)]);
  return (
    <Fieldset legend={legend}>
      <Stack gap={6}>
        {rows.map((one, index) => (
          <Group key={one.row} data-row gap={6} wrap={wrap ? "wrap" : "nowrap"}>
            {renderFields(one, (part) => change(one.row, part), index + 1)}
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Remove ${kind} ${index + 1}`}
              onClick={({ currentTarget }) => {
                focusBelow(currentTarget.closest("[data-row]")!);
                onChange(rows.filter(({ row }) => row !== one.row));
              }}
            >
              <X size={15} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        <Button
          variant="subtle"
          size="compact-sm"
          leftSection={<Plus size={14} aria-hidden />}
          onClick={add}
          style={{ alignSelf: "flex-start" }}
        >
          {addLabel}
        </Button>
      </Stack>
    </Fieldset>
  );
}

/** The row goes away with its focus. Below the last row is the button that adds one. */
function focusBelow(row: Element): void {
  const below = row.nextElementSibling as HTMLElement;
  if (!focusBeside(row, "[aria-label^=Remove]", ["below"])) below.focus();
}
