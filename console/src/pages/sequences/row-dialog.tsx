// One row of a sequence: its values, and the form to change them or to write a new row.
import { Modal, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Sequence } from "../../api/generated.ts";
import { cellText } from "../../lib/exact-json.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { EditDialog } from "../../ui/edit-dialog.tsx";
import { Facts } from "../../ui/facts.tsx";
import { useReturnedFocus } from "../../ui/focus.ts";
import { Failure, Loading } from "../../ui/page-states.tsx";
import type { KeyedRow } from "../../ui/row-grid.tsx";
import { isRowNumber } from "./search.ts";
import { headingOf, readRow, rowQuery, useSequenceChange, writeRow } from "./sequence-data.ts";

interface DialogProps {
  readonly sequence: Sequence;
  onClose(): void;
}

/** The row with this number: a form for people who may change it, else its values. */
export function RowDialog({ sequence, row, onClose }: DialogProps & { readonly row: string }) {
  useReturnedFocus();
  const [openedMs] = useState(Date.now);
  const query = useQuery({ ...rowQuery(useProject(), sequence.id, row), staleTime: 0 });
  const mayWrite = mayDo(useSession(), "sequencesAcl", "WRITE");
  // The values of an earlier read may be in the cache. A form must not begin with them.
  const isFresh = query.dataUpdatedAt >= openedMs;
  const shown = isFresh ? query.data : undefined;
  if (shown && mayWrite) return <RowForm {...{ sequence, row: shown, onClose }} />;
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Row ${row}`}
      size="lg"
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {shown === undefined && !query.isError && <Loading what="the row" />}
      {query.isError && <Failure problem={query.error} />}
      {shown === null && `There is no row ${row}.`}
      {shown && <RowFacts sequence={sequence} row={shown} />}
    </Modal>
  );
}

const RowFacts = ({ sequence, row }: { sequence: Sequence; row: KeyedRow }) => (
  <Facts
    facts={sequence.columns.map((column) => ({
      label: headingOf(column),
      value: cellText(row.columns[column.id]),
    }))}
  />
);

/** A row with a number that no other row should have: a row with the same number is replaced. */
export const NewRow = (props: DialogProps) => <RowForm {...props} row={undefined} />;

interface RowFormProps extends DialogProps {
  /** The row to change; a new one when absent. */
  readonly row: KeyedRow | undefined;
}

function RowForm({ sequence, row, onClose }: RowFormProps) {
  const project = useProject();
  const { id, columns } = sequence;
  // A later read of the row is no change by this person.
  const [before] = useState(row);
  const [number, setNumber] = useState(row?.key ?? "");
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(columns.map((column) => [column.id, cellText(row?.columns[column.id])])),
  );
  const taken = useQuery({ ...rowQuery(project, id, number), enabled: !row && isRowNumber(number) });
  const isTaken = !row && Boolean(taken.data);
  const change = useSequenceChange(async () => {
    const now = await readRow(project, id, number, null);
    if (before && !now) throw new Error(`Somebody has deleted the row ${number} meanwhile.`);
    if (!before && now) throw new Error(takenText);
    await writeRow(project, id, { rowNumber: number, values: valuesOf(sequence, { before, now }, texts) });
  }, onClose);
  return (
    <EditDialog
      title={row ? `Row ${row.key}` : "Add a row"}
      size="lg"
      isComplete={isRowNumber(number) && !isTaken}
      isPending={change.isPending}
      problem={change.error}
      onSave={() => change.mutate(undefined)}
      onClose={onClose}
    >
      {!row && (
        <TextInput
          label="Row number"
          description="A whole number from 0 on; rows are in the order of their numbers"
          required
          data-autofocus
          inputMode="numeric"
          value={number}
          error={isTaken && takenText}
          onChange={(event) => setNumber(event.currentTarget.value)}
        />
      )}
      {columns.map((column, at) => (
        <TextInput
          key={column.id}
          label={headingOf(column)}
          description={column.description}
          {...(row && at === 0 && { "data-autofocus": true })}
          {...(column.valueType !== "STRING" && { inputMode: "decimal" as const })}
          value={texts[column.id] ?? ""}
          onChange={(event) => setTexts({ ...texts, [column.id]: event.currentTarget.value })}
        />
      ))}
    </EditDialog>
  );
}

const takenText = "There is a row with this number. Open it in the list to change it.";

interface Versions {
  /** As the form began with it. */
  readonly before: KeyedRow | undefined;
  /** As it is before the write, perhaps with changes of other people. */
  readonly now: KeyedRow | null;
}

/**
 * The cells of a row, which is written as a whole. Only those that were changed differ from the row as it is
 * now. A number goes as text: the server keeps all of its digits.
 */
function valuesOf(sequence: Sequence, { before, now }: Versions, texts: Readonly<Record<string, string>>) {
  return sequence.columns.map(({ id: columnId, valueType }) => {
    const text = texts[columnId] ?? "";
    if (text === cellText(before?.columns[columnId])) {
      const value = now?.columns[columnId] as number | string | undefined;
      return { columnId, value: value ?? null };
    }
    const typed = valueType === "STRING" ? text : text.trim();
    return { columnId, value: typed === "" ? null : typed };
  });
}
