// How a resource declares its sample records for tests: random ones, one of each kind, and how to read
// them back. A `*.samples.ts` file of a resource declares them; `test/support/samples.ts` lists all.
import assert from "node:assert/strict";
import fc from "fast-check";

export type Item = Readonly<Record<string, unknown>>;
export type Member = string | number | boolean | null | undefined;

/** A project as its key holder reaches it. */
export interface Reached {
  readonly baseUrl: string;
  readonly project: string;
  readonly key: string;
}

export type AskProject = (
  methodAndPath: string,
  body?: unknown,
  version?: string,
) => Promise<{ readonly items: Item[]; readonly text: string; readonly nextCursor: string | undefined }>;

/** Sends requests below the project in 0.6 unless another version is named; every refusal fails the test. */
export const askerOf =
  ({ baseUrl, project, key }: Reached): AskProject =>
  async (methodAndPath, body, version = "0.6") => {
    const [method, path] = methodAndPath.split(/ (.*)/s) as [string, string];
    const address = `${baseUrl}/api/${version}/projects/${encodeURIComponent(project)}${path}`;
    const response = await fetch(address, {
      method,
      headers: { "api-key": key },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.ok(response.ok, `${methodAndPath}: ${response.status} ${text.slice(0, 500)}`);
    const { data } = JSON.parse(text);
    return { items: data?.items ?? [], text, nextCursor: data?.nextCursor };
  };

const numbers = [0, -0, 1, 0.1, -1e-7, 5e-324, Number.MAX_VALUE, -Number.MAX_VALUE, 2 ** 53, 1 / 3, 1e21];
const awkward = [
  "",
  " ",
  "a/b",
  "100 %",
  "ä€😀",
  '"quoted"',
  "line\nbreak",
  "\\",
  "null",
  "e\u0301",
  "\u2028",
];

/** The seed alone decides the drawn values. */
export class Draws {
  readonly #texts: readonly string[];
  #state: number;

  constructor(seed: number) {
    const text = fc.string({ unit: "grapheme", maxLength: 12 });
    this.#texts = [...awkward, ...fc.sample(text, { seed, numRuns: 30 })];
    this.#state = seed;
  }

  pick<One>(among: readonly One[]): One {
    return among[this.below(among.length)]!;
  }

  below(end: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * end);
  }

  text(): string {
    return this.pick(this.#texts);
  }

  number(): number {
    return this.pick(numbers);
  }

  /** Every member is left out now and then, but not of the first record, `at` 0: it has all of them. */
  some<Members extends Readonly<Record<string, unknown>>>(at: number, members: Members): Partial<Members> {
    const kept = Object.entries(members).filter(() => this.below(3) > 0 || at === 0);
    return Object.fromEntries(kept) as Partial<Members>;
  }

  /** The fields that assets, series, events and files share. */
  common(kind: string, at: number) {
    return this.some(at, {
      externalId: `${kind} ${at} ${this.text()}`,
      dataSetId: this.below(9) + 1,
      labels: [`l${this.text()}`, "hot"],
      sourceCreatedTime: -1_000 * this.below(9),
      sourceModifiedTime: 1.7e12 + this.below(1e9),
    });
  }

  metadata(label: string) {
    return { label, ...this.some(1, { one: this.text(), "": this.text(), [`k${this.text()}`]: "v" }) };
  }
}

/** Creates records, and keeps those that later resources refer to. */
export class Filling {
  readonly ask: AskProject;
  readonly draws: Draws;
  readonly #created = new Map<string, readonly Item[]>();

  constructor(ask: AskProject, draws: Draws) {
    this.ask = ask;
    this.draws = draws;
  }

  /** Posts the items to the list; returns the created records. */
  async create(list: string, items: readonly Item[]): Promise<Item[]> {
    const created = (await this.ask(`POST /${list}`, { items })).items;
    this.#created.set(list, created);
    return created;
  }

  /** The ids of the records that were created last in this list. */
  idsOf(list: string): number[] {
    return (this.#created.get(list) ?? []).map(({ id }) => id as number);
  }
}

/** Reads records, with names instead of ids, so that two projects can be compared. */
export class Reading {
  readonly ask: AskProject;
  readonly #names = new Map<string, ReadonlyMap<unknown, string>>();

  constructor(ask: AskProject) {
    this.ask = ask;
  }

  /** Names records of a list for references to them. */
  name(list: string, names: ReadonlyMap<unknown, string>): void {
    this.#names.set(list, names);
  }

  nameOf(list: string, id: unknown): string | undefined {
    return this.#names.get(list)?.get(id);
  }

  namesOf(list: string, ids: unknown): (string | undefined)[] | undefined {
    return (ids as readonly unknown[] | undefined)?.map((id) => this.nameOf(list, id));
  }
}

export interface SamplePart {
  /** Creates random records, the first ones with every member. */
  fill(filling: Filling): Promise<void>;
  /** Creates a record or two, with every reference and every number that a record can have. */
  fillSmall(filling: Filling): Promise<void>;
  /** Every record, in an order that ids do not decide. */
  read(reading: Reading): Promise<Readonly<Record<string, unknown>>>;
  /** By list two items for records that are read and deleted by id. */
  readonly single?: Readonly<Record<string, readonly Item[]>>;
}

/** The same without any member `id`, however deep. */
export const withoutIds = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, part) => {
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    const { id: _id, ...rest } = part as Item;
    return rest;
  });

export const bySort = (items: readonly Item[]): Item[] =>
  items
    .map((item) => [JSON.stringify(item, Object.keys(item).sort()), item] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, item]) => item);

export async function all(ask: AskProject, path: string, query = ""): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor: string | undefined = ""; cursor !== undefined; ) {
    const answer = await ask(
      `GET ${path}?${query}limit=1000${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    items.push(...answer.items);
    cursor = answer.nextCursor;
  }
  return items;
}
