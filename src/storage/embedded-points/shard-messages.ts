// The messages between the main thread and the thread of a shard.
import type { MessagePort } from "node:worker_threads";
import type { ErrorMessage } from "../../errors/between-threads.ts";
import type {
  AggregateColumns,
  AggregateQuery,
  Damage,
  OldPoints,
  OldPointsQuery,
  Point,
  PointColumns,
  PointSeries,
  ScanQuery,
} from "../points.ts";
import type { SharedSlice } from "./shared-ring.ts";
import type { ShardIdentity } from "./stored-shard-state.ts";

export interface LatestQuery {
  readonly series: readonly PointSeries[];
  readonly beforeMs: number;
}

export interface OldPointsInput {
  readonly series: readonly OldPointsQuery[];
  readonly blocksMax: number;
}

export interface LatestResult {
  readonly point: Point;
  /** The series has no later point. */
  readonly isNewest: boolean;
}

export interface ShardStats {
  readonly points: number;
  readonly blocks: number;
  readonly damage: readonly Damage[];
}

/** The calls to a shard, with the types of their input and result. */
export interface ShardCalls {
  /** The first call: returns the sequence number up to which every change is in blocks on disk. */
  open: { input: undefined; result: number };
  scan: { input: ScanQuery; result: PointColumns };
  aggregate: { input: AggregateQuery; result: AggregateColumns };
  latest: { input: LatestQuery; result: (LatestResult | undefined)[] };
  oldPoints: { input: OldPointsInput; result: OldPoints[] };
  stats: { input: undefined; result: ShardStats };
  /** Returns when every change up to this sequence number is in blocks on disk. */
  checkpoint: { input: number; result: undefined };
  /** Keeps the file as it is until `thaw`; changes go to its write-ahead log. */
  freeze: { input: undefined; result: undefined };
  thaw: { input: undefined; result: undefined };
  close: { input: undefined; result: undefined };
}
export type ShardCall = keyof ShardCalls;
/** The calls of an open shard. */
export type OpenShardCall = Exclude<ShardCall, "open">;

export interface RecordToApply {
  readonly sequence: number;
  /** The journal record of the whole change, from which the shard reads its own part. */
  readonly slice: SharedSlice;
  /** The record was recovered from the journal at start: there is no writer to slow down. */
  readonly isReplay: boolean;
}

export type MessageToShard =
  | { readonly kind: "connect"; readonly port: MessagePort; readonly cells: Int32Array }
  | { readonly kind: "help"; readonly buffer: SharedArrayBuffer }
  | { readonly kind: "apply"; readonly records: readonly RecordToApply[] }
  | { readonly kind: "calls"; readonly calls: readonly CallMessage[] };

/** The places of numbers that a shard, the main thread and connected threads share. All are modulo 2^32. */
export const cellOf = {
  /** Records that the main thread has passed to `apply`. */
  applied: 0,
  /** Records that it has sent to the shard. */
  sent: 1,
  /** Calls of connected threads that have no reply yet. */
  calls: 2,
} as const;

/** Calls by another thread than the main thread. */
export interface ConnectedCalls {
  readonly calls: readonly CallMessage[];
  /** The calls see so many records, counted since the start of the shard and modulo 2^32. */
  readonly after: number;
}

export interface CallMessage {
  readonly id: number;
  readonly call: ShardCall;
  readonly input: unknown;
}

/** The shard needs the slices of the next `records` records no more, in the order they were sent. */
export interface ConfirmedMessage {
  readonly kind: "confirmed";
  readonly records: number;
}

/** The shard begins a long read, and other threads may decode blocks of it (`shared-blocks.ts`). */
export interface HelpRequest {
  readonly kind: "help-wanted";
  readonly buffer: SharedArrayBuffer;
}

export type CallReply =
  | { readonly kind: "result"; readonly id: number; readonly result: unknown }
  | ({ readonly kind: "failed"; readonly id: number } & ErrorMessage);

/** The replies to the calls of one message come together, except those that take several turns. */
export type MessageFromShard = ConfirmedMessage | HelpRequest | CallReply | readonly CallReply[];

export interface ShardSettings extends ShardIdentity {
  /** Number of shards of the store. */
  readonly shards: number;
  readonly path: string;
  readonly file: string;
  readonly blockPoints: number;
  /** Memory for cached aggregates; 0 caches none. */
  readonly aggregateCacheBytes?: number;
}
