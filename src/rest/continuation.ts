// Continues reads of datapoints that stopped at their limit: a cursor holds where each of their items goes
// on.
import type { RequestContext } from "../context.ts";
import { cursorParameter } from "./envelope.ts";

/** `cursor`: the header `Link` of a response that was cut has it. */
export const continuationQuery = { cursor: cursorParameter } as const;

/** Stands for the rows of an item that were all in earlier responses. */
const ended = "ended";

export class Continuation {
  /** The time that relative times count from: that of the first response. */
  readonly nowMs: number;
  readonly #ctx: RequestContext;
  readonly #request: unknown;
  readonly #places: readonly (number | typeof ended)[];

  /** `request` is all of the request but the cursor. Refuses (400) a cursor of another request. */
  constructor(ctx: RequestContext, request: unknown, cursor: string | undefined) {
    this.#ctx = ctx;
    this.#request = ["datapoints", ctx.project, request];
    const { after } = cursor === undefined ? {} : ctx.cursors.read([this.#request], cursor);
    const [nowMs = ctx.system.nowMs(), ...places] = (after ?? []) as readonly (number | typeof ended)[];
    this.nowMs = nowMs as number;
    this.#places = places;
  }

  /** The question of an item of the request, without the rows of earlier responses. */
  rest<Question extends { readonly limit: number }>(
    question: Question,
    index = 0,
  ): Question & { fromMs?: number } {
    const place = this.#places[index];
    if (place === undefined) return question;
    return place === ended ? { ...question, limit: 0 } : { ...question, fromMs: place };
  }

  /** Where the request goes on after these rows, which were read, one of each item; undefined at the end. */
  cursorAfter(rows: readonly { readonly nextMs: number | undefined }[]): string | undefined {
    if (rows.every(({ nextMs }) => nextMs === undefined)) return undefined;
    const after = [this.nowMs, ...rows.map(({ nextMs }) => nextMs ?? ended)];
    return this.#ctx.cursors.sign(this.#request, { after });
  }
}
