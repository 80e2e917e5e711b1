// The check and the import of the whole file: buttons, progress, and refused cells.
import { Alert, Button, Card, Group, Progress, Stack, Text } from "@mantine/core";
import { sentenceOf } from "../../api/errors.ts";
import { bytesText, countOf, countText } from "../../lib/format.ts";
import { RefusedCells } from "./sample-preview.tsx";
import type { ImportJob, ImportState, PointsImport } from "./use-points-import.ts";

interface ImportRunProps {
  readonly run: PointsImport;
  readonly job: Omit<ImportJob, "isCheck">;
  /** False while it is not known which series exist. */
  readonly isReady: boolean;
}

export function ImportRun({ run, job, isReady }: ImportRunProps) {
  const { state } = run;
  const { status, isCheck } = state;
  const { missing } = job.plan;
  const isRunning = status === "running";
  const isInterrupted = status === "stopped" && !isCheck;
  return (
    <>
      {status === "idle" && (
        <Text size="sm">
          {missing.length > 0 && `The import creates ${countText(missing.length)} series. `}A point of the
          file replaces a stored one of the same time.
        </Text>
      )}
      {status !== "idle" && <RunState state={state} size={job.file.size} />}
      <Group>
        {isRunning ? (
          <Button variant="default" onClick={run.cancel}>
            Cancel
          </Button>
        ) : (
          <>
            {isInterrupted ? (
              <Button onClick={() => run.proceed({ ...job, isCheck: false })}>Continue</Button>
            ) : (
              <Button disabled={!isReady} onClick={() => run.start({ ...job, isCheck: false })}>
                Import the points
              </Button>
            )}
            <Button
              variant="default"
              disabled={!isReady}
              onClick={() => run.start({ ...job, isCheck: true })}
            >
              Check the whole file
            </Button>
          </>
        )}
      </Group>
    </>
  );
}

function RunState({ state, size }: { readonly state: ImportState; readonly size: number }) {
  const { status, isCheck, bytesRead, points, line, refused, refusedCount, waiting, problem } = state;
  const part = status === "done" || size === 0 ? 100 : (100 * bytesRead) / size;
  return (
    <Card>
      <Stack gap="sm">
        <Progress
          value={part}
          aria-label={isCheck ? "Checked" : "Imported"}
          animated={status === "running"}
        />
        <Text size="sm" role="status">
          {status === "done" ? "Done: " : ""}
          {countOf(points, "point")} {isCheck ? "can be stored" : "stored"}
          {refusedCount > 0 ? `, ${countText(refusedCount)} refused` : ""}
          {status === "done" ? "" : `, ${bytesText(bytesRead)} of ${bytesText(size)}`}
        </Text>
        <Text size="sm" role="status">
          {waiting}
        </Text>
        {status === "stopped" && (
          <Alert
            color={problem ? "red" : "orange"}
            title={isCheck ? "The check has stopped" : "The import has stopped"}
            role="alert"
          >
            {problem ? `${sentenceOf(problem)} ` : ""}
            {!isCheck && storedText(line)}
          </Alert>
        )}
        {refused.length > 0 && <RefusedCells refused={refused} total={refusedCount} />}
      </Stack>
    </Card>
  );
}

const storedText = (line: number): string =>
  line === 0
    ? "The server has confirmed no points."
    : `The points up to line ${countText(line)} are stored. Continue after it, or import the file again ` +
      "later: points that are stored already stay the same.";
