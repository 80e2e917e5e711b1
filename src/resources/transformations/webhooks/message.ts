// The message of a webhook and its signature, as Standard Webhooks defines both.
import { createHmac } from "node:crypto";
import { limits } from "../../../limits.ts";
import type { Transformation, TransformationRun } from "../schema.ts";

interface RunMessage {
  readonly project: string;
  readonly transformation: Transformation;
  readonly run: TransformationRun;
}

/** The JSON that is sent about a run. Long strings are cut, so that the length is bounded. */
export function messageOf({ project, transformation, run }: RunMessage): string {
  const { id, externalId, name } = transformation;
  const { read, created, changed, unchanged, deleted, refused, status, startedBy, problem } = run;
  return JSON.stringify({
    type: status === "FAILED" ? "transformation.run.failed" : "transformation.run.refused",
    timestamp: new Date(run.endedTime ?? run.startedTime).toISOString(),
    data: {
      project,
      transformation: { id, externalId, name },
      run: {
        ...{ id: run.id, status, startedBy, startedTime: run.startedTime, endedTime: run.endedTime },
        ...{ read, created, changed, unchanged, deleted, refused },
        ...(problem !== undefined && { problem: cut(problem) }),
        errors: run.errors.slice(0, limits.webhookErrors).map(cutError),
      },
    },
  });
}

const cut = (text: string): string =>
  text.length > limits.webhookTextLength ? `${text.slice(0, limits.webhookTextLength)}...` : text;

const cutError = (error: TransformationRun["errors"][number]) =>
  Object.fromEntries(
    Object.entries(error).map(([name, value]) => [name, typeof value === "string" ? cut(value) : value]),
  );

/** The headers of a message that is sent at this time. The id is the same at each attempt. */
export function headersOf(
  body: string,
  { key, runId, nowMs }: { readonly key: Uint8Array; readonly runId: number; readonly nowMs: number },
): Readonly<Record<string, string>> {
  const id = `run_${runId}`;
  const seconds = String(Math.floor(nowMs / 1000));
  const mac = createHmac("sha256", key).update(`${id}.${seconds}.${body}`).digest("base64");
  return {
    "content-type": "application/json",
    "user-agent": "millrace",
    "webhook-id": id,
    "webhook-timestamp": seconds,
    "webhook-signature": `v1,${mac}`,
  };
}
