// Requests to a thread: each gets its own reply, and none waits for a thread that has ended.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { WorkerRpc } from "./worker-rpc.ts";

interface Request {
  readonly id?: number;
  readonly task: "double" | "wait" | "throw" | "exit";
  readonly value?: number;
}

interface Reply {
  readonly id: number;
  readonly value: number;
}

/** Replies to pairs of requests in reverse order. */
const code = `
  const { parentPort } = require("node:worker_threads");
  const replies = [];
  parentPort.on("message", ({ id, task, value }) => {
    if (task === "throw") throw new Error("on purpose");
    if (task === "exit") process.exit();
    if (task === "double" && replies.push({ id, value: 2 * value }) === 2)
      for (const reply of replies.splice(0).reverse()) parentPort.postMessage(reply);
  });
`;

const open = () => new WorkerRpc<Request, Reply>(new Worker(code, { eval: true }), "the test thread");

test("each request gets its own reply, in whatever order replies come", async () => {
  const rpc = open();
  const ids = [rpc.newId(), rpc.newId()];
  const replies = ids.map((id, index) => rpc.request({ id, task: "double", value: index + 1 }));
  assert.deepEqual(await Promise.all(replies), [
    { id: ids[0], value: 2 },
    { id: ids[1], value: 4 },
  ]);
  rpc.post({ task: "exit" });
  await rpc.ended;
});

test("a canceled request is rejected with its reason, the others wait", async () => {
  const rpc = open();
  const canceled = rpc.request({ id: 1, task: "wait" });
  const other = rpc.request({ id: 2, task: "wait" });
  rpc.cancel(1, new Error("nobody waits"));
  await assert.rejects(canceled, /nobody waits/);
  rpc.post({ task: "exit" });
  await assert.rejects(other, /the test thread has ended/);
});

test("pending and later requests are rejected when the thread fails", async () => {
  const rpc = open();
  const pending = [1, 2].map((id) => assert.rejects(rpc.request({ id, task: "wait" }), /failed.*on purpose/));
  assert.equal(rpc.hasEnded, false);
  rpc.post({ task: "throw" });
  await Promise.all(pending);
  assert.equal(rpc.hasEnded, true);
  await assert.rejects(rpc.request({ id: 3, task: "double", value: 1 }), /failed.*on purpose/);
  await rpc.ended;
});
