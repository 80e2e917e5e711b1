// The requests of the points importer to the public API: finds assets and series by name, and inserts points.

import { Connection, ServerProblem } from "../client/connection.ts";
import { limits } from "../limits.ts";
import type { CommonMembers } from "./record-items.ts";

export interface FoundSeries {
  readonly name: string;
  readonly isString: boolean;
}

export interface NewSeries extends CommonMembers {
  readonly name: string;
  readonly unit?: string;
  readonly description?: string;
  readonly externalId?: string;
  readonly isString: boolean;
  readonly isStep: boolean;
  readonly assetId?: number;
  readonly metadata?: Readonly<Record<string, string>>;
}

interface FoundAsset {
  readonly id: number;
  readonly name: string;
  readonly parentId?: number;
}

export class Api extends Connection {
  /** Those of `names` that exist. */
  async findSeries(names: readonly string[]): Promise<Map<string, FoundSeries>> {
    const wanted = new Set(names);
    const found = new Map<string, FoundSeries>();
    const query = { q: commonPrefix(names), limit: String(limits.listItemsMax) };
    for await (const page of this.pages<FoundSeries>(this.pathOf("timeseries"), query))
      for (const one of page) if (wanted.has(one.name)) found.set(one.name, one);
    return found;
  }

  async createSeries(series: readonly NewSeries[]): Promise<void> {
    for (let at = 0; at < series.length; at += limits.importItemsPerRequest) {
      const items = series.slice(at, at + limits.importItemsPerRequest);
      await this.json("POST", this.pathOf("timeseries"), { body: JSON.stringify({ items }) });
    }
  }

  /** The asset of that name under a parent (absent: a root); refuses to choose among several. */
  async findAsset(name: string, depth: number, parentId?: number): Promise<number | undefined> {
    const query = { name, depth: String(depth), limit: String(limits.listItemsMax) };
    const found: number[] = [];
    for await (const page of this.pages<FoundAsset>(this.pathOf("assets"), query))
      for (const one of page) if (one.name === name && one.parentId === parentId) found.push(one.id);
    if (found.length > 1)
      throw new ServerProblem(
        `${found.length} assets are named ${name} there; give the id instead of the path`,
      );
    return found[0];
  }

  async createAsset(name: string, parentId?: number): Promise<number> {
    const items = [{ name, ...(parentId !== undefined && { parentId }) }];
    const answer = await this.json("POST", this.pathOf("assets"), { body: JSON.stringify({ items }) });
    const created = (answer as { data: { items: { id: number }[] } }).data.items[0];
    if (!created) throw new ServerProblem(`The server did not say which asset it made of ${name}`);
    return created.id;
  }

  /** `body` is the text of a multi-series insert; resolves when the server has it on disk. */
  async insertPoints(body: string): Promise<void> {
    await this.json("POST", this.pathOf("timeseries/data"), { body });
  }
}

/** The longest text that every name begins with. */
function commonPrefix(names: readonly string[]): string {
  const [first = "", ...others] = names;
  let length = first.length;
  for (const name of others) while (!name.startsWith(first.slice(0, length))) length--;
  return first.slice(0, length);
}
