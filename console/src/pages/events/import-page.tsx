// Imports events from a CSV file: its first rows, the field of each column, the progress and refused rows.
import { Alert, Button, Card, FileInput, Group, Progress, Select, Stack, Table, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { FileUp } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { sentenceOf } from "../../api/errors.ts";
import { encodings } from "../../lib/csv.ts";
import { type CsvFormat, formatOf, type Preview, previewOf, requireEncoding } from "../../lib/csv-file.ts";
import { countText, timeText } from "../../lib/format.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { CopyAs } from "../../ui/copy-as.tsx";
import { OpenQuote } from "../../ui/open-quote.tsx";
import { Page } from "../../ui/page.tsx";
import { Empty, Failure } from "../../ui/page-states.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import {
  errorsShownMax,
  guessFields,
  type ImportField,
  type ImportMapping,
  type ImportProgress,
  importEvents,
  importFields,
  readTime,
  sampleOf,
} from "./event-import.ts";

export function ImportPage() {
  const mayWrite = mayDo(useSession(), "eventsAcl", "WRITE");
  return (
    <Page title="Import events" actions={<TextLink to="/events">All events</TextLink>}>
      {mayWrite ? (
        <ImportSteps />
      ) : (
        <Empty title="You may not create events">An administrator can add the right to write events.</Empty>
      )}
    </Page>
  );
}

function ImportSteps() {
  const [file, setFile] = useState<File | null>(null);
  const detected = useQuery({
    queryKey: ["csv format", file?.name, file?.size, file?.lastModified],
    enabled: file !== null,
    queryFn: () => formatOf(file!),
  });
  return (
    <Stack maw={1100}>
      <FileInput
        label="File"
        description="The first row has the names of the columns. Nothing is written before you start."
        placeholder="Choose a CSV file"
        accept=".csv,.tsv,.txt,text/csv"
        leftSection={<FileUp size={15} aria-hidden />}
        value={file}
        onChange={setFile}
      />
      {detected.error !== null && <Failure problem={detected.error} />}
      {file && detected.data && (
        <ImportOfFile key={`${file.name} ${file.lastModified}`} file={file} detected={detected.data} />
      )}
    </Stack>
  );
}

interface ImportOfFileProps {
  readonly file: File;
  readonly detected: CsvFormat;
}

/** The fields that a person has chosen, by the index of their column; undefined leaves a column out. */
type ChosenFields = ReadonlyMap<number, ImportField | undefined>;

/** The chosen fields stay when the file is read in another encoding. */
function ImportOfFile({ file, detected }: ImportOfFileProps) {
  const [encoding, setEncoding] = useState(detected.encoding);
  const [chosen, setChosen] = useState<ChosenFields>(new Map());
  const run = useImport();
  const format = { ...detected, encoding };
  const preview = useQuery({
    queryKey: ["csv preview", file.name, file.size, file.lastModified, encoding, format.delimiter],
    queryFn: () => previewOf(file, format),
  });
  return (
    <>
      <Select
        label="Encoding"
        maw={200}
        data={[...encodings]}
        value={encoding}
        onChange={(value) => {
          run.reset();
          setEncoding(value ?? encoding);
        }}
        allowDeselect={false}
        // To import rows again would create their events again.
        disabled={run.status === "running" || run.progress.created > 0}
      />
      {preview.error !== null && <Failure problem={preview.error} />}
      {preview.data && (
        <ImportOfRows
          {...{ file, format, chosen, run }}
          preview={preview.data}
          onChoose={(index, field) => setChosen(new Map(chosen).set(index, field))}
        />
      )}
    </>
  );
}

interface ImportOfRowsProps {
  readonly file: File;
  readonly format: CsvFormat;
  readonly preview: Preview;
  readonly chosen: ChosenFields;
  readonly run: Run;
  onChoose(index: number, field: ImportField | undefined): void;
}

function ImportOfRows({ file, format, preview, chosen, run, onChoose }: ImportOfRowsProps) {
  const project = useProject();
  const { names } = preview;
  const fields = guessFields(names).map((guess, index) => (chosen.has(index) ? chosen.get(index) : guess));
  const request = useSampleRequest(preview, fields);
  const start = () => run.start({ project, file, format, mapping: { names, fields } });
  const isMapped = fields.some((field) => field !== undefined);
  return (
    <>
      <OpenQuote row={preview.openQuoteRow} />
      <Card>
        <MappingTable
          preview={preview}
          fields={fields}
          isFixed={run.status === "running"}
          onChange={onChoose}
        />
      </Card>
      {run.status !== "idle" && <ImportState run={run} size={file.size} />}
      <Group>
        {run.status === "idle" && (
          <Button onClick={start} disabled={!isMapped}>
            Import the events
          </Button>
        )}
        {run.status === "running" && (
          <Button variant="default" onClick={run.cancel}>
            Cancel
          </Button>
        )}
        {request && <CopyAs request={request} />}
      </Group>
    </>
  );
}

/** The request that creates the events of the first rows; undefined when none of them can be read. */
function useSampleRequest({ names, records }: Preview, fields: ImportMapping["fields"]) {
  const project = useProject();
  const { data: items = [] } = useQuery({
    queryKey: ["events import", project, "sample", names, records, fields],
    enabled: fields.some((field) => field !== undefined),
    queryFn: ({ signal }) => sampleOf({ project, records, mapping: { names, fields }, signal }),
  });
  if (items.length === 0) return undefined;
  return { method: "POST", path: "/events", body: { items }, project } as const;
}

