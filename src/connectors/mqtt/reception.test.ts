// The promises of the reception: few messages wait in memory, none is acknowledged before it is on disk, and
// each only on the connection on which it came.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { IPublishPacket } from "mqtt";
import { limits } from "../../limits.ts";
import { MqttReception, type ReceivedMessage } from "./reception.ts";

const packetOf = (messageId: number, bytes = 1): IPublishPacket => ({
  ...{ cmd: "publish", topic: "t", payload: Buffer.alloc(bytes), qos: 1, dup: false, retain: false },
  messageId,
});

/** A reception with a disk that takes a batch when `store` is called, and a socket of these packets. */
function started(packets: readonly IPublishPacket[]) {
  const problems: string[] = [];
  const acknowledged: string[] = [];
  const batches: (readonly ReceivedMessage[])[] = [];
  let disk: PromiseWithResolvers<void> | undefined;
  const reception = new MqttReception({
    onMessages: (messages) => {
      assert.equal(disk, undefined, "one batch at a time");
      batches.push(messages);
      disk = Promise.withResolvers();
      return disk.promise;
    },
    onProblem: (message) => problems.push(message),
    write: (bytes) => acknowledged.push(bytes.toString("hex")),
  });
  const socket = [...packets];
  const readOn = () => {
    const next = socket.shift();
    if (next) process.nextTick(() => reception.take(next, readOn));
  };
  readOn();
  const settle = async (how: (one: PromiseWithResolvers<void>) => void) => {
    const one = disk!;
    disk = undefined;
    how(one);
    await nextTurn();
  };
  return {
    ...{ reception, socket, batches, acknowledged, problems },
    store: () => settle(({ resolve }) => resolve()),
    fail: (message: string) => settle(({ reject }) => reject(new Error(message))),
  };
}

const packetsOf = (count: number, bytes?: number) =>
  Array.from({ length: count }, (_, i) => packetOf(i + 1, bytes));
const sizes = (batches: readonly (readonly unknown[])[]) => batches.map(({ length }) => length);

test("messages are acknowledged together and in order when their batch is on disk", async () => {
  const { batches, acknowledged, store } = started([packetOf(1), packetOf(0xff_ff), packetOf(3)]);
  await nextTurn();
  assert.deepEqual([sizes(batches), acknowledged], [[3], []]);
  await store();
  assert.deepEqual(acknowledged, ["40020001" + "4002ffff" + "40020003"]);
});

test("the socket is not read while the bound of messages waits for the disk", async () => {
  const messagesMax = limits.connectorMqttMessagesWaitingMax;
  const { reception, socket, batches, store } = started(packetsOf(messagesMax + 10));
  await nextTurn();
  assert.deepEqual([socket.length, reception.isHeld, sizes(batches)], [10, true, [messagesMax]]);
  await store();
  assert.deepEqual([socket.length, reception.isHeld, sizes(batches)], [0, false, [messagesMax, 10]]);
});

test("the socket is not read while the bound of bytes waits for the disk", async () => {
  const half = limits.connectorMqttBytesWaitingMax / 2;
  const { reception, socket, batches, store } = started(packetsOf(5, half));
  await nextTurn();
  assert.deepEqual([socket.length, reception.isHeld], [3, true]);
  await store();
  await store();
  await store();
  assert.deepEqual([sizes(batches), reception.isHeld], [[2, 2, 1], false]);
});

test("a message is not acknowledged on a later connection, nor when it could not be stored", async () => {
  const { reception, batches, acknowledged, problems, store, fail } = started([packetOf(1)]);
  await nextTurn();
  reception.connectionChanged();
  reception.take(packetOf(2), () => {});
  await store();
  assert.deepEqual([sizes(batches), acknowledged], [[1, 1], []]);
  await fail("the disk is full");
  assert.deepEqual([acknowledged, problems], [[], ["the disk is full"]]);
});

test("an end waits for the messages that were taken, and takes no others", async () => {
  const { reception, batches, acknowledged, store } = started([packetOf(1)]);
  await nextTurn();
  let isEnded = false;
  const ended = reception.end().then(() => (isEnded = true));
  reception.take(packetOf(2), () => assert.fail("the socket is read after the end"));
  await nextTurn();
  assert.equal(isEnded, false);
  await store();
  await ended;
  assert.deepEqual([sizes(batches), acknowledged], [[1], ["40020001"]]);
});
