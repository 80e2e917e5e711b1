// The server with the bundle of `npm run build`: its threads store their compiled code, and use it later.
import assert from "node:assert/strict";
import { globSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import { temporaryFolder } from "../test/support/folder.ts";
import { endLeftProcesses, runMillrace, serveMillrace, withFront } from "../test/support/process.ts";
import { currentBundle } from "./current-bundle.ts";
import { version } from "./lib/version.ts";

afterEach(endLeftProcesses);

const threads = ["program", "sqlite-worker", "embedded-points-shard-worker", "front-front-worker"];
const skip = currentBundle("program") === undefined && "the bundle is not current: npm run build";

test("a server that stops stores the code of each thread; the next one finds it usable", {
  skip,
}, async () => {
  const folder = temporaryFolder();
  const cache = join(folder, "cache");
  const environment = { ...withFront, NODE_COMPILE_CACHE: cache };
  const serve = async () => {
    const server = await serveMillrace(environment, folder);
    assert.equal((await fetch(`${server.baseUrl}/health`)).status, 200);
    server.child.kill("SIGTERM");
    const { status, errors } = await server.ended;
    assert.equal(status, 0, errors);
  };
  const stored = () =>
    globSync("scripts-*/*/*", { cwd: cache }).map((path) => {
      const { ino, mtimeNs } = statSync(join(cache, path), { bigint: true });
      return `${path} ${ino} ${mtimeNs}`;
    });

  await serve();
  const first = stored();
  for (const thread of threads)
    assert.ok(
      first.some((one) => one.split("/")[1] === thread),
      `no code of ${thread}`,
    );
  await serve();
  const again = stored().filter((one) => !first.includes(one));
  assert.deepEqual(again, [], "code that is not usable is stored again");

  const { status, output } = await runMillrace(["version"], environment, folder).ended;
  assert.deepEqual([status, output], [0, `${version}\n`]);
  for (const path of globSync("scripts-*/*/*", { cwd: cache })) writeFileSync(join(cache, path), "damage");
  await serve();
  assert.ok(first.every((one) => !stored().includes(one)));
});
