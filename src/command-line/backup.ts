// `millrace backup`: lets the running server make a backup of its data folder, or makes one while no server
// runs.
import { resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { pino } from "pino";
import { BackupHistory } from "../backup/backup-history.ts";
import { backupsPath, backupToken } from "../backup/backup-routes.ts";
import {
  type BackupRequest,
  Backups,
  type BackupsState,
  type EndedBackup,
  outsideOfFolder,
  type RunningBackup,
  refuseNested,
} from "../backup/backups.ts";
import { holdable } from "../backup/held-blobs.ts";
import { type Keep, parseKeep } from "../backup/keep.ts";
import { openPlace } from "../backup/open-place.ts";
import { pruneAt } from "../backup/prune.ts";
import { passphraseIn, Repository } from "../backup/repository.ts";
import { count, duration, StatusLine } from "../client/progress.ts";
import { readSettings, type Settings } from "../config.ts";
import { refuseWhileCopied } from "../copy/copy-record.ts";
import { DataFolderInUse, StartRefused, secretOf } from "../data-folder.ts";
import { requireCatalog } from "../data-parts.ts";
import type { DataStores } from "../data-stores.ts";
import { openInstallation, secretFor } from "../installation.ts";
import { parseJson } from "../lib/json.ts";
import { realSystem as system } from "../lib/system.ts";
import { byUrlName } from "../resources/projects/projects.ts";
import { audited } from "./audited.ts";
import { type Command, Misused } from "./command.ts";
import { placeIn } from "./named-place.ts";
import { addressOf } from "./sign-in-link.ts";
import { expectWords, printTable } from "./words.ts";

const filesMissing = 3;
const damageFound = 3;
const noneRemoved = 4;
const interrupted = 130;
const pollMs = 300;
/** About 15 seconds. */
const attemptsMax = 50;

const options = {
  "passphrase-file": { type: "string" },
  server: { type: "string" },
  list: { type: "boolean", default: false },
  keep: { type: "string" },
  existing: { type: "boolean", default: false },
} as const;

export const backup: Command = {
  usage: `Usage: millrace backup [<folder>] [--passphrase-file FILE] [--keep DAYS,WEEKS,MONTHS]
           [--existing] [--server ADDRESS]
       millrace backup --list [<folder>] [--passphrase-file FILE]

Backs up the data folder (MILLRACE_DATA, else ./millrace-data): catalog, datapoints, files and secret, all of
one snapshot. The server reads and writes meanwhile; without a server, the command makes the backup itself.
<folder> keeps any number of backups. What an earlier one has is not copied again. It may be in an S3 store:
s3://bucket/prefix?endpoint=https://s3.example.com:9000, with the credentials of AWS_ACCESS_KEY_ID and
AWS_SECRET_ACCESS_KEY. Without <folder>, it is that of MILLRACE_BACKUP_TO, with its passphrase file.
The server is at --server, else at MILLRACE_HOST and MILLRACE_PORT. It writes to <folder> itself. Run the
command as a user who can read the data folder.
With --passphrase-file, the first backup makes an encrypted folder; later ones need the same passphrase.
Without the passphrase, encrypted backups are lost. --list shows the backups of a folder.
--existing makes no new folder of backups: for timers, because the disk of <folder> may not be mounted.

--keep 7,4,12 then removes old backups: the newest ones of the last 7 days, 4 weeks and 12 months (UTC) that
have one stay, and the newest of all. Only what no remaining backup has is removed.

Exit codes: 0, complete; 1, no backup was made; ${filesMissing}, complete, but the data folder lacks files
that the catalog names, or --list found damage; ${noneRemoved}, complete, but --keep removed nothing, because
a backup that stays is damaged or another process uses the folder; ${interrupted}, interrupted.`,
  async run(words) {
    const { positionals, values } = parseArgs({ args: [...words], options, allowPositionals: true });
    const settings = readSettings(process.env, process.cwd());
    const named = positionals[0] === undefined ? undefined : placeIn(positionals[0]);
    const isPlanned = named === undefined || named === settings.backups?.place;
    const plan = isPlanned ? settings.backups : undefined;
    if (named !== undefined || !plan)
      expectWords(
        positionals,
        1,
        "Name the folder or the S3 store of the backups, or set MILLRACE_BACKUP_TO.",
      );
    const place = named ?? plan!.place;
    const given = values["passphrase-file"];
    const passphraseFile = given === undefined ? plan?.passphraseFile : resolve(given);
    const request = {
      place,
      ...(passphraseFile !== undefined && { passphraseFile }),
      ...(values.existing && { mustExist: true }),
    };
    if (values.list) return await list(request, settings);
    const keep = values.keep === undefined ? undefined : parseKeep(values.keep);
    if (values.keep !== undefined && keep === undefined)
      throw new Misused(`--keep must be three numbers such as 7,4,12, but is "${values.keep}".`);
    if (settings.catalogUrl === undefined) requireCatalog(settings.data);
    refuseNested(settings.data, place);
    const server = serverOf(settings, values.server);
    const status = server && (await throughServer(server, request));
    const ended = status ?? (await withoutServer(settings, { server, request }));
    if (keep === undefined || ![0, filesMissing].includes(ended)) return ended;
    return (await removeOld(request, { keep, settings })) ? ended : ended || noneRemoved;
  },
};

async function list({ place, passphraseFile }: BackupRequest, { s3 }: Settings): Promise<number> {
  const repository = await Repository.open(await openPlace(place, s3), passphraseIn(passphraseFile));
  const rows = [];
  const damaged: string[] = [];
  for (const id of await repository.ids()) {
    try {
      const { snapshotMs, files, bytes, version } = await repository.manifest(id);
      rows.push([id, new Date(snapshotMs).toISOString(), count(files), count(bytes), version]);
    } catch (problem) {
      if (!(problem instanceof StartRefused)) throw problem;
      rows.push([id, "damaged", "", "", ""]);
      damaged.push(problem.message);
    }
  }
  if (rows.length === 0) throw new StartRefused(`${place} has no complete backup`);
  printTable([["backup", "snapshot", "files", "bytes", "Millrace"], ...rows]);
  const increments = await repository.incrementIds();
  if (increments.length > 0)
    console.log(`${count(increments.length)} increments, from ${increments[0]} to ${increments.at(-1)}`);
  for (const line of damaged) console.log(line);
  return damaged.length === 0 ? 0 : damageFound;
}

/** Whether old backups were removed. If not, prints why: the new backup is complete all the same. */
async function removeOld(
  { place, passphraseFile }: BackupRequest,
  { keep, settings }: { readonly keep: Keep; readonly settings: Settings },
): Promise<boolean> {
  try {
    const opened = await openPlace(place, settings.s3);
    const { backups, chunks } = await pruneAt(opened, { keep, passphraseFile });
    console.log(`Removed ${count(backups)} old backups and ${count(chunks)} chunks that only they had.`);
    return true;
  } catch (problem) {
    console.error(`The new backup is complete, but old ones stay: ${(problem as Error).message}`);
    return false;
  }
}

interface Server {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Not at the public address, which may be that of a proxy. Undefined if the address is unknown. */
function serverOf(settings: Settings, given: string | undefined): Server | undefined {
  const { baseUrl: _, ...own } = settings;
  const address = given ?? addressOf(own);
  if (address === undefined) return undefined;
  const token = backupToken(secretFor("backups", secretOf(settings.data, system)));
  return {
    url: `${address.replace(/\/+$/, "")}${backupsPath}`,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
  };
}

/** Undefined if no server is there. */
async function throughServer(server: Server, request: BackupRequest): Promise<number | undefined> {
  const started = await ask(server, "POST", request);
  if (started === undefined) return undefined;
  const stop = new AbortController();
  const abort = () => stop.abort();
  process.on("SIGINT", abort).on("SIGTERM", abort);
  const state = async () => {
    const found = await patiently(() => ask(server, "GET"));
    const isOwn = found.running?.startedTime === started.running?.startedTime;
    return stop.signal.aborted && isOwn ? await patiently(() => ask(server, "DELETE")) : found;
  };
  return await follow(state, started, stop.signal);
}

/** Tries again for a while: the backup continues in the server while its network or proxy does not. */
async function patiently(request: () => Promise<BackupsState | undefined>): Promise<BackupsState> {
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const found = await request().catch((problem: unknown) => {
      if (!(problem instanceof NoResponse)) throw problem;
    });
    if (found) return found;
    await pause(pollMs);
  }
  throw new StartRefused("The server does not respond any more. If it has ended, no backup was made");
}

/** The server does not respond. */
class NoResponse extends StartRefused {}

/** Undefined if nothing listens at the address. */
async function ask(
  { url, headers }: Server,
  method: string,
  body?: BackupRequest,
): Promise<BackupsState | undefined> {
  let response: Response;
  try {
    response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  } catch (problem) {
    const { cause } = problem as { cause?: NodeJS.ErrnoException };
    if (cause?.code === "ECONNREFUSED") return undefined;
    throw new NoResponse(`${url} does not respond: ${cause?.message ?? (problem as Error).message}`);
  }
  const text = await response.text();
  if (!response.ok) throw new StartRefused(`${url} refused: ${messageIn(text)}`);
  return parseJson(text) as BackupsState;
}

function messageIn(text: string): string {
  try {
    return (parseJson(text) as { error: { message: string } }).error.message;
  } catch {
    return text;
  }
}

/** Opens the data folder and makes the backup in this process. */
async function withoutServer(
  settings: Settings,
  { server, request }: { readonly server: Server | undefined; readonly request: BackupRequest },
): Promise<number> {
  const tried = server ? `No server responds at ${new URL(server.url).origin}` : portUnknown;
  const log = pino({ level: "silent" });
  await using opened = new AsyncDisposableStack();
  const { stores, disk } = await openInstallation(settings, { system, log }, opened).catch((problem) => {
    if (!(problem instanceof DataFolderInUse)) throw problem;
    throw new StartRefused(`${tried}, but a process with the pid ${problem.holder} uses ${settings.data}.
If it is a server, name its address: --server http://127.0.0.1:<port>, or set its MILLRACE_PORT here too.`);
  });
  console.error(`${tried}, so this command has opened ${settings.data} itself`);
  await refuseWhileCopied(stores.catalog);
  const refusal = outsideOfFolder({
    catalogUrl: undefined,
    points: undefined,
    blobs: undefined,
    ...settings,
  });
  const backups = new Backups({
    data: settings.data,
    stores,
    refusal,
    history: settings.backups && (await BackupHistory.open(settings.data, settings.backups.place)),
    s3: settings.s3,
    held: holdable(stores.blobs),
    disk,
    system,
    log,
  });
  opened.defer(() => backups.stop());
  return await recorded(settings, stores, request, () => makeBackup(backups, request));
}

/** Returns the exit code. */
async function makeBackup(backups: Backups, request: BackupRequest): Promise<number> {
  const stop = new AbortController();
  process.on("SIGINT", () => stop.abort()).on("SIGTERM", () => stop.abort());
  backups.start(request);
  const started = backups.state;
  const state = async () => {
    if (stop.signal.aborted) await backups.stop();
    return backups.state;
  };
  return await follow(state, started, stop.signal);
}

/** An interrupted backup, for the audit log: it has failed. */
class Interrupted extends Error {}

/** Records the backup in the audit log of the project of the settings, if there is one, as a server does. */
async function recorded(
  settings: Settings,
  { catalog }: DataStores,
  { place }: BackupRequest,
  make: () => Promise<number>,
): Promise<number> {
  const project = await catalog.read("system", (tx) => byUrlName(tx, settings.project));
  if (!project) return await make();
  const action = "millrace backup";
  const operation = { kind: "export", action, resource: "backups", ids: [place] } as const;
  try {
    return await audited({ catalog, system, settings }, project, operation, async () => {
      const ended = await make();
      if (ended === interrupted) throw new Interrupted();
      return ended;
    });
  } catch (problem) {
    if (problem instanceof Interrupted) return interrupted;
    throw problem;
  }
}

const portUnknown = "MILLRACE_PORT is 0, so the address of a server is unknown";

/** Shows the progress until the backup that was started has ended. */
async function follow(
  state: () => Promise<BackupsState>,
  started: BackupsState,
  stop: AbortSignal,
): Promise<number> {
  const isOwn = (one: RunningBackup | EndedBackup) =>
    one.startedTime === started.running?.startedTime && one.place === started.running.place;
  const line = new StatusLine(process.stderr);
  const begunMs = performance.now();
  for (;;) {
    const { running, last } = await state();
    if (!running || !isOwn(running)) {
      line.end();
      if (last && isOwn(last) && (last.outcome === "complete" || !stop.aborted)) return report(last);
      if (!stop.aborted) throw new StartRefused(endUnknown);
      console.log("The backup was interrupted; what it has copied is not copied again.");
      return interrupted;
    }
    const { bytesDone, bytesTotal, bytesStored } = running;
    line.show(() => {
      const seconds = duration((performance.now() - begunMs) / 1000);
      const text = `  ${count(bytesDone)} of ${count(bytesTotal)} bytes, ${count(bytesStored)} new`;
      return { share: bytesTotal === 0 ? 0 : bytesDone / bytesTotal, text: `${text}  ${seconds}` };
    });
    await pause(pollMs);
  }
}

/** The state of the server is that of another backup, or of none. */
const endUnknown =
  "The server was restarted or has begun another backup, so the end of this one is unknown; see --list";

function report(last: EndedBackup): number {
  if (last.outcome === "failed") throw new StartRefused(`No backup was made: ${last.problem}`);
  const { id, snapshotMs, files, bytes, bytesStored, missing, place, pausedMs, isNewFolder } = last;
  if (isNewFolder) console.log(`Made a new folder of backups in ${place}.`);
  console.log(`Backup ${id} of ${new Date(snapshotMs).toISOString()} is complete in ${place}:
${count(files)} files, ${count(bytes)} bytes, of which ${count(bytesStored)} were added.
Changes of the catalog waited ${pausedMs} ms.`);
  if (missing.length === 0) return 0;
  console.log(`The data folder lacks ${missing.length} files that the catalog names:`);
  for (const path of missing.slice(0, missingShownMax)) console.log(`  ${path}`);
  return filesMissing;
}

const missingShownMax = 20;
