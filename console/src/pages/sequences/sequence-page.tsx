// A sequence: a grid of its rows that starts at any number, and the actions on them.
import { Button, Group, Text } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Info, TableProperties } from "lucide-react";
import { useMemo, useState } from "react";
import type { Sequence } from "../../api/generated.ts";
import { cellText } from "../../lib/exact-json.ts";
import { countOf } from "../../lib/format.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { CopyAs } from "../../ui/copy-as.tsx";
import { DownloadCsv } from "../../ui/download-csv.tsx";
import { JumpToRow } from "../../ui/jump-to-row.tsx";
import { Page } from "../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../ui/page-states.tsx";
import { type KeyedRow, RowGrid } from "../../ui/row-grid.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { useAssetNames } from "../../ui/use-asset-names.ts";
import { DetailsDrawer } from "./details-drawer.tsx";
import { NewRow, RowDialog } from "./row-dialog.tsx";
import { isRowNumber } from "./search.ts";
import { SequenceActions } from "./sequence-actions.tsx";
import { allRows, headingOf, rowsQuery, sequenceQuery } from "./sequence-data.ts";

export function SequencePage() {
  const { id } = useParams({ from: "/frame/sequences/$id" });
  const { data, error, isPending, refetch } = useQuery(sequenceQuery(useProject(), id));
  if (isPending) return <Loading what="the sequence" />;
  if (error) return <Failure problem={error} onRetry={() => void refetch()} />;
  return <SequenceView key={id} sequence={data} />;
}

export const titleOf = ({ id, name, externalId }: Sequence): string => name ?? externalId ?? `Sequence ${id}`;

const faultOf = (text: string) =>
  isRowNumber(text) ? undefined : "A row number is a whole number from 0 to 9223372036854775807";

function SequenceView({ sequence }: { sequence: Sequence }) {
  const { from, row } = useSearch({ from: "/frame/sequences/$id" });
  const navigate = useNavigate({ from: "/sequences/$id" });
  const [dialog, setDialog] = useState<"details" | "new">();
  const close = () => setDialog(undefined);
  const open = (key: string | undefined) => void navigate({ search: (now) => ({ ...now, row: key }) });
  return (
    <Page
      title={titleOf(sequence)}
      fills
      note={<SequenceNote sequence={sequence} />}
      actions={<Actions sequence={sequence} onOpen={setDialog} />}
      toolbar={
        <JumpToRow
          key={from ?? ""}
          label="Jump to a row"
          placeholder="Jump to a row number"
          {...{ from, faultOf }}
          onJump={(wanted) => void navigate({ search: (now) => ({ ...now, from: wanted }) })}
        />
      }
    >
      <Rows sequence={sequence} from={from} openRow={row} onOpen={open} />
      {row !== undefined && <RowDialog key={row} {...{ sequence, row }} onClose={() => open(undefined)} />}
      {dialog === "details" && <DetailsDrawer sequence={sequence} onClose={close} />}
      {dialog === "new" && <NewRow sequence={sequence} onClose={close} />}
    </Page>
  );
}

interface RowsProps {
  readonly sequence: Sequence;
  readonly from: string | undefined;
  readonly openRow: string | undefined;
  onOpen(row: string): void;
}

function Rows({ sequence, from, openRow, onOpen }: RowsProps) {
  const list = useInfiniteQuery(rowsQuery(useProject(), sequence.id, from));
  const rows = useMemo(() => list.data?.pages.flatMap((page) => page.rows) ?? [], [list.data]);
  const names = useMemo(() => sequence.columns.map(({ id }) => String(id)), [sequence]);
  const headings = useMemo(
    () => new Map(sequence.columns.map((column) => [String(column.id), headingOf(column)])),
    [sequence],
  );
  if (list.isPending) return <Loading what="the rows" />;
  if (list.isError) return <Failure problem={list.error} onRetry={() => void list.refetch()} />;
  if (rows.length === 0) return <NoRows from={from} />;
  return (
    <RowGrid
      key={from ?? ""}
      label={`Rows of ${titleOf(sequence)}`}
      {...{ rows, names }}
      headingOf={(name) => headings.get(name)!}
      keyHeading="row"
      startKey={from ?? ""}
      openKey={openRow}
      onOpen={onOpen}
      loadMore={list.hasNextPage ? () => void list.fetchNextPage() : undefined}
      loadBefore={undefined}
      isLoading={list.isFetching}
    />
  );
}

const NoRows = ({ from }: { from: string | undefined }) => (
  <Empty
    title={from === undefined ? "This sequence has no rows" : `There is no row from ${from} on`}
    icon={<TableProperties size={28} aria-hidden />}
  >
    {from === undefined
      ? "Add a row, write rows through the API, or let a transformation write them."
      : "Choose First row to see the rows from the first one on."}
  </Empty>
);

function SequenceNote({ sequence: { assetId, columns, description } }: { sequence: Sequence }) {
  const nameOf = useAssetNames(assetId === undefined ? [] : [assetId]);
  return (
    <Group gap="xs" component="span">
      {assetId !== undefined && (
        <Text span size="sm">
          of{" "}
          <TextLink to="/assets/$id" params={{ id: assetId }} underline="always">
            {nameOf(assetId)}
          </TextLink>
        </Text>
      )}
      <Text span size="sm">
        {countOf(columns.length, "column")}
      </Text>
      {description !== null && (
        <Text span size="sm">
          {description}
        </Text>
      )}
    </Group>
  );
}

interface ActionsProps {
  readonly sequence: Sequence;
  onOpen(dialog: "details" | "new"): void;
}

function Actions({ sequence, onOpen }: ActionsProps) {
  const project = useProject();
  const { id, columns } = sequence;
  const mayWrite = mayDo(useSession(), "sequencesAcl", "WRITE");
  const request = {
    ...{ method: "POST" as const, project, path: `/sequences/${id}/getdata` },
    body: { items: [{ limit: 1000 }] },
    odata: `Sequences('${id}')/Rows`,
  };
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<Info size={14} aria-hidden />}
        onClick={() => onOpen("details")}
      >
        Details
      </Button>
      <DownloadCsv<KeyedRow>
        name={titleOf(sequence)}
        header={["row", ...columns.map(headingOf)]}
        read={(signal) => allRows(project, id, signal)}
        cells={({ key, columns: values }) => [key, ...columns.map((one) => cellText(values[one.id]))]}
      />
      <CopyAs request={request} />
      {mayWrite && <SequenceActions sequence={sequence} onNewRow={() => onOpen("new")} />}
    </>
  );
}
