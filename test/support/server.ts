// A real server for tests: its own data folder, a project, a key, and a client that checks every response.
import { type Logger, pino } from "pino";
import { type App, openApp } from "../../src/app.ts";
import type { BackupPlan } from "../../src/backup/backup-plan.ts";
import type { AuditSettings, Settings } from "../../src/config.ts";
import { type ResponseBounds, usualBounds } from "../../src/http/request-memory.ts";
import { realSystem, type System } from "../../src/lib/system.ts";
import type { ApiVersion } from "../../src/rest/route.ts";
import type { ClickHouseShards } from "../../src/storage/clickhouse-points/location.ts";
import type { S3Setting } from "../../src/storage/s3-blobs/s3-blobs.ts";
import { serveBundle, usesBundle } from "./bundle-server.ts";
import { checkResponse } from "./description.ts";
import { temporaryFolder } from "./folder.ts";
import { testS3, usesS3 } from "./s3-store.ts";

export interface ServerOptions {
  /** The database of its catalog; the data folder when absent, unless TEST_CATALOG=postgres. */
  readonly catalogUrl?: string;
  /** The administrator's key, for servers of one catalog; one that the first start makes when absent. */
  readonly adminKey?: string;
  /** The project's URL name; `demo` when absent. */
  readonly project?: string;
  readonly system?: System;
  /** The address that it believes to be reached by; that where it is when absent. */
  readonly baseUrl?: string;
  readonly trustedProxies?: readonly string[];
  /** Which networks it may call besides the public internet; loopback when absent, for test providers. */
  readonly outboundNetworks?: readonly string[];
  /** Of failures and logins; as good as no limit when absent. */
  readonly attemptsPerMinute?: number;
  /** What it records in the audit log; changes when absent. */
  readonly audit?: AuditSettings;
  /** Whether it hosts models; off when absent. */
  readonly hostsModels?: boolean;
  /** The folder with the build of the console; one without a build when absent. */
  readonly consoleFolder?: string;
  /** Where it listens; a port that the system chooses when absent. */
  readonly port?: number;
  /** The ClickHouse database of its datapoints; what TEST_POINTS says when absent. */
  readonly points?: ClickHouseShards;
  /** Other bounds of responses than the usual ones. */
  readonly responses?: Partial<ResponseBounds>;
  /** The S3 store of its files; what TEST_BLOBS says when absent. */
  readonly blobs?: S3Setting;
  /** The backups that it makes by itself; none when absent. */
  readonly backups?: BackupPlan;
  /**
   * Its front threads; as many as TEST_FRONT_THREADS says when absent, else none: each costs 0.3 s of
   * processor time. See `withFront`.
   */
  readonly frontThreads?: number;
  /** Where its log goes; nowhere when absent. */
  readonly log?: Logger;
}

/** For tests of protocols, clients and the pipeline of requests: a server as users run it on two cores. */
export const withFront = { frontThreads: 1 } as const;

/** Its shape has been checked against the description; a test reads the members it cares for. */
export type Item = Readonly<Record<string, unknown>>;

export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The whole body; undefined when it is not JSON. */
  readonly json: unknown;
  /** `data.items` of the body, empty when there are none; `idsOf(answer)` reads their ids. */
  readonly items: readonly Item[];
  /** `data.nextCursor` and `data.previousCursor` of the body. */
  readonly nextCursor: string | undefined;
  readonly previousCursor: string | undefined;
  /** `error` of the body. */
  readonly error: ({ readonly code: number; readonly message: string } & Item) | undefined;
  readonly text: string;
  readonly bytes: Buffer;
}

export const idsOf = (answer: TestResponse): number[] => answer.items.map((item) => item["id"] as number);

/** An undefined header takes the default one away: `{ "api-key": undefined }`. */
type RequestHeaders = Readonly<Record<string, string | undefined>>;

/**
 * `ask("POST /assets", { items: [] })`: the path is below the project; objects are sent as JSON, bytes and
 * strings as they are. Each response must be as the server's OpenAPI description says.
 */
export type AskFunction = (
  methodAndPath: string,
  body?: unknown,
  headers?: RequestHeaders,
) => Promise<TestResponse>;

export interface Ask extends AskFunction {
  readonly v04: AskFunction;
  readonly v05: AskFunction;
  readonly v06: AskFunction;
  /** The same with a path from the root: `ask.root("GET /login/status")`. */
  readonly root: AskFunction;
}

export interface TestServer {
  readonly baseUrl: string;
  readonly project: string;
  readonly key: string;
  readonly dataFolder: string;
  /** The S3 store of its files, if they are not in the data folder. */
  readonly blobs: S3Setting | undefined;
  /** The database of its catalog, if that is not in the data folder. */
  readonly catalogUrl: string | undefined;
  /** In version 0.5 unless `ask.v04` or `ask.v06`. */
  readonly ask: Ask;
  readonly app: App;
  /**
   * Stops the server and opens it again on the same data folder; `baseUrl` and `app` change. `meanwhile` runs
   * while it is stopped.
   */
  restart(meanwhile?: () => void): Promise<void>;
  /** Stops the server. */
  close(): Promise<void>;
}

