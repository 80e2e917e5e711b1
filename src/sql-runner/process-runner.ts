// Runs each query in a Node process of its own, which has bounded memory, time and files, and no network.
import { realpathSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { dirname } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { parseJson } from "../lib/json.ts";
import { limits } from "../limits.ts";
import { boundedNode, noBoundsHere } from "../model-runner/bounded-node.ts";
import { type ProcessResult, runProcess } from "../model-runner/bounded-process.ts";
import { boundedRuns, howEnded, isOutOfMemory, sourceFolder } from "../model-runner/bounded-runs.ts";
import { type EncodedValue, type EngineMessage, frameOf, framesIn, type QueryTask } from "./frames.ts";
import { ReplyQueue } from "./reply-queue.ts";
import {
  type OpenSource,
  type SqlBound,
  SqlFailure,
  type SqlLimits,
  type SqlPage,
  type SqlProblem,
  type SqlRequest,
  type SqlRow,
  type SqlRunner,
  type SqlSummary,
} from "./sql-runner.ts";

export interface SqlRunnerSettings {
  /** Of the folders of runs, unique among the servers of this machine. */
  readonly folderPrefix: string;
  /** The current bundle of the engine. It starts in a fifth of the processor time of the sources. */
  readonly bundle?: () => string | undefined;
}

/** Runs queries in processes. */
export function processSqlRunner({ folderPrefix, bundle }: SqlRunnerSettings): SqlRunner {
  const runs = boundedRuns({ folderPrefix, places: limits.sqlRunsAtOnce });
  return {
    run: (request, signal) =>
      runs(request.project, signal, async (folder) => {
        if (noBoundsHere) throw new SqlFailure({ kind: "forbidden", message: noBoundsHere });
        if (request.sql.length > limits.sqlLengthMax) throw tooLong();
        const open = await request.openSource();
        try {
          return await runIn(folder, { request, open, bundle: bundle?.() }, signal);
        } finally {
          open.close();
        }
      }),
  };
}

const tooLong = () =>
  new SqlFailure({ kind: "syntax", message: `A query has at most ${limits.sqlLengthMax} characters` });

const usualLimits: SqlLimits = {
  memoryBytes: limits.sqlMemoryBytesMax,
  cpuMs: limits.sqlCpuMsMax,
  wallMs: limits.sqlWallMsMax,
  diskBytes: limits.sqlDiskBytesMax,
  rows: limits.sqlRowsMax,
  bytes: limits.sqlBytesMax,
  valueBytes: limits.sqlValueBytesMax,
};

type End = Pick<Extract<EngineMessage, { kind: "done" }>, "summary"> | { readonly problem: SqlProblem };

interface OpenRequest {
  readonly request: SqlRequest;
  readonly open: OpenSource;
}

interface BundledRequest extends OpenRequest {
  readonly bundle: string | undefined;
}

async function runIn(
  folder: string,
  { request, open, bundle }: BundledRequest,
  signal: AbortSignal,
): Promise<SqlSummary> {
  const { sql, marks, firstRows } = request;
  const bounds: SqlLimits = { ...usualLimits, ...request.limits };
  const replies = new ReplyQueue();
  const task: QueryTask = {
    ...{ sql, limits: bounds },
    ...(marks && { marks }),
    ...(firstRows !== undefined && { firstRows }),
  };
  replies.add(frameOf(JSON.stringify(task)));
  const ended = await runProcess<End | undefined>(
    {
      command: commandFor(bounds, bundle),
      folder,
      environment: { SQLITE_TMPDIR: folder, TZ: "UTC" },
      user: undefined,
      input: replies,
      read: (output) => serve(output, { request, open }, replies),
      attached: [],
      msMax: bounds.wallMs,
    },
    signal,
  );
  const { result } = ended;
  if (result && "summary" in result) return result.summary;
  throw new SqlFailure(result?.problem ?? problemOfEnd(ended, bounds));
}

/** Sends the rows of the source until the process ends. */
async function serve(
  output: Readable,
  { request, open }: OpenRequest,
  replies: ReplyQueue,
): Promise<End | undefined> {
  const { source } = open;
  let pages: AsyncIterator<SqlPage> | undefined;
  let next: Promise<IteratorResult<SqlPage>> | undefined;
  const reply = (json: string) => replies.add(frameOf(json));
  const replyWithPage = async () => {
    const page = await next!;
    reply(page.done ? "null" : page.value);
    next = page.done ? undefined : ahead(pages!.next());
  };
  try {
    for await (const frame of framesIn(output)) {
      const message = parseJson(frame) as EngineMessage;
      switch (message.kind) {
        case "describe":
          reply(JSON.stringify((await source.describe(message.name)) ?? null));
          break;
        case "read":
          pages = source.read(message.name, message.read)[Symbol.asyncIterator]();
          next = ahead(pages.next());
          await replyWithPage();
          break;
        case "next":
          await replyWithPage();
          break;
        case "lastCommit":
          reply(String(await source.lastCommit()));
          break;
        case "columns":
          open.close();
          await request.onColumns(message.columns);
          break;
        case "rows":
          await request.onRows(message.rows.map(decodedRow));
          break;
        case "done":
          return { summary: message.summary };
        case "failed":
          return { problem: message.problem };
      }
    }
    return undefined;
  } finally {
    replies.end();
    await next?.catch(() => undefined);
    await pages?.return?.();
  }
}

/** Reads a page while the process stores the one before. Its error is raised where the page is awaited. */
function ahead(page: Promise<IteratorResult<SqlPage>>): Promise<IteratorResult<SqlPage>> {
  page.catch(() => undefined);
  return page;
}

const decodedRow = (row: readonly EncodedValue[]): SqlRow =>
  row.map((value) => (typeof value === "object" && value !== null ? BigInt(value[0]) : value));

/** Why the process ended without a message. */
function problemOfEnd(
  ended: Pick<ProcessResult<unknown>, "isLate" | "signal" | "code" | "log">,
  bounds: SqlLimits,
): SqlProblem {
  const { isLate, signal } = ended;
  const bound = (name: SqlBound, message: string): SqlProblem => ({
    ...{ kind: "bound", bound: name, message, limit: bounds[name] },
  });
  if (isLate) return bound("wallMs", `The query was stopped after ${bounds.wallMs / 1000} s`);
  if (signal === "SIGXCPU")
    return bound("cpuMs", `The query was stopped after ${bounds.cpuMs / 1000} s of processor time`);
  if (signal === "SIGXFSZ") return bound("diskBytes", "The query needs too much space for temporary files");
  if (isOutOfMemory(ended))
    return bound("memoryBytes", `The query needs more than ${bounds.memoryBytes} bytes of memory`);
  return { kind: "ended", message: `The process of the query ended ${howEnded(ended)}` };
}

const program = fileURLToPath(new URL("./engine/engine-process.ts", import.meta.url));
/** The packages that functions of queries import. */
const packages = ["re2js"].map((name) => dirname(findPackageJSON(name, import.meta.url)!));

function commandFor(bounds: SqlLimits, bundle: string | undefined): [string, ...string[]] {
  // Node.js checks the permission to read for the real path, and node_modules may be a link.
  const main = bundle === undefined ? program : realpathSync(bundle);
  const readable = bundle === undefined ? [sourceFolder, ...packages] : [dirname(main)];
  return boundedNode(main, readable, {
    memoryBytes: bounds.memoryBytes,
    heapBytes: limits.sqlHeapBytesMax,
    cpuMs: bounds.cpuMs,
    fileBytes: bounds.diskBytes,
  });
}
