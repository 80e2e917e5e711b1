// Refusals of HistoryRead: those that may pass are tried again, a bounded number of times.
import assert from "node:assert/strict";
import { test } from "node:test";
import { limits } from "../../limits.ts";
import { readHistory } from "./history.ts";
import type { PlantSession } from "./session.ts";
import type { Variable } from "./variables.ts";

interface Asked {
  readonly fromMs: number;
  readonly name: string;
  readonly isContinued: boolean;
}

class Given {
  constructor(options: object) {
    Object.assign(this, options);
  }
}

const bad = (name: string) => ({ statusCode: { value: 0x80000000, name }, continuationPoint: null });
const good = (times: readonly number[], isMore = false) => ({
  statusCode: { value: 0, name: "Good" },
  continuationPoint: isMore ? Buffer.from("more") : null,
  historyData: { dataValues: times.map((ms) => ({ sourceTimestamp: new Date(ms) })) },
});

/** Reads the variables from 1,000 ms on; `respond` is the server. */
async function read(names: readonly string[], respond: (asked: Asked, call: number) => object) {
  let call = 0;
  const asked: Asked[] = [];
  const session = {
    async historyRead(request: {
      historyReadDetails: { startTime: Date };
      nodesToRead: { nodeId: string; continuationPoint: Buffer | null }[];
    }) {
      call += 1;
      const results = request.nodesToRead.map(({ nodeId, continuationPoint }) => {
        const fromMs = request.historyReadDetails.startTime.getTime();
        const one = { fromMs, name: nodeId, isContinued: continuationPoint !== null };
        asked.push(one);
        return respond(one, call);
      });
      return { results };
    },
  };
  const plant = {
    ...{ session, perRequest: { history: 2 }, lost: new Promise(() => {}), isLost: () => false },
    library: { ReadRawModifiedDetails: Given, HistoryReadRequest: Given },
  } as unknown as PlantSession;
  const times: number[] = [];
  const waits: number[] = [];
  const refusals = readHistory(plant, {
    ranges: names.map((name) => ({ variable: { nodeId: name } as unknown as Variable, fromMs: 1_000 })),
    toMs: 9_000,
    onValues: async (_, values) => {
      times.push(...values.map(({ sourceTimestamp }) => sourceTimestamp!.getTime()));
    },
    waitMs: (attempt) => {
      waits.push(attempt);
      return 0;
    },
  });
  return { refusals: await refusals, asked, times, waits };
}

const namesOf = (refusals: readonly { variable: Variable; isPassing: boolean }[]) =>
  refusals.map(({ variable, isPassing }) => [String(variable.nodeId), isPassing]);

test("a refusal that passes is tried again from the last value on; others are not", async () => {
  const { refusals, asked, times } = await read(["a", "b", "c"], ({ name, isContinued }, call) => {
    if (name === "b") return bad("BadHistoryOperationUnsupported");
    if (name === "c") return call < 5 ? bad("BadTooManyOperations") : good([4_000]);
    if (isContinued) return bad("BadNoContinuationPoints");
    return call === 1 ? good([1_000, 2_000], true) : good([2_000, 3_000]);
  });
  assert.deepEqual(namesOf(refusals), [["b", false]]);
  assert.deepEqual(new Set(times), new Set([1_000, 2_000, 3_000, 4_000]));
  assert.equal(asked.filter(({ name }) => name === "b").length, 1);
  assert.deepEqual(
    asked.filter(({ name }) => name === "a").map(({ isContinued }) => isContinued),
    [false, true, false],
  );
});

test("a server that always refuses is left after a bounded number of attempts", async () => {
  const { refusals, asked, waits } = await read(["a"], () => bad("BadTooManyOperations"));
  assert.deepEqual(namesOf(refusals), [["a", true]]);
  assert.equal(asked.length, limits.connectorOpcUaHistoryAttempts);
  assert.equal(waits.length, asked.length - 1);
});

test("a request that fails as a whole is tried again", async () => {
  const { refusals, times } = await read(["a"], (_, call) => {
    if (call < 3) throw new Error("BadServerTooBusy");
    return good([5_000]);
  });
  assert.deepEqual([refusals, times], [[], [5_000]]);
});
