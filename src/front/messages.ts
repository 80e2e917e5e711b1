// The messages between the main thread and front threads.
import type { MessagePort } from "node:worker_threads";
import type { KnownCaller } from "../access/caller-cache.ts";
import type { Settings } from "../config.ts";
import type { ErrorMessage } from "../errors/between-threads.ts";
import type { ThreadCounts } from "../http/metrics.ts";
import type { PointsConnection } from "../storage/embedded-points/connected-points.ts";
import type { PointsStore } from "../storage/points.ts";

/** The settings that a front thread needs. */
export type FrontSettings = Pick<Settings, "data" | "trustedProxies" | "baseUrl" | "project" | "logLevel">;

/** A route that the main thread serves. */
export interface HiddenRoute {
  readonly method: string;
  /** Its pattern in the notation of Fastify. */
  readonly url: string;
}

/** The data that a front thread gets at its start. */
export interface FrontStart {
  readonly settings: FrontSettings;
  /** The number of front threads, which divide the memory for bodies, responses and names of series. */
  readonly threads: number;
  /** The Unix socket where the main thread serves all other requests. */
  readonly innerSocket: string;
  /** Of `ConnectionBalance`. */
  readonly connections: { readonly counts: Int32Array; readonly thread: number };
  readonly hiddenRoutes: readonly HiddenRoute[];
  readonly cursorSecret: Uint8Array;
  readonly memory: SharedMemory;
  readonly points: PointsConnection;
  /** For `CallsToMain`. */
  readonly main: MessagePort;
}

/** Memory that the main thread changes and front threads read. */
export interface SharedMemory {
  /** Of `Generations`. */
  readonly generations: Int32Array;
  /** Of `Rights`. */
  readonly rightsVersion: Int32Array;
  /** One cell: 1 while the disk is too full for writes. */
  readonly diskFull: Int32Array;
}

/** The calls of a front thread to the main thread, with the types of their input and result. */
export interface CallsToMain {
  /** The caller of an API key; undefined if it is not valid. */
  callerOf: {
    input: { readonly key: string; readonly address: string };
    result: KnownCaller | undefined;
  };
  append: { input: Parameters<PointsStore["append"]>[0]; result: undefined };
}

/** The calls of the main thread to a front thread. */
export interface CallsToFront {
  /** Begins to serve. */
  listen: { input: { readonly host: string; readonly port: number }; result: undefined };
  counts: { input: undefined; result: ThreadCounts };
  /** From now on, no connection is ended for the balance of threads. */
  prepareToClose: { input: undefined; result: undefined };
  /** Completes accepted requests, and stops. */
  close: { input: { readonly milliseconds: number }; result: undefined };
}

/** Messages without a reply. */
export type NewsForMain =
  | { readonly kind: "flush"; readonly shard: number }
  | { readonly kind: "refused"; readonly problem: string };

export interface ThreadCall<Calls, Name extends keyof Calls = keyof Calls> {
  readonly kind: "call";
  readonly id: number;
  readonly name: Name;
  readonly input: Calls[Name] extends { input: infer Input } ? Input : never;
}

export type ThreadReply =
  | { readonly kind: "result"; readonly id: number; readonly result: unknown }
  | ({ readonly kind: "failed"; readonly id: number } & ErrorMessage);
