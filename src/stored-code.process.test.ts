// The server with the bundle of `npm run build`: its threads store their compiled code, and use it later. It
// refuses the same requests as a server that runs from the sources.
import assert from "node:assert/strict";
import { globSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join, sep } from "node:path";
import { afterEach, test } from "node:test";
import { temporaryFolder } from "../test/support/folder.ts";
import { endLeftProcesses, runMillrace, serveMillrace, withFront } from "../test/support/process.ts";
import { storesAtEnd } from "./code-cache.ts";
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
  const usual = { ...withFront, NODE_COMPILE_CACHE: cache, NODE_V8_COVERAGE: "" };
  const environment = { ...usual, [storesAtEnd]: "1" };
  const serve = async () => {
    const server = await serveMillrace(environment, folder);
    assert.equal((await fetch(`${server.baseUrl}/health`)).status, 200);
    server.child.kill("SIGTERM");
    const { status, errors } = await server.ended;
    assert.equal(status, 0, errors);
  };
  const stored = () => globSync("scripts-*/*/*", { cwd: cache });
  const identityOf = (path: string) => {
    const { ino, mtimeNs } = statSync(join(cache, path), { bigint: true });
    return `${path} ${ino} ${mtimeNs}`;
  };

  const command = await runMillrace(["version"], usual, folder).ended;
  assert.deepEqual([command.status, command.output], [0, `${version}\n`]);
  assert.deepEqual(stored(), [], "a short command has little code");
  await serve();
  const first = stored();
  const entries = threads.map((thread) => {
    const entry = first.find((one) => one.split(sep)[1] === thread && basename(one).startsWith(thread));
    assert.ok(entry, `no code of ${thread}`);
    return entry;
  });
  const identities = first.map(identityOf);
  await serve();
  assert.deepEqual(first.map(identityOf), identities, "code that is not usable is stored again");

  for (const path of stored()) writeFileSync(join(cache, path), "damage");
  await serve();
  for (const entry of entries) assert.notEqual(readFileSync(join(cache, entry), "utf8"), "damage");
});

test("an address that is not UTF-8 is refused", { skip }, async () => {
  const { baseUrl } = await serveMillrace({}, temporaryFolder());
  for (const path of ["/health?x=%E4", "/odata/v1/projects/default/Assets('%E4')", "/health?x=100%"]) {
    const response = await fetch(baseUrl + path);
    const text = await response.text();
    assert.equal(response.status, 400, text);
    assert.ok(text.includes("its address has "), text);
  }
});
