// The process as operators meet it: first start, settings, keys, the lock of the data folder, and its end.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { statSync, writeFileSync } from "node:fs";
import { get, request } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { temporaryFolder } from "../test/support/folder.ts";
import { endLeftProcesses, runMillrace, serveMillrace, withFront } from "../test/support/process.ts";
import { limits } from "./limits.ts";

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(endLeftProcesses);

const keyIn = (output: string) => /^ {2}(?:API key {3})?(mr_\S+)$/m.exec(output)?.[1];

const statusOf = async (baseUrl: string, path: string, key: string) =>
  (await fetch(baseUrl + path, { headers: { "api-key": key } })).status;

/** Uses a one-time link as its page does. */
const statusOfLink = async (baseUrl: string, link: string) => {
  assert.ok(link.startsWith(`${baseUrl}/`));
  const token = new URLSearchParams(new URL(link).hash.slice(1)).get("token");
  return (await fetch(`${baseUrl}/session`, { method: "POST", body: JSON.stringify({ token }) })).status;
};

test("the first start shows base URL, project and key once; SIGTERM ends it with 0", async () => {
  const first = await serveMillrace(withFront, folder);
  const key = keyIn(first.output())!;
  assert.match(
    first.output(),
    new RegExp(`base URL  ${first.baseUrl}\n  project   default\n  API key   mr_`),
  );
  assert.equal(await statusOf(first.baseUrl, "/api/0.5/projects/default/assets", key), 200);
  const [link] = /^ {2}http\S+\/sign-in#token=ml_[\w-]{32}$/m.exec(first.output())!;
  assert.equal(await statusOfLink(first.baseUrl, link.trim()), 200);
  assert.equal(await statusOfLink(first.baseUrl, link.trim()), 401);
  assert.equal(statSync(join(folder, "millrace-data/secret")).mode & 0o777, 0o600);
  first.child.kill("SIGTERM");
  assert.equal((await first.ended).status, 0);

  const second = await serveMillrace({ MILLRACE_PROJECT: "default" }, folder);
  assert.equal(keyIn(second.output()), undefined);
  assert.ok(!second.output().includes("token="), "a later start makes no link");
  assert.ok(second.output().includes(`Console: ${second.baseUrl}/`));
  assert.ok(
    second.output().includes(`MILLRACE_BASE_URL='${second.baseUrl}' npm run millrace -- login-link`),
    "in another terminal, the link would begin with the default address",
  );
  assert.ok(!second.output().includes(key));
  assert.equal(await statusOf(second.baseUrl, "/api/0.5/projects/default/assets", key), 200);
  second.child.kill("SIGINT");
  assert.equal((await second.ended).status, 0);

  const other = await serveMillrace({ MILLRACE_PROJECT: "other" }, folder);
  const otherKey = keyIn(other.output())!;
  assert.equal(await statusOf(other.baseUrl, "/api/0.5/projects/other/assets", otherKey), 200);
  assert.equal(await statusOf(other.baseUrl, "/api/0.5/projects/default/assets", otherKey), 403);
  other.child.kill("SIGTERM");
  await other.ended;
});

test("a second process on the folder is refused by name and pid; kill -9 frees it", async () => {
  const holder = await serveMillrace({}, folder);
  const second = await runMillrace(["serve"], { MILLRACE_PORT: "0" }, folder).ended;
  assert.equal(second.status, 1);
  assert.equal(
    second.errors,
    `The data folder ${join(folder, "millrace-data")} is in use by another process (pid ${holder.child.pid}).
Stop that one, or set MILLRACE_DATA to another folder.\n`,
  );
  assert.equal((await fetch(`${holder.baseUrl}/health`)).status, 200, "the holder is not disturbed");
  holder.child.kill("SIGKILL");
  await holder.ended;
  const next = await serveMillrace({}, folder);
  next.child.kill("SIGTERM");
  assert.equal((await next.ended).status, 0);
});

test("an address that is taken is refused; the key is shown by the start that serves", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const refused = await runMillrace(["serve"], { MILLRACE_PORT: String(port) }, folder).ended;
  taken.close();
  assert.equal(refused.status, 1);
  assert.equal(
    refused.errors,
    `Cannot listen on 127.0.0.1 port ${port}: ` +
      "another program has this port; stop it, or set MILLRACE_PORT to another\n",
  );
  const ofClients = { MILLRACE_KEY: "of the importer", MILLRACE_SERVER: "http://of-the-importer" };
  const server = await serveMillrace(ofClients, folder);
  assert.ok(keyIn(server.output()));
  server.child.kill("SIGTERM");
  await server.ended;
});

