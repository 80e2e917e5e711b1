// Bodies made to exhaust a server: a process with a small heap refuses each of them and keeps serving.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import { temporaryFolder } from "../../test/support/folder.ts";
import { endLeftProcesses, serveMillrace } from "../../test/support/process.ts";

after(endLeftProcesses);

const key = "an-administrator-key-of-the-attack-test";
const many = (one: string, count: number) => `${one},`.repeat(count - 1) + one;
const gzip = (text: string) => ({ bytes: gzipSync(text), headers: { "content-encoding": "gzip" } });
const plain = (text: string) => ({ bytes: Buffer.from(text), headers: {} });

test("bodies of very many values exhaust no heap, with a key or without", async () => {
  const environment = { MILLRACE_ADMIN_KEY: key, NODE_OPTIONS: "--max-old-space-size=192" };
  const { baseUrl, child, ended } = await serveMillrace(environment, temporaryFolder());
  const send = async (path: string, { bytes, headers }: ReturnType<typeof gzip | typeof plain>) => {
    const response = await fetch(baseUrl + path, {
      method: "POST",
      headers: { ...headers, ...(path !== "/login" && { "api-key": key }) },
      body: bytes,
    });
    return `${response.status} ${((await response.json()) as { error: { message: string } }).error.message}`;
  };
  const escaped = `{"apiKey":"x","\\u0061":0,"b":[${many("{}", 21_000_000)}]}`;
  assert.equal(await send("/login", gzip(escaped)), "413 The body as sent is larger than 16384 bytes");
  const small = gzip(`{"apiKey":"x","\\u0061":0,"b":[${many("{}", 2_000_000)}]}`);
  assert.equal(await send("/login", small), "413 The body as unpacked is larger than 16384 bytes");
  const byIds = "/api/0.5/projects/default/assets/byids";
  const objects = many("{}", 5_000_000);
  assert.match(await send(byIds, gzip(`{"items":[${objects}]}`)), /^413 The body inflates to more than 256 /);
  const tooMany = "413 The JSON of the body has more than 1000000 values";
  assert.equal(await send(byIds, plain(`{"items":[${objects}]}`)), tooMany);
  assert.equal(await send(byIds, plain(`{"items":[],"\\u0061":[${objects}]}`)), tooMany);
  const inserts = "/api/0.5/projects/default/timeseries/data";
  assert.equal(await send(inserts, plain(`{"items":[${many("{}", 20_000_000)}]}`)), tooMany);
  assert.equal(
    await send(inserts, plain(`{"items":[],"x":${many("[]", 3).replaceAll(",", "")}`)),
    '400 The body is not valid JSON: unexpected "[" at position 18',
  );
  assert.match(
    await send(byIds, plain(`{"items":[${many("1", 1_000_000 - 2)}]}`)),
    /^400 items may hold at most/,
  );
  assert.equal((await fetch(`${baseUrl}/health`)).status, 200);
  child.kill("SIGTERM");
  assert.equal((await ended).status, 0);
});
