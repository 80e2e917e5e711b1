// Processes that refuse to end: the server waits for none of them beyond its limit.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runProcess } from "./bounded-process.ts";

const never = new AbortController().signal;

const processOf = (script: string) => ({
  command: ["/bin/sh", "-c", script] as const,
  ...{ folder: "/", environment: { PATH: "/usr/bin:/bin" }, user: undefined, attached: [] },
  input: (async function* () {
    yield Buffer.from("input");
  })(),
  read: async (result: AsyncIterable<Uint8Array>) =>
    Buffer.concat(await Array.fromAsync(result)).toString() || undefined,
  msMax: 60_000,
});

describe("a process", () => {
  test("reads its input, and is heard on its log and on descriptor 3", async () => {
    const { code, log, result } = await runProcess(processOf("cat >&3; echo out; exit 4"), never);
    assert.deepEqual([code, log.text, result], [4, "out\n", "input"]);
  });

  test("that leaves one with its log in another group is late, not waited for", async () => {
    // It ends once the other is in its own group.
    const script = `trap 'exit 0' USR1
setsid sh -c 'echo out; kill -USR1 "$0"; exec sleep 30' $$ &
while :; do sleep 0.01; done`;
    const { isLate, log, result } = await runProcess({ ...processOf(script), msMax: 500 }, never);
    assert.deepEqual([isLate, log.text, result], [true, "out\n", undefined]);
  });

  test("is ended when its result is not read to the end", async () => {
    const read = async (result: AsyncIterable<Uint8Array>) => {
      for await (const chunk of result) return chunk.length > 0;
      return false;
    };
    const { signal, result } = await runProcess({ ...processOf("yes >&3; sleep 60"), read }, never);
    assert.deepEqual([signal, result], ["SIGKILL", true]);
  });

  test("is ended when the server fails to feed it, or to take its result", async () => {
    const input = (async function* () {
      yield Buffer.from("some");
      throw new Error("the disk fails");
    })();
    await assert.rejects(runProcess({ ...processOf("sleep 60"), input }, never), /the disk fails/);
    const read = () => Promise.reject(new Error("the store fails"));
    await assert.rejects(runProcess({ ...processOf("sleep 60"), read }, never), /the store fails/);
  });

  test("that cannot be started is a fault", async () => {
    const command = ["/does/not/exist"] as const;
    await assert.rejects(runProcess({ ...processOf(""), command }, never), /ENOENT/);
  });
});
