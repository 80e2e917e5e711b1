// Copies of audit records in a file and at real receivers of syslog: complete and in order, also after a
// target was away and after a restart of the server.
import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { temporaryFolder } from "../../test/support/folder.ts";
import { startTestServer, type TestServer } from "../../test/support/server.ts";
import { parseSyslogAddress } from "./copy-targets.ts";

const opened: TestServer[] = [];
after(() => Promise.all(opened.map((server) => server.close())));

async function started(audit: object): Promise<TestServer> {
  const server = await startTestServer({ audit: { mode: "changes", ...audit } });
  opened.push(server);
  return server;
}

const addGroup = async (server: TestServer, name: string) => {
  const made = await server.ask.v06("POST /groups", { items: [{ name, capabilities: [] }] });
  assert.equal(made.status, 201, made.text);
};

const recordsOf = async (server: TestServer) =>
  (await server.ask.v06("GET /audit?limit=1000")).items
    .toReversed()
    .map((one) => ({ project: "demo", ...one }));

/** Waits until the copies have as many records as the log, and compares them. A record may come twice. */
async function sameAs(server: TestServer, read: () => readonly { readonly seq?: unknown }[]): Promise<void> {
  const expected = await recordsOf(server);
  const distinct = () => [...new Map(read().map((one) => [one.seq, one])).values()];
  await until(async () => distinct().length >= expected.length, "the copies lack records");
  assert.deepEqual(distinct(), expected);
}

async function metric(server: TestServer, line: string): Promise<void> {
  const shows = async () => (await (await fetch(`${server.baseUrl}/metrics`)).text()).includes(line);
  await until(shows, `the metrics lack ${line}`);
}

/** Waits with a bound: the test must fail when a datagram is lost, and not hang. */
async function until(holds: () => Promise<boolean>, problem: string): Promise<void> {
  const endMs = performance.now() + 60_000;
  while (!(await holds())) {
    assert.ok(performance.now() < endMs, problem);
    await pause(20);
  }
}

test("a file gets every record, also after it could not be written and after a restart", async () => {
  const path = join(temporaryFolder(), "audit.jsonl");
  const lines = () => {
    try {
      const written = readFileSync(path, "utf8").split("\n").slice(0, -1);
      return written.map((line) => JSON.parse(line) as { seq: number });
    } catch {
      return [];
    }
  };
  const server = await started({ file: path });
  await addGroup(server, "first");
  await sameAs(server, lines);
  const before = lines();
  rmSync(path);
  mkdirSync(path);
  await addGroup(server, "while it is away");
  await metric(server, 'millrace_audit_copy_failing{target="file"} 1');
  await metric(server, 'millrace_audit_copy_waiting{target="file"} 1');
  rmdirSync(path);
  await sameAs(server, () => [...before, ...lines()]);
  await metric(server, 'millrace_audit_copy_failing{target="file"} 0');
  await server.restart();
  await addGroup(server, "after a restart");
  await sameAs(server, () => [...before, ...lines()]);
});

const header = /^<(\d+)>1 \S+Z \S+ millrace \d+ audit - (\{.*\})$/s;

function recordIn(message: string): { seq?: unknown; result?: unknown } {
  const [, priority, json] = header.exec(message) ?? [];
  const record = JSON.parse(json!) as { seq: number; result: string };
  assert.equal(Number(priority), 13 * 8 + (record.result === "done" ? 6 : 4));
  return record;
}

test("a receiver of datagrams gets every record", async () => {
  const receiver = createSocket("udp4");
  const messages: string[] = [];
  receiver.on("message", (message) => messages.push(message.toString()));
  receiver.bind(0, "127.0.0.1");
  await once(receiver, "listening");
  const server = await started({
    syslog: { protocol: "udp", host: "127.0.0.1", port: receiver.address().port },
  });
  await addGroup(server, "with a line\nbreak");
  await server.ask.v06("POST /groups/delete", { items: [12345] });
  await sameAs(server, () => messages.map(recordIn));
  receiver.close();
});

/** A receiver that takes messages with their lengths. */
async function receiverAt(port: number, messages: string[]): Promise<Server> {
  const receiver = createServer((socket) => {
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(Buffer.from(chunk)));
    socket.on("error", () => undefined);
    socket.on("end", () => {
      for (let rest = Buffer.concat(chunks); rest.length > 0; ) {
        const blank = rest.indexOf(" ");
        const end = blank + 1 + Number(rest.subarray(0, blank));
        messages.push(rest.subarray(blank + 1, end).toString());
        rest = rest.subarray(end);
      }
    });
  });
  receiver.listen(port, "127.0.0.1");
  await once(receiver, "listening");
  return receiver;
}

test("a receiver over TCP gets every record, also those from while it was away", async () => {
  const messages: string[] = [];
  const first = await receiverAt(0, messages);
  const { port } = first.address() as AddressInfo;
  const server = await started({ syslog: { protocol: "tcp", host: "127.0.0.1", port } });
  await addGroup(server, "über");
  await sameAs(server, () => messages.map(recordIn));
  await new Promise((resolve) => first.close(resolve));
  await addGroup(server, "while it is away");
  await metric(server, 'millrace_audit_copy_failing{target="syslog"} 1');
  const second = await receiverAt(port, messages);
  await sameAs(server, () => messages.map(recordIn));
  second.close();
});

test("the address of a receiver is checked", () => {
  assert.deepEqual(parseSyslogAddress("udp://[::1]:514"), { protocol: "udp", host: "::1", port: 514 });
  assert.deepEqual(parseSyslogAddress("tcp://logs.plant:601"), {
    ...{ protocol: "tcp", host: "logs.plant", port: 601 },
  });
  for (const wrong of [
    "logs.plant",
    "http://logs:1",
    "udp://logs",
    "udp://logs:0",
    "udp://logs:65536",
    "tcp://:1",
  ])
    assert.equal(parseSyslogAddress(wrong), undefined, wrong);
});
