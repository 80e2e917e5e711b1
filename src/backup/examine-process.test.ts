// The process that verifies a backup and removes old ones.
import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../../test/support/folder.ts";
import { limits } from "../limits.ts";
import { ListingWriter } from "./listing.ts";
import type { ExamineTask, FromExamineProcess } from "./messages.ts";
import { FolderPlace } from "./place.ts";
import { idOf, Repository } from "./repository.ts";

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
