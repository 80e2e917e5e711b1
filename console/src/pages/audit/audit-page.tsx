// The audit log: callers, operations and results, and whether the log is unchanged.
import { Button, Select, Text } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { CircleCheck, ScrollText, Search, TriangleAlert } from "lucide-react";
import { messageOf } from "../../api/errors.ts";
import { countOf, countText } from "../../lib/format.ts";
import { useProject } from "../../session/session.ts";
import { CopyAs } from "../../ui/copy-as.tsx";
import { DownloadCsv } from "../../ui/download-csv.tsx";
import { FilterText } from "../../ui/filter-inputs.tsx";
import { Page } from "../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../ui/page-states.tsx";
import { VirtualTable } from "../../ui/virtual-table.tsx";
import classes from "./audit.module.css";
import { auditColumns } from "./audit-columns.tsx";
import { csvCells, csvHeader } from "./audit-csv.ts";
import { allRecords, requestOf, useAuditList, useFilter, useVerification } from "./audit-list.ts";
import { type AuditRange, type AuditSearch, auditKinds, auditRanges, auditResults } from "./search.ts";

const rowHeight = 46;

export function AuditPage() {
  const search = useSearch({ from: "/frame/audit" });
  const project = useProject();
  const filter = useFilter(search);
  const list = useAuditList(filter);
  const read = (signal: AbortSignal) => allRecords(project, filter, signal);
  return (
    <Page
      title="Audit"
      fills
      note={list.isPending ? undefined : `${countText(list.rows.length)}${list.hasMore ? " and more" : ""}`}
      actions={
        <>
          <Verdict />
          <DownloadCsv name="audit" header={csvHeader} read={read} cells={csvCells} />
          <CopyAs request={requestOf(project, filter)} />
        </>
      }
      toolbar={
        <>
          <AuditFilters search={search} />
          <VerificationFailure />
        </>
      }
    >
      {list.isPending && <Loading what="the audit log" />}
      {list.error !== null && <Failure problem={list.error} onRetry={list.refetch} />}
      {!list.isPending && list.error === null && (
        <VirtualTable
          label="Audit records"
          columns={auditColumns}
          rows={list.rows}
          rowKey={({ seq }) => seq}
          rowHeight={rowHeight}
          loadMore={list.loadMore}
          isLoadingMore={list.isLoadingMore}
          empty={<NoRecords />}
        />
      )}
    </Page>
  );
}

const problems = { missing: "is missing", changed: "was changed", hash: "does not follow the one before" };

/** Whether the log is as it was written. A click checks it again. */
function Verdict() {
  const { data, isFetching, error, refetch } = useVerification();
  const check = () => void refetch();
  const common = { size: "xs", variant: "default", loading: isFetching, onClick: check } as const;
  if (!data || error) return <Button {...common}>Check the chain</Button>;
  const { isIntact, checked, broken } = data;
  const Icon = isIntact ? CircleCheck : TriangleAlert;
  return (
    <Button
      {...common}
      title="Check again"
      {...(isIntact ? {} : { color: "red", variant: "light" })}
      leftSection={<Icon size={14} aria-hidden />}
    >
      {broken
        ? `Record ${broken.seq} ${problems[broken.problem]}`
        : `Chain of ${countOf(checked, "record")} intact`}
    </Button>
  );
}

/** Why the chain could not be checked. The records are shown all the same. */
function VerificationFailure() {
  const { error } = useVerification();
  if (!error) return null;
  return (
    <Text size="sm" c="var(--text-danger)" role="alert" mt={6}>
      The chain was not checked: {messageOf(error)}
    </Text>
  );
}

const rangeLabels: Readonly<Record<AuditRange, string>> = {
  "1d": "Last day",
  "7d": "Last 7 days",
  "30d": "Last 30 days",
  "365d": "Last year",
};

function AuditFilters({ search }: { search: AuditSearch }) {
  const navigate = useNavigate({ from: "/audit" });
  const change = (part: Partial<AuditSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...part }), replace: true });
  return (
    <div className={classes["filters"]} role="search" aria-label="Filter of the audit log">
      <FilterText
        aria-label="Account"
        placeholder="Any account"
        leftSection={<Search size={15} aria-hidden />}
        value={search.account}
        onChange={(account) => change({ account })}
      />
      <Select
        {...{ "aria-label": "Kind", placeholder: "Any kind", clearable: true }}
        data={auditKinds}
        value={search.kind ?? null}
        onChange={(kind) => change({ kind: (kind ?? undefined) as AuditSearch["kind"] })}
      />
      <Select
        {...{ "aria-label": "Result", placeholder: "Any result", clearable: true }}
        data={auditResults}
        value={search.result ?? null}
        onChange={(result) => change({ result: (result ?? undefined) as AuditSearch["result"] })}
      />
      <Select
        {...{ "aria-label": "Time range", placeholder: "All times", clearable: true }}
        data={auditRanges.map((value) => ({ value, label: rangeLabels[value] }))}
        value={search.last ?? null}
        onChange={(last) => change({ last: (last ?? undefined) as AuditSearch["last"] })}
      />
    </div>
  );
}

const NoRecords = () => (
  <Empty title="No records match" icon={<ScrollText size={28} aria-hidden />}>
    Remove some of the filters. The setting MILLRACE_AUDIT says which operations are recorded.
  </Empty>
);
