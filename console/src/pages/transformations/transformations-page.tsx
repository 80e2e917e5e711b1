// All transformations of the project with their last and next runs.
import { Button } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Plus, Search, Workflow } from "lucide-react";
import { useState } from "react";
import type { Transformation } from "../../api/generated.ts";
import { ageText, countText, timeText } from "../../lib/format.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { CopyAs } from "../../ui/copy-as.tsx";
import { FilterText } from "../../ui/filter-inputs.tsx";
import { Page } from "../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../ui/page-states.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { isCalled } from "../../ui/transformation-list.ts";
import { useNow } from "../../ui/use-now.ts";
import { type TableColumn, VirtualTable } from "../../ui/virtual-table.tsx";
import { NewTransformation } from "./transformation-form.tsx";
import { destinationText, nextRunText, scheduleText, useTransformations } from "./transformations-data.ts";

export function TransformationsPage() {
  const project = useProject();
  const { query = "" } = useSearch({ from: "/frame/transformations" });
  const navigate = useNavigate({ from: "/transformations" });
  const { list, transformations = [] } = useTransformations(project);
  const rows = transformations.filter((one) => isCalled(one, query));
  return (
    <Page
      title="Transformations"
      fills
      note={list.isSuccess ? countText(rows.length) : undefined}
      actions={
        <>
          {mayDo(useSession(), "transformationsAcl", "WRITE") && <NewButton />}
          <CopyAs request={{ method: "GET", project, path: "/transformations", odata: "Transformations" }} />
        </>
      }
      toolbar={
        <FilterText
          w={{ base: "100%", sm: 320 }}
          aria-label="Search transformations"
          placeholder="Search by name or external id"
          leftSection={<Search size={15} aria-hidden />}
          value={query}
          onChange={(text) => void navigate({ search: { query: text }, replace: true })}
        />
      }
    >
      {list.isPending && <Loading what="the transformations" />}
      {list.isError && <Failure problem={list.error} onRetry={() => void list.refetch()} />}
      {list.isSuccess && (
        <VirtualTable
          label="Transformations"
          columns={columns}
          rows={rows}
          rowKey={({ id }) => id}
          onOpen={({ id }) => void navigate({ to: "/transformations/$id", params: { id } })}
          empty={query === "" ? <NoTransformations /> : <Empty title="No transformation is called that" />}
        />
      )}
    </Page>
  );
}

const NoTransformations = () => (
  <Empty title="There are no transformations yet" icon={<Workflow size={28} aria-hidden />}>
    A transformation is an SQL query over raw rows and records. Each row of its result becomes an asset, an
    event, a series or another record. It shows what it would change before it writes.
  </Empty>
);

function NewButton() {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button size="xs" leftSection={<Plus size={14} aria-hidden />} onClick={() => setIsOpen(true)}>
        New transformation
      </Button>
      {isOpen && <NewTransformation onClose={() => setIsOpen(false)} />}
    </>
  );
}

const columns: readonly TableColumn<Transformation>[] = [
  { key: "name", label: "Name", width: "minmax(110px, 2fr)", cell: ({ name }) => name },
  {
    ...{ key: "destination", label: "Writes", width: "minmax(120px, 1fr)", isOptional: true },
    cell: ({ action, destination }) => `${action} ${destinationText(destination)}`,
  },
  {
    ...{ key: "last", label: "Last run", width: "185px" },
    cell: ({ lastRun }) => (lastRun ? <StatusBadge status={lastRun.status} /> : "–"),
  },
  {
    ...{ key: "started", label: "Started", width: "120px", isOptional: true },
    cell: ({ lastRun }) => (lastRun ? <Age timeMs={lastRun.startedTime} /> : "–"),
  },
  {
    ...{ key: "schedule", label: "Runs", width: "minmax(140px, 1fr)", isOptional: true },
    cell: scheduleText,
  },
  { key: "next", label: "Next run", width: "170px", isOptional: true, cell: nextRunText },
];

const Age = ({ timeMs }: { timeMs: number }) => (
  <span title={timeText(timeMs)}>{ageText(timeMs, useNow(1_000))}</span>
);
