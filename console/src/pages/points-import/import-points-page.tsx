// Imports points from a wide CSV file: how it is read, the series of its columns, a preview, the progress.
import { Card, Fieldset, FileInput, Stack, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { FileUp } from "lucide-react";
import { type DragEvent, useState } from "react";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { Page } from "../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../ui/page-states.tsx";
import { seriesByNameQuery } from "../../ui/series-hits.ts";
import { TextLink } from "../../ui/text-link.tsx";
import { ColumnsTable } from "./columns-table.tsx";
import { ImportRun } from "./import-run.tsx";
import { type ColumnChoice, choicesOf, findSeries, planOf, usedOf } from "./points-plan.ts";
import {
  type Opening,
  openingOf,
  type PointsSettings,
  sourceOf,
  suggestedSettings,
} from "./points-settings.ts";
import { SamplePreview } from "./sample-preview.tsx";
import { SettingsFields } from "./settings-fields.tsx";
import { type PointsImport, usePointsImport } from "./use-points-import.ts";

export function ImportPointsPage() {
  const mayWrite = mayDo(useSession(), "timeSeriesAcl", "WRITE");
  return (
    <Page title="Import points" actions={<TextLink to="/series">All series</TextLink>}>
      {mayWrite ? (
        <ChooseFile />
      ) : (
        <Empty title="You may not change series">An administrator can add the right to write series.</Empty>
      )}
    </Page>
  );
}

const typingPauseMs = 300;
const fileDescription =
  "Choose or drop a CSV file with a line of names, a column of times, and a column for each series. " +
  "Nothing is written before you start.";

function ChooseFile() {
  const [file, setFile] = useState<File | null>(null);
  const run = usePointsImport();
  const isRunning = run.state.status === "running";
  const choose = (chosen: File | null) => {
    run.reset();
    setFile(chosen);
  };
  const suggested = useQuery({
    queryKey: ["points import", "settings", ...sourceOf(file)],
    enabled: file !== null,
    gcTime: 0,
    retry: false,
    queryFn: () => suggestedSettings(file!),
  });
  const drop = (event: DragEvent) => {
    event.preventDefault();
    const [dropped] = event.dataTransfer.files;
    if (dropped && !isRunning) choose(dropped);
  };
  return (
    <Stack maw={1100} onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      <FileInput
        label="File"
        description={fileDescription}
        placeholder="Choose a CSV file"
        accept=".csv,.tsv,.txt,text/csv"
        leftSection={<FileUp size={15} aria-hidden />}
        value={file}
        onChange={choose}
        disabled={isRunning}
      />
      {suggested.error !== null && <Failure problem={suggested.error} />}
      {file && suggested.data && (
        <FileSettings key={sourceOf(file).join(" ")} file={file} suggested={suggested.data} run={run} />
      )}
    </Stack>
  );
}

interface FileSettingsProps {
  readonly file: File;
  readonly suggested: PointsSettings;
  readonly run: PointsImport;
}

function FileSettings({ file, suggested, run }: FileSettingsProps) {
  const [settings, setSettings] = useState(suggested);
  const { encoding, delimiter } = settings;
  const opening = useQuery({
    queryKey: ["points import", "opening", ...sourceOf(file, { encoding, delimiter })],
    gcTime: 0,
    retry: false,
    placeholderData: keepPreviousData,
    queryFn: () => openingOf(file, { encoding, delimiter }),
  });
  if (opening.isPending) return <Loading what="the file" />;
  return (
    <>
      <Fieldset variant="unstyled" m={0} miw={0} disabled={run.state.status === "running"}>
        <SettingsFields
          settings={settings}
          opening={opening.data}
          onChange={(part) => {
            run.reset();
            setSettings({ ...settings, ...part });
          }}
        />
      </Fieldset>
      {opening.error && <Failure problem={opening.error} />}
      {opening.data && !opening.error && (
        <ImportOfFile
          key={opening.data.header.cells.join("\n")}
          {...{ file, settings, opening: opening.data, run }}
        />
      )}
    </>
  );
}

interface ImportOfFileProps {
  readonly file: File;
  readonly settings: PointsSettings;
  readonly opening: Opening;
  readonly run: PointsImport;
}

function ImportOfFile({ file, settings, opening, run }: ImportOfFileProps) {
  const project = useProject();
  const client = useQueryClient();
  const [choices, setChoices] = useState<ColumnChoice[]>(() => choicesOf(opening));
  const names = [...new Set(usedOf(choices, settings.timeIndex).map(({ series }) => series.trim()))];
  const [settled] = useDebouncedValue(names, typingPauseMs);
  const found = useQuery({
    queryKey: ["series", project, "of columns", settled],
    placeholderData: keepPreviousData,
    // A name that is typed in one column does not read those of the other columns again.
    queryFn: () => findSeries(settled, (name) => client.fetchQuery(seriesByNameQuery(project, name))),
  });
  if (found.isPending) return <Loading what="the series" />;
  if (found.error) return <Failure problem={found.error} onRetry={() => void found.refetch()} />;
  const plan = planOf(opening, settings, choices, found.data);
  const change = (choice: ColumnChoice) => {
    run.reset();
    setChoices(choices.map((one) => (one.index === choice.index ? choice : one)));
  };
  return (
    <>
      <Card>
        <Fieldset variant="unstyled" m={0} miw={0} disabled={run.state.status === "running"}>
          <ColumnsTable
            {...{ choices, opening, found: found.data }}
            timeIndex={settings.timeIndex}
            onChange={change}
          />
        </Fieldset>
      </Card>
      {"problem" in plan ? (
        <Text size="sm" role="alert" c="var(--text-danger)">
          {plan.problem}
        </Text>
      ) : (
        <>
          <SamplePreview {...{ opening, plan, settings }} hasRefused={run.state.status === "idle"} />
          <ImportRun
            run={run}
            job={{ project, file, settings, plan }}
            isReady={names.every((name) => found.data.has(name))}
          />
        </>
      )}
    </>
  );
}
