// Uploads a CSV file into a raw table: its first rows, the column of the keys, and the progress.
import { Button, FileInput, Group, Modal, Select, Stack, Switch, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { FileUp } from "lucide-react";
import { useState } from "react";
import { encodings } from "../../lib/csv.ts";
import { type CsvFormat, formatOf, previewOf } from "../../lib/csv-file.ts";
import { countText } from "../../lib/format.ts";
import { useProject } from "../../session/session.ts";
import { useReturnedFocus } from "../../ui/focus.ts";
import { OpenQuote } from "../../ui/open-quote.tsx";
import { Failure } from "../../ui/page-states.tsx";
import type { RowMapping } from "./csv-file.ts";
import { UploadPreview } from "./upload-preview.tsx";
import { UploadProgress } from "./upload-progress.tsx";
import { rememberedRecords, type UploadPlan, useUpload } from "./use-upload.ts";

interface UploadDialogProps {
  readonly database?: string | undefined;
  readonly table?: string;
  onClose(): void;
}

export function UploadDialog({
  database: givenDatabase = "",
  table: givenTable,
  onClose,
}: UploadDialogProps) {
  useReturnedFocus();
  const project = useProject();
  const navigate = useNavigate();
  const upload = useUpload();
  const [file, setFile] = useState<File | null>(null);
  const [database, setDatabase] = useState(givenDatabase);
  const [table, setTable] = useState(givenTable ?? "");
  const source = useSource(file);
  const choose = (chosen: File | null) => {
    setFile(chosen);
    if (chosen && givenTable === undefined) setTable(chosen.name.replace(/\.[^.]*$/, ""));
  };
  const plan: UploadPlan | undefined =
    file && source.format && source.mapping && database !== "" && table !== ""
      ? { file, format: source.format, mapping: source.mapping, target: { project, database, table } }
      : undefined;
  const open = () => void navigate({ to: "/raw/$database/$table", params: { database, table } });
  return (
    <Modal
      opened
      onClose={onClose}
      title="Upload CSV"
      size="xl"
      closeOnClickOutside={upload.state.status !== "running"}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {upload.state.status === "idle" ? (
        <Stack>
          <FileInput
            label="File"
            placeholder="Choose a CSV file"
            accept=".csv,.tsv,.txt,text/csv"
            leftSection={<FileUp size={15} aria-hidden />}
            value={file}
            onChange={choose}
            data-autofocus
          />
          <TargetNames isGiven={givenTable !== undefined} {...{ database, table, setDatabase, setTable }} />
          {source.problem !== null && <Failure problem={source.problem} />}
          {source.preview && <Mapping source={source} />}
          <StartButtons plan={plan} onStart={upload.start} onClose={onClose} />
        </Stack>
      ) : (
        <UploadProgress {...{ upload, onClose }} plan={plan!} onOpen={open} />
      )}
    </Modal>
  );
}

interface TargetNamesProps {
  readonly isGiven: boolean;
  readonly database: string;
  readonly table: string;
  setDatabase(name: string): void;
  setTable(name: string): void;
}

function TargetNames({ isGiven, database, table, setDatabase, setTable }: TargetNamesProps) {
  return (
    <Group grow>
      <TextInput
        label="Database"
        value={database}
        onChange={(event) => setDatabase(event.currentTarget.value)}
        disabled={isGiven}
      />
      <TextInput
        label="Table"
        value={table}
        onChange={(event) => setTable(event.currentTarget.value)}
        disabled={isGiven}
      />
    </Group>
  );
}

/** The format that the file has, unless the person chose another, and the mapping of its columns. */
function useSource(file: File | null) {
  const [chosen, setChosen] = useState<Partial<CsvFormat & RowMapping>>({});
  const detected = useQuery({
    queryKey: ["csv format", file?.name, file?.size, file?.lastModified],
    enabled: file !== null,
    queryFn: () => formatOf(file!),
  });
  const format = detected.data && { ...detected.data, ...chosen };
  const preview = useQuery({
    queryKey: [
      "csv preview",
      file?.name,
      file?.size,
      file?.lastModified,
      format?.encoding,
      format?.delimiter,
    ],
    enabled: format !== undefined,
    queryFn: () => previewOf(file!, format!),
  });
  const names = preview.data?.names;
  const keyIndex = chosen.keyIndex ?? Math.max(0, names?.findIndex((name) => /^(key|id)$/i.test(name)) ?? 0);
  return {
    format: format && { encoding: format.encoding, delimiter: format.delimiter },
    preview: preview.data,
    mapping: names && { names, keyIndex, hasNumbers: chosen.hasNumbers ?? false },
    problem: detected.error ?? preview.error,
    choose: (change: Partial<CsvFormat & RowMapping>) => setChosen((now) => ({ ...now, ...change })),
  };
}

const delimiterLabels = [
  { value: ",", label: "Comma" },
  { value: ";", label: "Semicolon" },
  { value: "\t", label: "Tab" },
  { value: "|", label: "Vertical bar" },
];

function Mapping({ source }: { source: ReturnType<typeof useSource> }) {
  const { preview, mapping, format, choose } = source;
  const keys = [
    ...mapping!.names.map((name, index) => ({ value: String(index), label: name })),
    { value: "-1", label: "(the number of the row)" },
  ];
  return (
    <>
      <Group grow align="flex-start" preventGrowOverflow={false}>
        <Select
          label="Key column"
          data={keys}
          value={String(mapping!.keyIndex)}
          onChange={(value) => choose({ keyIndex: Number(value) })}
          allowDeselect={false}
          miw={130}
        />
        <Select
          label="Delimiter"
          data={delimiterLabels}
          value={format!.delimiter}
          onChange={(delimiter) => choose({ delimiter: delimiter! })}
          allowDeselect={false}
          miw={110}
        />
        <Select
          label="Encoding"
          data={[...encodings]}
          value={format!.encoding}
          onChange={(encoding) => choose({ encoding: encoding! as CsvFormat["encoding"] })}
          allowDeselect={false}
          miw={120}
        />
      </Group>
      <Switch
        label="Write numbers as numbers, with all their digits. Otherwise every cell is text."
        checked={mapping!.hasNumbers}
        onChange={(event) => choose({ hasNumbers: event.currentTarget.checked })}
      />
      <OpenQuote row={preview!.openQuoteRow} />
      <UploadPreview preview={preview!} mapping={mapping!} />
    </>
  );
}

interface StartButtonsProps {
  readonly plan: UploadPlan | undefined;
  onStart(plan: UploadPlan, skip: number): void;
  onClose(): void;
}

function StartButtons({ plan, onStart, onClose }: StartButtonsProps) {
  const done = plan ? rememberedRecords(plan) : 0;
  return (
    <Group justify="flex-end">
      {done > 0 && (
        <Text size="sm" flex={1} miw={200}>
          An earlier upload of this file ended after {countText(done)} rows.
        </Text>
      )}
      <Button variant="default" onClick={onClose}>
        Cancel
      </Button>
      {done > 0 && (
        <Button variant="default" onClick={() => onStart(plan!, 0)}>
          Start again
        </Button>
      )}
      <Button disabled={plan === undefined} onClick={() => onStart(plan!, done)}>
        {done > 0 ? "Continue" : "Upload"}
      </Button>
    </Group>
  );
}
