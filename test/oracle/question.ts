// What is asked of a server, and what a plain reading of the rights says the answer must be.
import type { Acl, Action } from "../../src/access/capabilities.ts";
import { type DetailsOf, type FailureCode, fail } from "../../src/errors.ts";
import type { Client, Reply } from "./client.ts";
import type { Plant, Rights } from "./plant.ts";
import type { Random } from "./random.ts";

export interface Question {
  /** `GET /api/0.5/projects/demo/assets`: method and path from the root. */
  readonly ask: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Who holds it for nothing at all gets 403. */
  readonly needs: readonly [Acl, Action];
  /** The part of a good answer that is compared; it may ask on, such as for the other pages. */
  readonly seen: (reply: Reply, client: Client) => unknown;
  readonly expected: unknown;
  /** Of refusals the status alone is compared, instead of all that they say. */
  readonly refusals?: "by status";
  /** What has changed when the answer is good. */
  readonly changed?: (reply: Reply, admin: Client) => void | Promise<void>;
}

/** How a protocol asks about the plant: a question, or a change, by chance. */
export interface Dialect {
  readonly name: string;
  /** Of all questions. */
  readonly share: number;
  readonly reads: (asker: Asker) => Question;
  readonly writes?: (asker: Asker) => Question;
}

export interface Asker {
  readonly plant: Plant;
  readonly rights: Rights;
  readonly random: Random;
}

/** A refusal as an expected answer: status and body, to the letter. */
export function refused<Code extends FailureCode>(code: Code, details: DetailsOf<Code>) {
  const { status, message, members } = fail(code, details);
  return { status, error: { code: status, message, ...members } };
}

export const isRefusal = (expected: unknown): boolean =>
  typeof expected === "object" && expected !== null && "status" in expected;
