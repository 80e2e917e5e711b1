// The temporary folders of `millrace verify` are removed, also those of killed processes.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { temporaryFolder } from "../../test/support/folder.ts";
import { endLeftProcesses, runMillrace } from "../../test/support/process.ts";
import { FolderPlace } from "./folder-place.ts";
import { ListingWriter } from "./listing.ts";
import { idOf, Repository } from "./repository.ts";
import { VerifyFolder } from "./verify-folder.ts";

after(endLeftProcesses);

test("leftovers of killed processes are removed, and no folder that is in use", () => {
  const temporary = temporaryFolder();
  const leftover = join(temporary, "millrace-verify-killed");
  const starting = join(temporary, "millrace-verify-starting");
  for (const folder of [leftover, starting]) mkdirSync(join(folder, "data"), { recursive: true });
  writeFileSync(join(leftover, "holder.pid"), "1");
  writeFileSync(join(leftover, "data", "catalog.db"), "");
  const first = VerifyFolder.make(temporary);
  assert.ok(!existsSync(leftover));
  assert.ok(existsSync(starting));
  const second = VerifyFolder.make(temporary);
  assert.ok(existsSync(first.path));
  for (const one of [first, second]) one[Symbol.dispose]();
  assert.deepEqual(readdirSync(temporary), ["millrace-verify-starting"]);
});

test("an interrupted verification leaves nothing in the temporary folder", async () => {
  const [backups, temporary] = [temporaryFolder(), temporaryFolder()];
  const repository = await Repository.openOrMake(new FolderPlace(backups), undefined);
  const chunk = await repository.pool.add(Buffer.from("x"));
  const listing = new ListingWriter(repository.pool);
  // So many chunks take much longer to restore than the test takes to see the file.
  const chunks = new Array<string>(400_000).fill(chunk);
  await listing.add({ path: "points/large", bytes: chunks.length, chunks });
  const id = idOf(Date.UTC(2026, 0, 1));
  await repository.writeManifest({
    ...{ id, snapshotMs: 1, version: "1", files: 1, bytes: chunks.length, counts: { series: 0, files: 0 } },
    ...{ missing: [], sample: [], listing: await listing.end() },
  });
  const verify = runMillrace(["verify", backups, "--temporary", temporary], {}, temporary);
  const isRestoring = () =>
    readdirSync(temporary, { recursive: true, encoding: "utf8" }).some((path) =>
      path.endsWith("points/large"),
    );
  while (!isRestoring() && verify.child.exitCode === null) await delay(5);
  verify.child.kill("SIGTERM");
  const { status, errors } = await verify.ended;
  assert.equal(status, 130, errors);
  assert.deepEqual(readdirSync(temporary), []);
});

test("a temporary folder that does not exist is refused", () => {
  assert.throws(() => VerifyFolder.make("/missing/folder"), /Cannot use the temporary folder/);
});
