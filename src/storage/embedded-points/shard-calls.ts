// What the main thread and a shard's thread say to each other.
import type { DetailsOf, FailureCode } from "../../errors.ts";
import type { AggregateColumns, AggregateQuery, PointColumns, ScanQuery, SeriesId } from "../points.ts";
import type { Place } from "./frame-memory.ts";
import type { FoundPoint } from "./series-reader.ts";
import type { ShardStats } from "./shard.ts";
import type { ShardIdentity } from "./shard-state.ts";

export interface LatestQuery {
  readonly series: readonly { readonly series: SeriesId; readonly isString: boolean }[];
  readonly beforeMs: number;
}

export interface LatestFound {
  readonly point: FoundPoint;
  /** The series has no later point. */
  readonly isNewest: boolean;
}

/** Each call with what it asks and what it answers. */
export interface ShardCalls {
  scan: { asks: ScanQuery; answers: PointColumns };
  aggregate: { asks: AggregateQuery; answers: AggregateColumns };
  latest: { asks: LatestQuery; answers: (LatestFound | undefined)[] };
  stats: { asks: undefined; answers: ShardStats };
  /** Answers when every change up to this sequence number is in blocks on disk. */
  checkpoint: { asks: number; answers: undefined };
  close: { asks: undefined; answers: undefined };
}
export type ShardCall = keyof ShardCalls;

export interface ToApply {
  readonly sequence: number;
  /** The frame of the whole change, of which the shard takes what is its own. */
  readonly place: Place;
  /** Read back from the journal at the start: nobody is to be slowed down. */
  readonly isReplay: boolean;
}

export type ToShard =
  | { readonly kind: "apply"; readonly changes: readonly ToApply[] }
  | { readonly kind: "ask"; readonly id: number; readonly call: ShardCall; readonly query: unknown };

export type FromShard =
  | { readonly kind: "open"; readonly applied: number }
  /** So many more changes were applied. */
  | { readonly kind: "confirmed"; readonly changes: number }
  | { readonly kind: "answer"; readonly id: number; readonly answer: unknown }
  | { readonly kind: "failed"; readonly id: number; readonly refusal?: Refusal; readonly problem: string };

/** A `Failure` without its class, which does not survive the way between threads. */
export interface Refusal {
  readonly code: FailureCode;
  readonly details: DetailsOf<FailureCode>;
}

export interface ShardStart extends ShardIdentity {
  /** How many there are. */
  readonly shards: number;
  readonly path: string;
  readonly file: string;
  readonly blockPoints: number;
}