test("keys come and go beside a running server, within a second", async () => {
  const server = await serveMillrace({}, folder);
  const key = async (...words: string[]) => runMillrace(["key", ...words], {}, folder).ended;
  const made = await key("create", "--label", "gateway");
  const gateway = keyIn(made.output)!;
  const path = "/api/0.5/projects/default/assets";
  assert.equal(await statusOf(server.baseUrl, path, gateway), 200);
  const { output } = await key("list");
  const id = /^(\d+) .* gateway$/m.exec(output)![1]!;
  assert.ok(!output.includes(gateway));
  assert.equal((await key("revoke", id)).status, 0);
  const revokedMs = performance.now();
  while ((await statusOf(server.baseUrl, path, gateway)) === 200) await delay(50);
  // A second, and a busy machine.
  assert.ok(performance.now() - revokedMs < 4_000);
  assert.equal(await statusOf(server.baseUrl, path, gateway), 401);
  const again = await key("revoke", id);
  assert.equal(again.status, 1);
  assert.equal(again.errors.trim(), `The project default has no key ${id}`);
  server.child.kill("SIGTERM");
  await server.ended;
});

test("login-link prints a link beside a running server, which works once", async () => {
  const server = await serveMillrace(
    { MILLRACE_ADMIN_KEY: "a key of 16 or more".replaceAll(" ", "-") },
    folder,
  );
  assert.match(server.output(), /sign-in#token=ml_/, "also when the settings have the key");
  const { port } = new URL(server.baseUrl);
  const loginLink = (environment: Record<string, string>, ...words: string[]) =>
    runMillrace(["login-link", ...words], environment, folder).ended;
  const { status, output } = await loginLink({ MILLRACE_PORT: port });
  assert.equal(status, 0);
  const link = /^ {2}(\S+)$/m.exec(output)![1]!;
  assert.equal(await statusOfLink(server.baseUrl, link), 200);
  assert.equal(await statusOfLink(server.baseUrl, link), 401);
  const named = await loginLink({ MILLRACE_BASE_URL: "https://plant.example/millrace/" });
  assert.match(named.output, /^ {2}https:\/\/plant\.example\/millrace\/sign-in#token=ml_/m);
  const nowhere = await loginLink({}, "--project", "nowhere");
  assert.deepEqual([nowhere.status, nowhere.output], [1, ""]);
  assert.match(nowhere.errors, /There is no project nowhere/);
  const anyPort = await loginLink({ MILLRACE_PORT: "0" });
  assert.match(anyPort.errors, /set MILLRACE_BASE_URL/);
  assert.equal((await loginLink({}, "--days", "2")).status, 2);
  server.child.kill("SIGTERM");
  await server.ended;
});

test("keys act for the named account; revoking the last one locks no caller out", async () => {
  const server = await serveMillrace({}, folder);
  const key = async (...words: string[]) => runMillrace(["key", ...words], {}, folder).ended;
  const made = await key("create", "--user", "historian", "--days", "30");
  assert.match(made.output, /^Key \d+ of project default for historian, shown this once:/);
  assert.match(made.output, /historian is in no group yet/);
  const path = "/api/0.5/projects/default/assets";
  assert.equal(await statusOf(server.baseUrl, path, keyIn(made.output)!), 403);
  const { output } = await key("list");
  assert.match(output, /historian\s+made on the command line$/m);
  const [first] = /^\d+(?= .* administrator$)/m.exec(output)!;
  assert.equal((await key("revoke", first)).status, 0);
  const again = await key("create");
  assert.equal(await statusOf(server.baseUrl, path, keyIn(again.output)!), 200);
  const wrong = await key("create", "--days", "soon");
  assert.equal(wrong.status, 2);
  assert.match(wrong.errors, /^--days must be a number of days from 1 to 99999, but is "soon"\./);
  server.child.kill("SIGTERM");
  await server.ended;
});

test("projects are made and listed beside a running server, which serves them at once", async () => {
  const server = await serveMillrace({}, folder);
  const project = async (...words: string[]) => runMillrace(["project", ...words], {}, folder).ended;
  const made = await project("create", "north-plant");
  const north = keyIn(made.output)!;
  assert.equal(await statusOf(server.baseUrl, "/api/0.5/projects/north-plant/assets", north), 200);
  assert.equal(await statusOf(server.baseUrl, "/api/0.5/projects/default/assets", north), 403);
  const { output } = await project("list");
  assert.deepEqual(
    output
      .trim()
      .split("\n")
      .map((line) => line.split(/\s+/)[2]),
    ["project", "default", "north-plant"],
  );
  const again = await project("create", "north-plant");
  assert.equal(again.status, 1);
  assert.equal(
    again.errors.trim(),
    "The project north-plant exists already; for a new key: millrace key create --project north-plant",
  );
  const wrong = await project("create", "-plant");
  assert.equal(wrong.status, 2);
  assert.match(wrong.errors, /^"-plant" is not a project name|^There is no|Unknown option/);
  server.child.kill("SIGTERM");
  await server.ended;
});

test("MILLRACE_ADMIN_KEY is the key, is not printed, and a new one takes its place", async () => {
  writeFileSync(
    join(folder, "millrace.env"),
    "MILLRACE_ADMIN_KEY=chosen-by-the-operator\nMILLRACE_PROJECT=plant\n",
  );
  const path = "/api/0.5/projects/plant/assets";
  const first = await serveMillrace({}, folder);
  assert.ok(!first.output().includes("key"));
  assert.equal(await statusOf(first.baseUrl, path, "chosen-by-the-operator"), 200);
  first.child.kill("SIGTERM");
  await first.ended;
  const second = await serveMillrace({ MILLRACE_ADMIN_KEY: "another-choice-of-theirs" }, folder);
  assert.equal(await statusOf(second.baseUrl, path, "another-choice-of-theirs"), 200);
  assert.equal(await statusOf(second.baseUrl, path, "chosen-by-the-operator"), 401);
  second.child.kill("SIGTERM");
  await second.ended;
});

test("an older Node says how to start with the right one", async () => {
  const older = "data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'20.1.0'}})";
  const entry = fileURLToPath(new URL("./start.js", import.meta.url));
  const ended = promisify(execFile)(process.execPath, ["--import", older, entry, "version"]);
  const { code, stderr } = await ended.then(
    () => assert.fail("it ran"),
    (problem: { code: number; stderr: string }) => problem,
  );
  assert.equal(code, 1);
  assert.match(stderr, /^Millrace needs Node\.js 26, and this is 20\.1\.0\..*`npm start`/);
});

test("settings that are unknown or wrong are refused by name before anything is made", async () => {
  const cases: [environment: Record<string, string>, says: RegExp][] = [
    [
      { MILLRACE_PROT: "1" },
      /^Unknown settings: MILLRACE_PROT\. Known are:\n {2}MILLRACE_HOST(?![\s\S]*\]\()/,
    ],
    [{ MILLRACE_PORT: "http" }, /^MILLRACE_PORT must be a number from 0 to 65535, but is "http"/],
    [{ MILLRACE_PROJECT: "-plant" }, /^MILLRACE_PROJECT must be at most 128 letters, digits and hyphens/],
    [{ MILLRACE_ADMIN_KEY: "too-short" }, /^MILLRACE_ADMIN_KEY must be at least 16 [^"]*blanks$/m],
    [{ MILLRACE_LOG_LEVEL: "loud" }, /^MILLRACE_LOG_LEVEL must be one of trace, debug,/],
    [{ MILLRACE_BASE_URL: "plant" }, /^MILLRACE_BASE_URL must be an address such as/],
  ];
  const ended = await Promise.all(
    cases.map(([environment]) => runMillrace(["serve"], environment, folder).ended),
  );
  for (const [index, { status, errors }] of ended.entries()) {
    assert.equal(status, 1);
    assert.match(errors, cases[index]![1]);
  }
  assert.throws(() => statSync(join(folder, "millrace-data")));
});

test("a word that is no command is refused with the list of commands", async () => {
  for (const words of [["constructor"], ["key", "constructor"]]) {
    const { status, errors } = await runMillrace(words, {}, folder).ended;
    assert.equal(status, 2);
    assert.match(errors, /^There is no (command |action )?"(key )?constructor"\.\n\n[\s\S]*Usage: millrace /);
  }
});

/** Over a new connection. */
const isReached = (baseUrl: string): Promise<boolean> =>
  new Promise((resolve) => {
    const asked = get(`${baseUrl}/health`, { agent: false }, (response) => {
      response.resume().on("close", () => resolve(true));
    });
    asked.on("error", () => resolve(false));
  });

test("SIGTERM finishes a request whose body is still on its way, and accepts no other", async () => {
  const { baseUrl, output, child, ended } = await serveMillrace(withFront, folder);
  const key = keyIn(output())!;
  const body = JSON.stringify({ items: [{ name: "late" }] });
  const answered = new Promise<number>((resolve, reject) => {
    const headers = { "api-key": key, "content-length": body.length, expect: "100-continue" };
    const sent = request(
      `${baseUrl}/api/0.5/projects/default/assets`,
      { method: "POST", headers },
      (response) => {
        response.resume().on("end", () => resolve(response.statusCode!));
      },
    );
    sent.on("error", reject);
    // The server has the head of the request.
    sent.on("continue", async () => {
      sent.write(body.slice(0, 10));
      child.kill("SIGTERM");
      while (await isReached(baseUrl)) await delay(20);
      sent.end(body.slice(10));
    });
    sent.flushHeaders();
  });
  assert.equal(await answered, 200);
  const answeredMs = Date.now();
  assert.equal((await ended).status, 0);
  assert.ok(
    Date.now() - answeredMs < limits.shutdownMsMax / 2,
    "a connection kept alive does not hold it open",
  );
});

test("a second signal ends a stop that waits, unless it is the first one again", async () => {
  const { baseUrl, output, child, ended } = await serveMillrace(withFront, folder);
  const headers = { "api-key": keyIn(output())!, "content-length": 100, expect: "100-continue" };
  const sent = request(`${baseUrl}/api/0.5/projects/default/assets`, { method: "POST", headers });
  sent.on("error", () => {});
  const isWaiting = once(sent, "continue");
  sent.flushHeaders();
  await isWaiting;
  child.kill("SIGINT");
  child.kill("SIGINT");
  while (await isReached(baseUrl)) await delay(20);
  await delay(1_100);
  assert.equal(child.exitCode, null);
  const signalled = performance.now();
  child.kill("SIGINT");
  assert.equal((await ended).status, 1);
  assert.ok(performance.now() - signalled < limits.shutdownMsMax / 2);
});

test("SIGTERM lets a large response in progress complete", async () => {
  const { baseUrl, output, child, ended } = await serveMillrace(withFront, folder);
  const ask = (path: string, body: unknown) =>
    fetch(`${baseUrl}/api/0.5/projects/default/timeseries${path}`, {
      method: "POST",
      headers: { "api-key": keyIn(output())! },
      body: JSON.stringify(body),
    });
  const count = 50_000;
  const points = Array.from({ length: count }, (_, index) => ({ timestamp: index, value: index / 7 }));
  const names = ["a", "b", "c", "d", "e", "f", "g", "h"].map((name) => ({ name }));
  await ask("", { items: names });
  for (const { name } of names) await ask(`/data/${name}`, { items: points });
  const { body } = await ask("/dataquery", { items: names, start: 0, limit: count });
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of body!) {
    if (text === "") {
      child.kill("SIGTERM");
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    text += decoder.decode(chunk as Uint8Array, { stream: true });
  }
  const { data } = JSON.parse(text) as { data: { items: { datapoints: unknown[] }[] } };
  assert.deepEqual(
    data.items.map((item) => item.datapoints.length),
    names.map(() => count),
  );
  assert.equal((await ended).status, 0);
});

test("SIGTERM ends the server in time while long computations run", async () => {
  const server = await serveMillrace(withFront, folder);
  const headers = { "api-key": keyIn(server.output())! };
  const post = (path: string, body: unknown) =>
    fetch(`${server.baseUrl}/api/0.5/projects/default${path}`, {
      ...{ method: "POST", headers, body: JSON.stringify(body) },
    });
  const name = (at: number) => `${at.toString(36).padStart(3, "x")}${"\u{fdfa}".repeat(200)}`;
  const names = Array.from({ length: 2_000 }, (_, at) => name(at));
  assert.equal((await post("/assets", { items: names.map((one) => ({ name: one })) })).status, 200);
  const body = { tagIds: names.slice(0, limits.tagsPerMatchMax), metadata: { fuzzyThreshold: 10 } };
  const matchings = [post("/tagmatching", body), post("/tagmatching", body)];
  const ended = Promise.allSettled(matchings);
  const isRunning = async () => {
    const text = await (await fetch(`${server.baseUrl}/metrics`)).text();
    return text.includes("millrace_computations_running 2");
  };
  while (!(await isRunning())) await delay(20);
  const signalled = performance.now();
  server.child.kill("SIGTERM");
  const { status } = await server.ended;
  const tookMs = performance.now() - signalled;
  assert.equal(status, 0);
  assert.ok(tookMs < limits.shutdownMsMax + 60_000, `${tookMs} ms`);
  for (const one of await ended) assert.equal(one.status, "rejected");
});
