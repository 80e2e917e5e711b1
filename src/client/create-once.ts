// Creates records exactly once, also when the response to a request is lost.
import { limits } from "../limits.ts";
import { type Connection, ServerProblem } from "./connection.ts";
import type { Ledger } from "./ledger.ts";

/** A record in a response of the server. */
export type Created = Readonly<Record<string, unknown>> & { readonly id: number };

interface Options {
  /** An earlier run may have ended before it received a response. */
  readonly isResumed: boolean;
  /** Needed if others create such records as well: whether a record can be the one of this request. */
  readonly isSame?: (item: object, found: Created) => boolean;
}

/** The name of these records in the ledger, and their route of the API. */
interface Kind {
  readonly kind: string;
  readonly resource: string;
}

/**
 * Creates the records of one import, one request after another. The server assigns ascending ids. So any
 * record above the last recorded id comes from a request whose response was lost. This requires that no other
 * client creates such records at the same time.
 */
export class CreateOnce {
  readonly #connection: Connection;
  readonly #ledger: Ledger<unknown>;
  readonly #asked = new Set<string>();
  readonly #isResumed: boolean;
  readonly #isSame: Options["isSame"];

  constructor(connection: Connection, ledger: Ledger<unknown>, { isResumed, isSame }: Options) {
    this.#connection = connection;
    this.#ledger = ledger;
    this.#isResumed = isResumed;
    this.#isSame = isSame;
  }

  /**
   * The records made of `items`, in their order; the caller notes them as of this `kind` before the next are
   * made.
   */
  async create({ kind, resource }: Kind, items: readonly object[]): Promise<readonly Created[]> {
    if (items.length === 0) return [];
    const path = this.#connection.pathOf(resource, "0.6");
    const body = JSON.stringify({ items });
    let isUnsure = this.#isResumed && !this.#asked.has(kind);
    this.#asked.add(kind);
    for (let failed = 0; ; failed++) {
      const beyond = isUnsure ? await this.#beyondNote(path, this.#ledger.lastId(kind)) : [];
      const there = this.#isSame ? this.#sameAs(items, beyond) : beyond;
      if (there.length === items.length) return there;
      if (there.length > 0)
        throw new ServerProblem(`Something else is creating ${resource} at the same time`);
      try {
        const answer = await this.#connection.jsonOnce("POST", path, { body });
        return (answer as { data: { items: Created[] } }).data.items;
      } catch (problem) {
        const isLost = problem instanceof ServerProblem && problem.mayBeDone;
        if (!isLost || failed === limits.importRetriesMax) throw problem;
        await this.#connection.pause(failed);
        isUnsure = true;
      }
    }
  }

  /** All of them in their order, or none: a request makes everything or nothing. */
  #sameAs(items: readonly object[], beyond: readonly Created[]): readonly Created[] {
    const same: Created[] = [];
    for (const one of beyond)
      if (same.length < items.length && this.#isSame!(items[same.length]!, one)) same.push(one);
    return same.length === items.length ? same : [];
  }

  async #beyondNote(path: string, last: number): Promise<Created[]> {
    const found: Created[] = [];
    const query = { limit: String(limits.listItemsMax) };
    for await (const page of this.#connection.pages<Created>(path, query))
      found.push(...page.filter(({ id }) => id > last));
    return found.sort((a, b) => a.id - b.id);
  }
}
