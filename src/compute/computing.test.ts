// The compute thread returns results, stops when a request ends, is shared fairly, and can be closed.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Endless } from "../../test/support/endless.compute.ts";
import { limits } from "../limits.ts";
import type { ComputationModule } from "./computation.ts";
import { Computing, type Requester } from "./computing.ts";

const endless: ComputationModule<Endless> = {
  url: new URL("../../test/support/endless.compute.ts", import.meta.url),
  size: "small",
};

const requester = (user: string, signal = new AbortController().signal): Requester => ({
  caller: { projectId: 1, user },
  signal,
});

const steps = (computing: Computing, who: Requester, count: number, characters = 1): Promise<string> => {
  const computation = { module: endless, start: { characters } };
  return computing.session(who, computation, (run) => run({ steps: count }));
};

const forever = Number.POSITIVE_INFINITY;

test("endless computations of a caller hold up no other, and are stopped with their requests", async () => {
  const computing = new Computing();
  try {
    const gone = new AbortController();
    const all = Array.from({ length: 10 }, () => steps(computing, requester("greedy", gone.signal), forever));
    const ended = Promise.allSettled(all);
    assert.equal(await steps(computing, requester("modest"), 20), "done");
    const { running, waiting } = computing.load;
    assert.deepEqual([running, waiting], [limits.computationsPerCaller, 10 - limits.computationsPerCaller]);
    gone.abort(new Error("the client went away"));
    for (const one of await ended) assert.match(String((one as PromiseRejectedResult).reason), /went away/);
    assert.deepEqual([computing.load.running, computing.load.waiting], [0, 0]);
    assert.equal(await steps(computing, requester("greedy"), 1), "done");
  } finally {
    await computing.close();
  }
});

test("a computation whose request has ended uses no more processor time", async () => {
  const computing = new Computing();
  try {
    const gone = new AbortController();
    const stopped = assert.rejects(steps(computing, requester("a", gone.signal), forever));
    assert.equal(await steps(computing, requester("b"), 5), "done");
    gone.abort(new Error("gone"));
    await stopped;
    await steps(computing, requester("b"), 1); // Its result comes after the end of the other one.
    const before = process.cpuUsage();
    await new Promise((resolve) => setTimeout(resolve, 400));
    const { user, system } = process.cpuUsage(before);
    assert.ok(user + system < 200_000, `${user + system} microseconds`);
  } finally {
    await computing.close();
  }
});

test("a computation that compares too many characters is refused", async () => {
  const computing = new Computing();
  try {
    const characters = limits.computationCharactersMax / 4;
    assert.equal(await steps(computing, requester("a"), 4, characters), "done");
    await assert.rejects(steps(computing, requester("a"), 5, characters), {
      failure: "computation-too-long",
    });
    assert.deepEqual([computing.load.running, computing.load.waiting], [0, 0]);
  } finally {
    await computing.close();
  }
});

test("the thread can be closed while it computes, which rejects its requests", async () => {
  const computing = new Computing();
  const waiting = assert.rejects(steps(computing, requester("a"), forever), /ended|stopping/);
  await steps(computing, requester("b"), 1);
  await computing.close();
  await waiting;
  await assert.rejects(steps(computing, requester("a"), 1), /stopping/);
});