export async function startTestServer(options: ServerOptions = {}): Promise<TestServer> {
  const { project = "demo", system = realSystem, attemptsPerMinute = 1_000_000 } = options;
  const dataFolder = temporaryFolder();
  const places = await placesOf(options);
  const settings = {
    host: "127.0.0.1",
    port: options.port ?? 0,
    data: dataFolder,
    project,
    logLevel: "silent",
    trustedProxies: options.trustedProxies ?? [],
    outboundNetworks: options.outboundNetworks ?? ["127.0.0.0/8"],
    ...{ attemptsPerMinute, hostsModels: options.hostsModels ?? false },
    consoleFolder: options.consoleFolder ?? dataFolder,
    ...{ ...places, ...givenOf(options), frontThreads: frontThreadsOf(options, places) },
  } as const;
  const { log = pino({ level: "silent" }) } = options;
  const start = async () => {
    if (usesBundle) return serveBundle(settings);
    const app = await openApp(settings, system, log, { bounds: { ...usualBounds, ...options.responses } });
    const { address, newKey } = await app.listen();
    await app.frontStarted;
    return { app, baseUrl: address, newKey };
  };
  const first = await start();
  let { app, baseUrl } = first;
  const key = options.adminKey ?? first.newKey!;
  const asking = (prefix: string): AskFunction => {
    return async (methodAndPath, body, headers = {}) => {
      const [method, path] = splitOnce(methodAndPath);
      const line = { method, path: prefix + path };
      const answer = await send(baseUrl, line, body, { "api-key": key, ...headers });
      await checkResponse(baseUrl, line, answer);
      return answer;
    };
  };
  const below = (version: ApiVersion) => asking(`/api/${version}/projects/${encodeURIComponent(project)}`);
  const versions = { v04: below("0.4"), v05: below("0.5"), v06: below("0.6"), root: asking("") };
  return {
    get baseUrl() {
      return baseUrl;
    },
    get app() {
      return app;
    },
    project,
    key,
    dataFolder,
    ...{ blobs: places.blobs, catalogUrl: places.catalogUrl },
    ask: Object.assign(below("0.5"), versions),
    async restart(meanwhile = () => undefined) {
      await app.close();
      meanwhile();
      ({ app, baseUrl } = await start());
    },
    close: () => app.close(),
  };
}

const givenOf = ({ audit, adminKey, baseUrl, backups }: ServerOptions) => ({
  ...(audit && { audit }),
  ...(adminKey !== undefined && { adminKey }),
  ...(baseUrl !== undefined && { baseUrl }),
  ...(backups && { backups }),
});

/** A front thread has the clocks of the machine, so a server with other ones has none by default. */
function frontThreadsOf(
  { frontThreads, system, audit }: ServerOptions,
  { catalogUrl, points }: Pick<Settings, "points" | "catalogUrl">,
): number {
  const isElsewhere = catalogUrl !== undefined || points !== undefined;
  if (isElsewhere || audit?.mode === "writes" || audit?.mode === "all") return 0;
  return frontThreads ?? (system ? 0 : Number(process.env["TEST_FRONT_THREADS"] ?? 0));
}

/** Where a server keeps its data beside the folder: as the options say, else the environment. */
async function placesOf(options: ServerOptions): Promise<Pick<Settings, "blobs" | "points" | "catalogUrl">> {
  const blobs = options.blobs ?? (usesS3 ? (await testS3()).place() : undefined);
  const catalogUrl = options.catalogUrl ?? (await catalogOfEnvironment());
  const points = options.points ?? (await pointsOfEnvironment());
  return {
    ...(blobs && { blobs }),
    ...(points && { points }),
    ...(catalogUrl !== undefined && { catalogUrl }),
  };
}

/** `TEST_CATALOG=postgres` gives each server a new database, to run all tests on it. */
async function catalogOfEnvironment(): Promise<string | undefined> {
  if (process.env["TEST_CATALOG"] !== "postgres") return undefined;
  const { newDatabase } = await import("./postgres.ts");
  return (await newDatabase()).url;
}

/** `TEST_POINTS=clickhouse` gives each server two new databases as shards, to run all tests on them. */
async function pointsOfEnvironment(): Promise<ClickHouseShards | undefined> {
  if (process.env["TEST_POINTS"] !== "clickhouse") return undefined;
  const { newClickHouseDatabase, parseClickHouseUrl, sharedClickHouse } = await import("./clickhouse.ts");
  const server = await sharedClickHouse();
  const [one, two] = [await newClickHouseDatabase(server), await newClickHouseDatabase(server)];
  return [parseClickHouseUrl(one)!, parseClickHouseUrl(two)!];
}

function splitOnce(methodAndPath: string): [method: string, path: string] {
  const blank = methodAndPath.indexOf(" ");
  const path = methodAndPath.slice(blank + 1);
  return [methodAndPath.slice(0, blank), path === "/" ? "" : path];
}

interface RequestLine {
  readonly method: string;
  readonly path: string;
}

async function send(
  baseUrl: string,
  line: RequestLine,
  body: unknown,
  headers: RequestHeaders,
): Promise<TestResponse> {
  const isPlain = body === undefined || typeof body === "string" || body instanceof Uint8Array;
  const present = Object.entries(headers).filter(
    (header): header is [string, string] => header[1] !== undefined,
  );
  const response = await fetch(baseUrl + line.path, {
    method: line.method,
    headers: { ...(!isPlain && { "content-type": "application/json" }), ...Object.fromEntries(present) },
    ...(body !== undefined && {
      body: isPlain ? (body as string | Uint8Array<ArrayBuffer>) : JSON.stringify(body),
    }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const text = bytes.toString();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") && text !== "";
  const json = isJson ? (JSON.parse(text) as Partial<Wrapped>) : undefined;
  return {
    status: response.status,
    headers: response.headers,
    json,
    items: json?.data?.items ?? [],
    nextCursor: json?.data?.nextCursor,
    previousCursor: json?.data?.previousCursor,
    error: json?.error,
    text,
    bytes,
  };
}

interface Wrapped {
  readonly data: {
    readonly items?: readonly Item[];
    readonly nextCursor?: string;
    readonly previousCursor?: string;
  };
  readonly error: NonNullable<TestResponse["error"]>;
}
