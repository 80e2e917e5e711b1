// Continues reads of datapoints that stopped at their limit: a cursor has the next time of each item.
import type { RequestContext } from "../context.ts";
import { cursorParameter } from "./envelope.ts";

/** The parameter `cursor`; an incomplete response has its value in the header `Link`. */
export const continuationQuery = { cursor: cursorParameter } as const;

/** Marks an item whose rows were all in earlier responses. */
const ended = "ended";

export class Continuation {
  /** The reference of relative times: the time of the first response. */
  readonly nowMs: number;
  readonly #ctx: RequestContext;
  readonly #request: unknown;
  readonly #nextTimes: readonly (number | typeof ended)[];

  /** `request` is the request without the cursor. Refuses (400) a cursor of another request. */
  constructor(ctx: RequestContext, request: unknown, cursor: string | undefined) {
    this.#ctx = ctx;
    this.#request = ["datapoints", ctx.projectId, request];
    const { after } = cursor === undefined ? {} : ctx.cursors.read([this.#request], cursor);
    const [nowMs = ctx.system.nowMs(), ...nextTimes] = (after ?? []) as readonly (number | typeof ended)[];
    this.nowMs = nowMs as number;
    this.#nextTimes = nextTimes;
  }

  /** The query of an item of the request, without the rows of earlier responses. */
  remaining<Query extends { readonly limit: number }>(query: Query, index = 0): Query & { fromMs?: number } {
    const nextMs = this.#nextTimes[index];
    if (nextMs === undefined) return query;
    return nextMs === ended ? { ...query, limit: 0 } : { ...query, fromMs: nextMs };
  }

  /** The cursor after the read rows of each item; undefined when all items are complete. */
  cursorAfter(rows: readonly { readonly nextMs: number | undefined }[]): string | undefined {
    if (rows.every(({ nextMs }) => nextMs === undefined)) return undefined;
    const after = [this.nowMs, ...rows.map(({ nextMs }) => nextMs ?? ended)];
    return this.#ctx.cursors.sign(this.#request, { after });
  }
}
