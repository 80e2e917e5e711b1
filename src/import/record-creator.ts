// Creates records of a file on the server, each once; the lines that the server refuses are reported.
import { ServerProblem } from "../client/connection.ts";
import { type Created, CreateOnce } from "../client/create-once.ts";
import { Refused } from "./record-items.ts";
import type { Prepared, RecordImport, Refuse } from "./record-kind.ts";

interface CreatedKind {
  /** The list of the API. */
  readonly resource: string;
  /** Members by which a record of the server is recognized as one that an interrupted run has created. */
  readonly identifying: readonly string[];
}

export class RecordCreator {
  readonly #resource: string;
  readonly #loading: RecordImport;
  readonly #creations: CreateOnce;

  constructor({ resource, identifying }: CreatedKind, loading: RecordImport) {
    this.#resource = resource;
    this.#loading = loading;
    this.#creations = new CreateOnce(loading.connection, loading.ledger, {
      ...loading,
      isSame: (item, found) =>
        identifying.every((name) => ((item as Created)[name] ?? "") === (found[name] ?? "")),
    });
  }

  /** The id of the record of this line; undefined before it is created. */
  idOf(line: number): number | undefined {
    return this.#loading.ledger.idOf(this.#resource, line);
  }

  /** A batch that the server refuses is halved until the refused lines are found. */
  async create(
    batch: readonly Prepared[],
    itemsOf: (batch: readonly Prepared[]) => readonly { line: number; item: object }[],
    refuse: Refuse,
  ): Promise<number> {
    const ready = itemsOf(batch);
    if (ready.length === 0) return 0;
    try {
      const ids = await this.#ids(ready.map(({ item }) => item));
      const made = ready.map(({ line }, at) => ({ given: line, id: ids[at] ?? line }));
      this.#loading.ledger.note({ begun: true }, { [this.#resource]: made });
      return made.length;
    } catch (problem) {
      const isRefusal =
        problem instanceof ServerProblem && (problem.status === 400 || problem.status === 409);
      if (!isRefusal) throw problem;
      if (ready.length === 1) {
        refuse(ready[0]!, new Refused("", "", problem.message));
        return 0;
      }
      const lines = new Set(ready.map(({ line }) => line));
      const rest = batch.filter(({ line }) => lines.has(line));
      const half = Math.ceil(rest.length / 2);
      const first = await this.create(rest.slice(0, half), itemsOf, refuse);
      return first + (await this.create(rest.slice(half), itemsOf, refuse));
    }
  }

  async #ids(items: readonly object[]): Promise<readonly number[]> {
    if (this.#loading.options.dryRun) return [];
    const kind = { kind: this.#resource, resource: this.#resource };
    return (await this.#creations.create(kind, items)).map(({ id }) => id);
  }
}
