// `millrace backup`: lets the running server make a backup of its data folder, or makes one while no server
// runs.
import { relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { pino } from "pino";
import { backupsPath, backupToken } from "../backup/backup-routes.ts";
import { type BackupRequest, Backups, type BackupsState, outsideOfFolder } from "../backup/backups.ts";
import { holdable } from "../backup/held-blobs.ts";
import { DamagedChunk } from "../backup/pool.ts";
import { type Keep, parseKeep, prune } from "../backup/prune.ts";
import { chooseBackup } from "../backup/restore.ts";
import { count, duration, StatusLine } from "../client/progress.ts";
import { readSettings, type Settings } from "../config.ts";
import { refuseWhileCopied } from "../copy/copy-record.ts";
import { lockFolder, StartRefused, secretOf } from "../data-folder.ts";
import { requireCatalog } from "../data-parts.ts";
import { openInstallation, secretFor } from "../installation.ts";
import { parseJson } from "../lib/json.ts";
import { realSystem as system } from "../lib/system.ts";
import { type Command, Misused } from "./command.ts";
import { addressOf } from "./sign-in-link.ts";
import { expectWords, printTable } from "./words.ts";

const filesMissing = 3;
const interrupted = 130;
const pollMs = 300;

const options = {
  "passphrase-file": { type: "string" },
  server: { type: "string" },
  list: { type: "boolean", default: false },
  keep: { type: "string" },
} as const;

export const backup: Command = {
  usage: `Usage: millrace backup <folder> [--passphrase-file FILE] [--keep DAYS,WEEKS,MONTHS]
           [--server ADDRESS]
       millrace backup --list <folder> [--passphrase-file FILE]

Backs up the data folder (MILLRACE_DATA, else ./millrace-data): catalog, datapoints, files and secret, all of
one snapshot. The server reads and writes meanwhile; without a server, the command makes the backup itself.
<folder> keeps any number of backups. What an earlier one has is not copied again.
The server is at --server, else at MILLRACE_HOST and MILLRACE_PORT. It writes to <folder> itself. Run the
command as a user who can read the data folder.
With --passphrase-file, the first backup makes an encrypted folder; later ones need the same passphrase.
Without the passphrase, encrypted backups are lost. --list shows the backups of a folder.

--keep 7,4,12 then removes old backups: the newest ones of the last 7 days, 4 weeks and 12 months (UTC) that
have one stay, and the newest of all. Only what no remaining backup has is removed.

Exit codes: 0, complete; 1, no backup was made; ${filesMissing}, complete, but the data folder lacks files
that the catalog names; ${interrupted}, interrupted.`,
  async run(words) {
    const { positionals, values } = parseArgs({ args: [...words], options, allowPositionals: true });
    expectWords(positionals, 1, "Name the folder of the backups.");
    const place = resolve(positionals[0]!);
    const file = values["passphrase-file"];
    const request = { place, ...(file !== undefined && { passphraseFile: resolve(file) }) };
    if (values.list) return await list(request);
    const keep = values.keep === undefined ? undefined : parseKeep(values.keep);
    if (values.keep !== undefined && keep === undefined)
      throw new Misused(`--keep must be three numbers such as 7,4,12, but is "${values.keep}".`);
    const settings = readSettings(process.env, process.cwd());
    if (settings.catalogUrl === undefined) requireCatalog(settings.data);
    refuseNested(settings.data, place);
    const server = serverOf(settings, values.server);
    const status = server && (await throughServer(server, request));
    const ended = status ?? (await withoutServer(settings, request));
    if (keep && [0, filesMissing].includes(ended)) await removeOld(request, keep);
    return ended;
  },
};

async function list({ place, passphraseFile }: BackupRequest): Promise<number> {
  const { repository } = await chooseBackup(place, { passphraseFile });
  const rows = [];
  for (const id of await repository.ids()) {
    const { snapshotMs, files, bytes, version } = await repository.manifest(id);
    rows.push([id, new Date(snapshotMs).toISOString(), count(files), count(bytes), version]);
  }
  printTable([["backup", "snapshot", "files", "bytes", "Millrace"], ...rows]);
  return 0;
}

async function removeOld({ place, passphraseFile }: BackupRequest, keep: Keep): Promise<void> {
  const unlock = lockFolder(place);
  if (unlock === "busy")
    throw new StartRefused(`Another process uses the backups in ${place}; none was removed`);
  try {
    const { repository } = await chooseBackup(place, { passphraseFile });
    const { backups, chunks } = await prune(repository, keep);
    console.log(`Removed ${count(backups)} old backups and ${count(chunks)} chunks that only they had.`);
  } catch (problem) {
    if (!(problem instanceof DamagedChunk)) throw problem;
    throw new StartRefused(`A backup that stays is damaged (${problem.message}); nothing was removed`);
  } finally {
    unlock();
  }
}

/** A backup of a folder that has its backups would grow each time. */
function refuseNested(data: string, place: string): void {
  const isWithin = (inner: string, outer: string) => !relative(outer, inner).startsWith("..");
  if (isWithin(place, data) || isWithin(data, place))
    throw new StartRefused(`The folder of backups ${place} and the data folder ${data} must be apart`);
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
    const found = await ask(server, stop.signal.aborted ? "DELETE" : "GET");
    if (found === undefined) throw new StartRefused("The server has ended. This backup is not complete");
    return found;
  };
  return await follow(state, stop.signal);
}

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
    if (cause?.code === "ECONNREFUSED" || method === "GET") return undefined;
    throw new StartRefused(`${url} does not respond: ${cause?.message ?? (problem as Error).message}`);
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
async function withoutServer(settings: Settings, request: BackupRequest): Promise<number> {
  console.error(`No server responds, so this command opens ${settings.data} itself`);
  const log = pino({ level: "silent" });
  await using opened = new AsyncDisposableStack();
  const { stores } = await openInstallation(settings, { system, log }, opened);
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
    held: holdable(stores.blobs),
    system,
    log,
  });
  opened.defer(() => backups.stop());
  const stop = new AbortController();
  process.on("SIGINT", () => stop.abort()).on("SIGTERM", () => stop.abort());
  backups.start(request);
  const state = async () => {
    if (stop.signal.aborted) await backups.stop();
    return backups.state;
  };
  return await follow(state, stop.signal);
}