const fieldOptions = Object.entries(importFields).map(([value, label]) => ({ value, label }));

interface MappingTableProps {
  readonly preview: Preview;
  readonly fields: ImportMapping["fields"];
  readonly isFixed: boolean;
  onChange(index: number, field: ImportField | undefined): void;
}

/** The first rows of the file, and above each column the field that it becomes. */
function MappingTable({ preview: { names, records }, fields, isFixed, onChange }: MappingTableProps) {
  return (
    <Table.ScrollContainer minWidth={names.length * 150} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table aria-label="Preview" fz="sm">
        <Table.Thead>
          <Table.Tr>
            {names.map((name, index) => (
              <Table.Th key={name} miw={150}>
                <Select
                  label={name}
                  size="xs"
                  placeholder="Left out"
                  clearable
                  disabled={isFixed}
                  data={fieldOptions}
                  value={fields[index] ?? null}
                  onChange={(field) => onChange(index, (field as ImportField | null) ?? undefined)}
                />
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {records.map((record, row) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows of a file may repeat.
            <Table.Tr key={row}>
              {names.map((name, index) => (
                <Table.Td key={name} c={fields[index] === undefined ? "var(--text-quiet)" : undefined}>
                  <Text inherit truncate maw={220} title={record[index]}>
                    {record[index]}
                  </Text>
                  {isTime(fields[index]) && record[index] && <ReadTime cell={record[index]} />}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

const isTime = (field: ImportField | undefined) => field === "startTime" || field === "endTime";

/** The time that the import reads in a cell, in the zone of the browser. */
function ReadTime({ cell }: { readonly cell: string }) {
  const timeMs = readTime(cell);
  return (
    <Text size="xs" c={timeMs === undefined ? "var(--text-danger)" : "var(--text-quiet)"}>
      {timeMs === undefined ? "not a time" : timeText(timeMs)}
    </Text>
  );
}

type Run = ReturnType<typeof useImport>;

const none: ImportProgress = { bytesRead: 0, created: 0, errors: [], refused: 0 };

function useImport() {
  const [status, setStatus] = useState<"idle" | "running" | "stopped" | "done">("idle");
  /** Why a running import writes nothing now. */
  const [waiting, setWaiting] = useState<string>();
  const [progress, setProgress] = useState(none);
  const [problem, setProblem] = useState<unknown>(null);
  const controller = useRef<AbortController>(undefined);
  const client = useQueryClient();
  useEffect(() => () => controller.current?.abort(), []);
  const start = async (options: Omit<Parameters<typeof importEvents>[0], "signal">) => {
    controller.current = new AbortController();
    const { signal } = controller.current;
    setStatus("running");
    try {
      await requireEncoding(options.file, options.format, { signal, onCheck: setWaiting });
      setWaiting(undefined);
      for await (const next of importEvents({ ...options, signal })) setProgress(next);
      setStatus("done");
    } catch (thrown) {
      if (!signal.aborted) setProblem(thrown);
      setStatus("stopped");
      setWaiting(undefined);
    }
    void client.invalidateQueries({ queryKey: ["events"] });
  };
  return {
    ...{ status, waiting, progress, problem },
    start: (options: Omit<Parameters<typeof importEvents>[0], "signal">) => void start(options),
    cancel: () => controller.current?.abort(),
    reset: () => {
      setStatus("idle");
      setProgress(none);
      setProblem(null);
    },
  };
}

function ImportState({ run: { status, waiting, progress, problem }, size }: { run: Run; size: number }) {
  const { bytesRead, created, errors, refused } = progress;
  const part = status === "done" || size === 0 ? 100 : (100 * bytesRead) / size;
  return (
    <Card>
      <Stack gap="sm">
        <Progress value={part} aria-label="Imported" animated={status === "running"} />
        <Text size="sm" role="status">
          {status === "done" ? "Done: " : ""}
          {countText(created)} events created{refused > 0 ? `, ${countText(refused)} rows refused` : ""}
        </Text>
        <Text size="sm" role="status">
          {waiting}
        </Text>
        {status === "stopped" && (
          <Alert color={problem ? "red" : "orange"} title="The import has stopped" role="alert">
            {problem ? `${sentenceOf(problem)} ` : ""}The events created so far stay.
          </Alert>
        )}
        {errors.length > 0 && <RefusedRows errors={errors} refused={refused} />}
      </Stack>
    </Card>
  );
}

function RefusedRows({ errors, refused }: Pick<ImportProgress, "errors" | "refused">) {
  return (
    <>
      <Table aria-label="Refused rows" fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={80}>Row</Table.Th>
            <Table.Th>Reason</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {errors.map(({ row, message }) => (
            <Table.Tr key={row}>
              <Table.Td>{row}</Table.Td>
              <Table.Td>{message}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {refused > errorsShownMax && (
        <Text size="sm" c="var(--text-quiet)">
          These are the first {errorsShownMax} of {countText(refused)}.
        </Text>
      )}
    </>
  );
}
