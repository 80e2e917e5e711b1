// Each pending call settles once, by its own id, or with all others when the other thread ends.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PendingCalls } from "./pending-calls.ts";

test("calls settle by their ids, in any order", async () => {
  const calls = new PendingCalls();
  const ids: number[] = [];
  const send = (id: number) => ids.push(id);
  const [first, second, third] = [calls.start(send), calls.start(send), calls.start(send)];
  calls.resolve(ids[1]!, "second");
  calls.reject(ids[0]!, new Error("first"));
  assert.equal(await second, "second");
  await assert.rejects(first, /first/);
  calls.rejectAll(() => new Error("ended"));
  await assert.rejects(third, /ended/);
  calls.resolve(ids[2]!, "too late");
  calls.resolve(99, "unknown");
});
