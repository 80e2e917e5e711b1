// The columns of the table of audit records.
import { Badge, Text } from "@mantine/core";
import type { AuditRecord } from "../../api/generated.ts";
import { timeText } from "../../lib/format.ts";
import type { TableColumn } from "../../ui/virtual-table.tsx";
import classes from "./audit.module.css";

export const auditColumns: readonly TableColumn<AuditRecord>[] = [
  {
    ...{ key: "time", label: "Time", width: "170px", isOptional: true },
    cell: ({ time }) => timeText(time),
  },
  { key: "who", label: "Account", width: "minmax(64px, 1.2fr)", cell: (record) => <Who record={record} /> },
  { key: "what", label: "Operation", width: "minmax(136px, 3fr)", cell: (one) => <What record={one} /> },
  { key: "kind", label: "Kind", width: "90px", isOptional: true, cell: ({ kind }) => kind },
  { key: "result", label: "Result", width: "minmax(80px, 0.8fr)", cell: (one) => <Result record={one} /> },
];

function Who({ record }: { record: AuditRecord }) {
  const { account, credential, address } = record;
  return (
    <div className={classes["lines"]}>
      <span title={account}>{account === "" ? <Quiet>unknown</Quiet> : account}</span>
      <Quiet>{[credential, address].filter((part) => part !== "").join(" · ")}</Quiet>
    </div>
  );
}

function What({ record }: { record: AuditRecord }) {
  const { action, time } = record;
  const named = namesOf(record);
  return (
    <div className={classes["lines"]}>
      <span title={action}>{action}</span>
      <span title={named}>
        <Quiet className={classes["timeInside"]}>{timeText(time)} </Quiet>
        <Quiet>{named}</Quiet>
      </span>
    </div>
  );
}

function namesOf({ ids, idsCount }: AuditRecord): string {
  const more = idsCount > ids.length ? ` and ${idsCount - ids.length} more` : "";
  return ids.length === 0 && idsCount > 0 ? `${idsCount} records` : `${ids.join(", ")}${more}`;
}

const colors = { done: "green", refused: "orange", failed: "red", unknown: "gray" } as const;

function Result({ record: { result, status, error } }: { record: AuditRecord }) {
  return (
    <div className={classes["lines"]}>
      <Badge variant="dot" color={colors[result]} tt="none" fw={500}>
        {result}
      </Badge>
      <Quiet>{[status, error].filter((part) => part !== undefined && part !== 200).join(" ")}</Quiet>
    </div>
  );
}

const Quiet = ({ className, children }: { className?: string | undefined; children: React.ReactNode }) => (
  <Text span inherit c="var(--text-quiet)" fz="xs" className={className}>
    {children}
  </Text>
);