/** Shows the progress until the backup has ended. */
async function follow(state: () => Promise<BackupsState>, stop: AbortSignal): Promise<number> {
  const line = new StatusLine(process.stderr);
  const begunMs = performance.now();
  for (;;) {
    const { running, last } = await state();
    if (!running) {
      line.end();
      if (stop.aborted) console.log("The backup was interrupted; what it has copied is not copied again.");
      return stop.aborted ? interrupted : report(last);
    }
    const { bytesDone, bytesTotal, bytesStored } = running;
    line.show(() => {
      const seconds = duration((performance.now() - begunMs) / 1000);
      const text = `  ${count(bytesDone)} of ${count(bytesTotal)} bytes, ${count(bytesStored)} new`;
      return { share: bytesTotal === 0 ? 0 : bytesDone / bytesTotal, text: `${text}  ${seconds}` };
    });
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

function report(last: BackupsState["last"]): number {
  if (last === undefined) throw new StartRefused("The server was restarted. This backup is not complete");
  if (last.outcome === "failed") throw new StartRefused(`No backup was made: ${last.problem}`);
  const { id, snapshotMs, files, bytes, bytesStored, missing, place, pausedMs } = last;
  console.log(`Backup ${id} of ${new Date(snapshotMs).toISOString()} is complete in ${place}:
${count(files)} files, ${count(bytes)} bytes, of which ${count(bytesStored)} were added.
Changes of the catalog waited ${pausedMs} ms.`);
  if (missing.length === 0) return 0;
  console.log(`The data folder lacks ${missing.length} files that the catalog names:`);
  for (const path of missing.slice(0, missingShownMax)) console.log(`  ${path}`);
  return filesMissing;
}

const missingShownMax = 20;
