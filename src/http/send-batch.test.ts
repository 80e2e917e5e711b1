// Responses that are sent together: at the end of a turn of the event loop, and before work that may be long.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { limits } from "../limits.ts";
import { SendBatch } from "./send-batch.ts";

let nowMs = 0;
let sent: string[] = [];
let batch = new SendBatch();

beforeEach(() => {
  nowMs = 0;
  sent = [];
  batch = new SendBatch(() => nowMs);
});

/** Sends it when the batch says so. */
async function send(name: string): Promise<void> {
  const waiting = batch.turnToSend();
  if (waiting) await waiting;
  sent.push(name);
}

/** Several responses in one turn: the first one of the next turn waits. */
async function sendSeveral(): Promise<void> {
  await Promise.all(["a", "b", "c"].map(send));
  sent = [];
}

/** Lets pending microtasks run. */
const microtasks = () => new Promise<void>((resolve) => process.nextTick(resolve));

test("the only response of a turn is sent at once, turn after turn", async () => {
  for (const name of ["a", "b", "c"]) {
    void send(name);
    assert.equal(sent.at(-1), name);
    await turnOfTheLoop();
  }
});

test("responses of one turn are sent at its end, in their order", async () => {
  await sendSeveral();
  const all = ["d", "e", "f"].map(send);
  await microtasks();
  assert.deepEqual(sent, []);
  await Promise.all(all);
  assert.deepEqual(sent, ["d", "e", "f"]);
});

test("a turn with one response alone ends the waiting of the next one", async () => {
  await sendSeveral();
  const alone = send("d");
  assert.deepEqual(sent, []);
  await alone;
  await turnOfTheLoop();
  void send("e");
  assert.deepEqual(sent, ["d", "e"]);
});

test("work that may be long lets the responses go first", async () => {
  await sendSeveral();
  void send("d");
  batch.beforeWork({ mayBeLong: true });
  await microtasks();
  assert.deepEqual(sent, ["d"]);
});

test("short work lets them go first when they have waited long enough", async () => {
  await sendSeveral();
  void send("d");
  nowMs = limits.sendTogetherMs / 2;
  void send("e");
  batch.beforeWork({ mayBeLong: false });
  await microtasks();
  assert.deepEqual(sent, []);
  nowMs = limits.sendTogetherMs;
  batch.beforeWork({ mayBeLong: false });
  await microtasks();
  assert.deepEqual(sent, ["d", "e"]);
});

test("a response that is ready sends those that have waited long enough, and goes with them", async () => {
  await sendSeveral();
  void send("d");
  nowMs = limits.sendTogetherMs / 2;
  void send("e");
  await microtasks();
  assert.deepEqual(sent, []);
  nowMs = limits.sendTogetherMs;
  void send("f");
  await microtasks();
  assert.deepEqual(sent, ["d", "e", "f"]);
});
