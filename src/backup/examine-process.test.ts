// The process that verifies a backup and removes old ones.
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, existsSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../../test/support/folder.ts";
import { startTestServer } from "../../test/support/server.ts";
import { secretOf } from "../data-folder.ts";
import { secretFor } from "../installation.ts";
import { realSystem } from "../lib/system.ts";
import { limits } from "../limits.ts";
import { backupsPath, backupToken } from "./backup-routes.ts";
import type { BackupsState } from "./backups.ts";
import { FolderPlace } from "./folder-place.ts";
import { ListingWriter } from "./listing.ts";
import type { ExamineTask, FromExamineProcess } from "./messages.ts";
import { idOf, manifestPath, Repository } from "./repository.ts";

const program = fileURLToPath(new URL("./examine-process.ts", import.meta.url));
const started: ChildProcess[] = [];
after(() => {
  for (const child of started) child.kill("SIGKILL");
});

function examine(task: Omit<ExamineTask, "damaged">): ChildProcess {
  const child = fork(program, { stdio: ["ignore", "ignore", "pipe", "ipc"], execArgv: ["--no-warnings"] });
  started.push(child);
  child.send({ ...task, damaged: [] } satisfies ExamineTask);
  return child;
}

/** A backup of files that all need a chunk that is not there. */
async function damagedBackup(files: number) {
  const place = temporaryFolder();
  const repository = await Repository.openOrMake(new FolderPlace(place), undefined);
  const listing = new ListingWriter(repository.pool);
  for (let file = 0; file < files; file++)
    await listing.add({ path: `blobs/1/${file}`, bytes: 1, chunks: ["0".repeat(64)] });
  const id = idOf(Date.UTC(2026, 0, 1));
  await repository.writeManifest({
    ...{ id, snapshotMs: 1, version: "1", files, bytes: files, counts: { series: 0, files } },
    ...{ missing: [], sample: [], listing: await listing.end() },
  });
  return { place, id };
}

test("of many findings, the first ones and their number are reported", async () => {
  const files = 3 * limits.backupFindingsMax;
  const child = examine({ ...(await damagedBackup(files)), temporary: temporaryFolder() });
  const [reply] = (await once(child, "message")) as [FromExamineProcess];
  assert.ok(reply.kind === "examined", JSON.stringify(reply));
  const { findings, findingsInAll } = reply.result;
  assert.equal(findings.length, limits.backupFindingsMax);
  assert.match(findings[0]!, /^blobs\/1\/0: /);
  assert.equal(findingsInAll, 2 * files, "for each file, its chunk and its size");
});

/** The id of a backup of a new server; undefined if this run has its data outside of the folder. */
async function backUp(place: string): Promise<string | undefined> {
  const server = await startTestServer();
  try {
    const token = backupToken(secretFor("backups", secretOf(server.dataFolder, realSystem)));
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const url = server.baseUrl + backupsPath;
    const started = await fetch(url, { method: "POST", headers, body: JSON.stringify({ place }) });
    if (started.status === 400) return undefined;
    const state = async () => (await (await fetch(url, { headers })).json()) as BackupsState;
    while ((await state()).running) await delay(10);
    const { last } = await state();
    assert.ok(last?.outcome === "complete", JSON.stringify(last));
    return last.id;
  } finally {
    await server.close();
  }
}

/** Waits until the process reads the pipe. */
async function writerOf(path: string, child: ChildProcess): Promise<number> {
  for (;;) {
    assert.equal(child.exitCode, null);
    try {
      return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch {
      await delay(10); // It does not read it yet.
    }
  }
}

test("a stop during the removal of old backups is no fault", async (t) => {
  const [place, temporary] = [join(temporaryFolder(), "backups"), temporaryFolder()];
  const id = await backUp(place);
  if (id === undefined) return t.skip("this run has its data outside of the folder");
  const hanging = join(place, manifestPath(idOf(Date.UTC(2026, 0, 1))));
  execFileSync("mkfifo", [hanging]);
  const child = examine({ place, id, temporary, keep: { days: 9, weeks: 0, months: 0 } });
  const ended = once(child, "exit");
  const errors = text(child.stderr!);
  const writer = await writerOf(hanging, child);
  assert.deepEqual(readdirSync(temporary), [], "it is verified");
  child.disconnect();
  // It has received the end of its server when it closes the channel.
  while (existsSync(`/proc/${child.pid}/fd/3`)) await delay(10);
  closeSync(writer);
  assert.equal((await ended)[0], 1);
  assert.equal(await errors, "");
});
