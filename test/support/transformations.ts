// Saves and runs transformations on a test server.
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { RequestContext } from "../../src/context.ts";
import { unboundedMemory } from "../../src/query/read-within.ts";
import { allProjects } from "../../src/resources/projects/projects.ts";
import type { Item, TestServer } from "./server.ts";

export interface PlannedRows {
  readonly count: number;
  readonly rows: readonly Item[];
}

export interface Plan {
  readonly read: number;
  readonly created: PlannedRows;
  readonly changed: PlannedRows;
  readonly deleted: PlannedRows;
  readonly refused: PlannedRows;
  readonly unchanged: number;
}

export class Transformations {
  readonly #server: TestServer;
  readonly headers: Readonly<Record<string, string>>;

  constructor(server: TestServer, headers: Readonly<Record<string, string>> = {}) {
    this.#server = server;
    this.headers = headers;
  }

  ask(methodAndPath: string, body?: unknown) {
    return this.#server.ask.v06(methodAndPath, body, this.headers);
  }

  /** Saves an upsert of assets, unless `more` says otherwise, and returns its id. */
  async save(externalId: string, query: string, more: object = {}): Promise<number> {
    const item = {
      ...{ externalId, name: externalId, query, destination: { type: "assets" }, action: "upsert" },
      ...more,
    };
    const { status, items, error } = await this.ask("POST /transformations", { items: [item] });
    assert.equal(status, 200, error?.message ?? "");
    return items[0]!["id"] as number;
  }

  async change(id: number, changes: Readonly<Record<string, unknown>>): Promise<void> {
    const set = Object.entries(changes).map(([name, value]) => [name, { set: value }]);
    const items = [{ id, ...Object.fromEntries(set) }];
    const { status, error } = await this.ask("POST /transformations/update", { items });
    assert.equal(status, 200, error?.message ?? "");
  }

  /** Starts a run and waits for its end. */
  async run(id: number): Promise<Item> {
    const { status, items, error } = await this.ask(`POST /transformations/${id}/run`);
    assert.equal(status, 200, error?.message ?? "");
    return this.ended(id, items[0]!["id"] as number);
  }

  async ended(id: number, runId: number): Promise<Item> {
    for (;;) {
      const [now] = (await this.ask(`GET /transformations/${id}/runs/${runId}`)).items;
      if (now!["status"] !== "RUNNING") return now!;
      await pause(20);
    }
  }

  async plan(id: number): Promise<Plan> {
    const { status, json, error } = await this.ask(`POST /transformations/${id}/plan`);
    assert.equal(status, 200, error?.message ?? "");
    return (json as { data: Plan }).data;
  }

  async rows(query: string): Promise<readonly unknown[]> {
    const { status, json, error } = await this.ask("POST /transformations/preview", { query, limit: 1_000 });
    assert.equal(status, 200, error?.message ?? "");
    return (json as { data: { rows: unknown[] } }).data.rows;
  }

  async putRaw(
    [database, table]: readonly [string, string],
    rows: Readonly<Record<string, object>>,
  ): Promise<void> {
    const items = Object.entries(rows).map(([key, columns]) => ({ key, columns }));
    const path = `POST /raw/${database}/${table}/create?ensureParent=true`;
    const { status, error } = await this.ask(path, { items });
    assert.equal(status, 200, error?.message ?? "");
  }
}

/** A context with the rights of the account that owns the first transformation. */
export async function ownerContext(server: TestServer): Promise<RequestContext> {
  const { services } = server.app;
  const [project] = await services.catalog.read("system", allProjects);
  const { id: projectId, urlName: projectUrlName } = project!;
  const [first] = (await server.ask.v06("GET /transformations?limit=1")).items;
  const ownerId = first!["ownerId"] as number;
  const caller = (await services.keys.callerAs(ownerId, { projectId, projectUrlName }))!;
  return { ...services, caller, projectId, signal: new AbortController().signal, memory: unboundedMemory };
}

const counted = ["created", "changed", "unchanged", "deleted", "refused"] as const;

/** The status of a run and the counts that are not 0. */
export const outcome = (run: Item): Readonly<Record<string, unknown>> => ({
  status: run["status"],
  ...Object.fromEntries(counted.filter((name) => run[name] !== 0).map((name) => [name, run[name]])),
});
