// API keys: made, listed, revoked, and turned into the caller they stand for.
import { createHmac } from "node:crypto";
import type { IdSource } from "../lib/ids.ts";
import type { World } from "../lib/world.ts";
import { limits } from "../limits.ts";
import { and, equals, type Filter } from "../query/filter.ts";
import { byId } from "../query/page.ts";
import type { Catalog } from "../storage/catalog.ts";
import type { Caller } from "./caller.ts";
import { administrator } from "./capabilities.ts";
import { type ApiKey, apiKeyTable } from "./schema.ts";

/** The project a key is for. */
export interface KeyProject {
  readonly id: number;
  readonly urlName: string;
}

/**
 * Keys are remembered for `keyCacheMsMax`: a request waits neither for the catalog nor for a hash (15 us).
 */
const rememberedMax = 10_000;

export class Keyring {
  readonly #catalog: Catalog;
  readonly #ids: IdSource;
  readonly #world: World;
  readonly #secret: Uint8Array;
  readonly #remembered = new Map<string, { caller: Caller; untilMs: number }>();

  constructor(parts: { catalog: Catalog; ids: IdSource; world: World; secret: Uint8Array }) {
    this.#catalog = parts.catalog;
    this.#ids = parts.ids;
    this.#world = parts.world;
    this.#secret = parts.secret;
  }

  /** Makes a key. It is in this answer and nowhere else. */
  async create(project: KeyProject, name: string): Promise<{ id: number; key: string }> {
    const key = `mr_${Buffer.from(this.#world.randomBytes(24)).toString("base64url")}`;
    return { id: await this.#insert(project, name, key), key };
  }

  /** Makes `key`, chosen by the operator, the one key of this project with this name. */
  async ensure(project: KeyProject, name: string, key: string): Promise<void> {
    const hash = this.#hashOf(key);
    const named = await this.#find(and(equals("projectId", project.id), equals("name", name)));
    if (named.length === 1 && named[0]!.hash === hash) return;
    for (const old of named) await this.revoke(old.id);
    await this.#insert(project, name, key);
  }

  async list(project: KeyProject): Promise<readonly ApiKey[]> {
    return this.#find(equals("projectId", project.id));
  }

  /** False when there is no such key. */
  async revoke(id: number): Promise<boolean> {
    this.#remembered.clear();
    return (await this.#catalog.write("system", (tx) => tx.remove(apiKeyTable, equals("id", id)))) > 0;
  }

  /** Whom the key stands for; undefined when unknown, or revoked for `keyCacheMsMax`. */
  async callerOf(key: string): Promise<Caller | undefined> {
    const nowMs = this.#world.nowMs();
    const known = this.#remembered.get(key);
    if (known && known.untilMs > nowMs) return known.caller;
    const [record] = await this.#find(equals("hash", this.#hashOf(key)));
    if (!record) {
      this.#remembered.delete(key);
      return undefined;
    }
    const caller = callerFor(record);
    if (this.#remembered.size >= rememberedMax) this.#remembered.clear();
    this.#remembered.set(key, { caller, untilMs: nowMs + limits.keyCacheMsMax });
    return caller;
  }

  async #insert(project: KeyProject, name: string, key: string): Promise<number> {
    const record: ApiKey = {
      id: this.#ids.next(),
      projectId: project.id,
      project: project.urlName,
      name,
      hash: this.#hashOf(key),
      createdTime: this.#world.nowMs(),
    };
    await this.#catalog.write("system", (tx) => tx.insert(apiKeyTable, [record]));
    return record.id;
  }

  #find(filter: Filter): Promise<ApiKey[]> {
    const question = { filter, order: byId, page: { limit: limits.listItemsMax } };
    return this.#catalog.read("system", (tx) => tx.find(apiKeyTable, question));
  }

  #hashOf(key: string): string {
    return createHmac("sha256", this.#secret).update(key).digest("base64url");
  }
}

/** In this version every key is an administrator of its project. */
const callerFor = (record: ApiKey): Caller => ({
  user: record.name,
  project: record.project,
  projectId: record.projectId,
  capabilities: administrator,
});
