// Numbers for scopes, under which rooms remember what each reaches, good until anything moves.
//
// What a scope reaches changes when assets move or go, and when records are hung on others: such changes run
// through `whileMoving`. New records and new assets change nothing for those that are there.
import { ChangeCounter } from "../lib/change-counter.ts";
import type { Filter } from "../query/filter.ts";
import type { Catalog, ProjectId } from "../storage/catalog.ts";

/** Beyond this many scopes all are numbered anew. */
const scopesMax = 10_000;

const texts = new WeakMap<Filter, string>();

/** The same for equal scopes; that of a hundred subtrees takes 10 us to make. */
function textOf(scope: Filter): string {
  const text = texts.get(scope) ?? JSON.stringify(scope);
  texts.set(scope, text);
  return text;
}

class Reach {
  readonly gate = new ChangeCounter();
  readonly #numbers = new Map<string, number>();
  #last = 0;

  /** Stands for the scope until something moves; a number is never given to anything else. */
  numberOf(scope: Filter): number {
    const key = textOf(scope);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    if (this.#numbers.size >= scopesMax) this.#numbers.clear();
    this.#last += 1;
    this.#numbers.set(key, this.#last);
    return this.#last;
  }

  /** Runs a transaction that may put records into or out of a scope. */
  whileMoving<Answer>(change: () => Promise<Answer>): Promise<Answer> {
    this.#numbers.clear();
    return this.gate.during(change);
  }
}

const reachByCatalog = new WeakMap<Catalog, Map<ProjectId, Reach>>();

/** The one of a project in this process, which alone writes to the catalog. */
export function reachOf(catalog: Catalog, project: ProjectId): Reach {
  const byProject = reachByCatalog.get(catalog) ?? new Map<ProjectId, Reach>();
  const reach = byProject.get(project) ?? new Reach();
  reachByCatalog.set(catalog, byProject.set(project, reach));
  return reach;
}
