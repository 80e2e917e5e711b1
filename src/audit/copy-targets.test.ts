// Syslog over UDP: many records over one socket, and records that are too long for a datagram.
import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { limits } from "../limits.ts";
import { type CopiedRecord, syslogTarget } from "./copy-targets.ts";

const recordOf = (seq: number): CopiedRecord => ({
  ...{ project: "demo", seq, account: "anna", credential: "key", time: 1, address: "::1", result: "done" },
  ...{ kind: "deletion", action: "delete", resource: "assets", ids: ["1"], idsCount: 1 },
  ...{ previousHash: "0".repeat(64), hash: "1".repeat(64) },
});

/** The messages of a receiver that gets these records; one that is lost is sent again. */
async function received(records: readonly CopiedRecord[]): Promise<readonly Buffer[]> {
  const receiver = createSocket("udp4");
  const messages = new Map<unknown, Buffer>();
  receiver.on("message", (message) => messages.set(recordIn(message)["seq"], message));
  receiver.bind(0, "127.0.0.1");
  await once(receiver, "listening");
  const target = syslogTarget({ protocol: "udp", host: "localhost", port: receiver.address().port });
  try {
    while (messages.size < records.length) {
      await target.send(records);
      await pause(20);
    }
  } finally {
    receiver.close();
  }
  return [...messages.values()];
}

const recordIn = (message: Buffer) => JSON.parse(/\{.*\}$/s.exec(message.toString())![0]);

test("many datagrams go over one socket without a listener for each", async () => {
  const warnings: string[] = [];
  const note = ({ message }: Error) => warnings.push(message);
  process.on("warning", note);
  const records = Array.from({ length: 3 * limits.auditDatagramsAtOnce }, (_, index) => recordOf(index + 1));
  assert.equal((await received(records)).length, records.length);
  process.off("warning", note);
  assert.deepEqual(warnings, []);
});

test("a record that is too long for a datagram is sent without ids, and says so", async () => {
  const ids = new Array<string>(limits.auditIdsMax).fill("€".repeat(limits.auditIdLengthMax));
  const requestId = "\u0001".repeat(15_000);
  const long = { ...recordOf(1), ids, idsCount: 900, requestId };
  const [message] = await received([long]);
  assert.ok(message!.length <= limits.auditDatagramBytesMax);
  assert.deepEqual(recordIn(message!), {
    ...{ ...long, ids: [], isShortened: true },
    requestId: requestId.slice(0, limits.auditIdLengthMax),
  });
});
