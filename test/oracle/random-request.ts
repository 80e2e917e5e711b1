// A random request, and the response that a naive model of the rights expects.
import type { Acl, Action } from "../../src/access/capabilities.ts";
import { type DetailsOf, type FailureCode, fail } from "../../src/errors.ts";
import type { Client, Reply } from "./client.ts";
import type { Plant, Rights } from "./plant.ts";
import type { Random } from "./random.ts";

export interface RandomRequest {
  /** `GET /api/0.5/projects/demo/assets`: method and path from the root. */
  readonly ask: string;
  /** Bytes are sent as they are, anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Who holds it for nothing at all gets 403. */
  readonly needs: readonly [Acl, Action];
  /**
   * The compared part of a successful response; it may send further requests, such as for the other pages.
   */
  readonly seen: (reply: Reply, client: Client) => unknown;
  readonly expected: unknown;
  /** Of refusals the status alone is compared, instead of all that they say. */
  readonly refusals?: "by status";
  /** Changes after a successful response. */
  readonly changed?: (reply: Reply, admin: Client) => void | Promise<void>;
}

/** How a protocol reads or changes the plant: random requests. */
export interface Dialect {
  readonly name: string;
  /** The part of all reads. */
  readonly share: number;
  readonly reads?: (caller: RandomCaller) => RandomRequest;
  readonly writes?: (caller: RandomCaller) => RandomRequest;
}

export interface RandomCaller {
  readonly plant: Plant;
  readonly rights: Rights;
  readonly random: Random;
}

/** A refusal as an expected response: the exact status and body. */
export function refused<Code extends FailureCode>(code: Code, details: DetailsOf<Code>) {
  const { status, message, members } = fail(code, details);
  return { status, error: { code: status, message, ...members } };
}

export const isRefusal = (expected: unknown): boolean =>
  typeof expected === "object" && expected !== null && "status" in expected;
