// Reads the same buckets of several series with one request. A panned trend of 20 series would send 20: each
// takes a millisecond of the frames that follow the mouse.
import { statusOf } from "../../api/errors.ts";
import { type AggregateDatapoint, type Datapoint, postTimeseriesDataquery } from "../../api/generated.ts";
import type { PointsQuery } from "./read-points.ts";
import { lengthOfGranularity } from "./resolution.ts";

/** Decoding the response of more buckets would take longer than a frame. */
const bucketsPerResponse = 10_000;

export interface BucketsRequest {
  readonly project: string;
  readonly id: number;
  readonly query: PointsQuery;
  readonly signal: AbortSignal;
}

type Points = readonly (Datapoint | AggregateDatapoint)[];

interface Waiting {
  readonly request: BucketsRequest;
  /** Reads this series with a request of its own. */
  readonly alone: () => Promise<Points>;
  readonly resolve: (points: Points | Promise<Points>) => void;
  readonly reject: (problem: unknown) => void;
}

export class BucketReader {
  #waiting: Waiting[] = [];

  /** Reads together with the other requests of this turn of the event loop for the same buckets. */
  read(request: BucketsRequest, alone: () => Promise<Points>): Promise<Points> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) queueMicrotask(() => this.#send());
      this.#waiting.push({ request, alone, resolve, reject });
    });
  }

  #send(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    const groups = Map.groupBy(waiting, ({ request: { project, query } }) =>
      JSON.stringify([project, query]),
    );
    for (const group of groups.values()) {
      const size = Math.max(1, Math.floor(bucketsPerResponse / bucketsOf(group[0]!.request.query)));
      for (let from = 0; from < group.length; from += size) void readGroup(group.slice(from, from + size));
    }
  }
}

const bucketsOf = ({ start, end, granularity = "" }: PointsQuery): number =>
  Math.max(1, (Number(end) - Number(start)) / (lengthOfGranularity(granularity) ?? 1));

/** A series that cannot be read refuses the request of all; each then has its own response. */
async function readGroup(group: readonly Waiting[]): Promise<void> {
  const [first] = group;
  if (group.length === 1) return first!.resolve(first!.alone());
  try {
    const items = await readItems(group.map(({ request }) => request));
    for (const [index, { resolve }] of group.entries()) resolve(items[index]!.datapoints);
  } catch (problem) {
    const isRefused = [400, 403, 404].includes(statusOf(problem) ?? 0);
    for (const { alone, resolve, reject } of group) {
      if (isRefused) resolve(alone());
      else reject(problem);
    }
  }
}

/** The request ends early when no series of it is wanted any more. */
async function readItems(requests: readonly BucketsRequest[]) {
  const [{ project, query }] = requests as [BucketsRequest];
  const ending = new AbortController();
  const onAbort = () => {
    if (requests.every(({ signal }) => signal.aborted)) ending.abort();
  };
  for (const { signal } of requests) signal.addEventListener("abort", onAbort, { signal: ending.signal });
  const body = { items: requests.map(({ id }) => ({ id })), ...query };
  return (await postTimeseriesDataquery(project, body, {}, { signal: ending.signal })).data.items;
}
