// Fills a project with records of every resource, seeded, full of texts and numbers that are easily broken;
// and reads a project whole, with names in the place of ids, so that two projects can be compared.
import assert from "node:assert/strict";
import fc from "fast-check";

type Item = Readonly<Record<string, unknown>>;
type Member = string | number | boolean | null | undefined;

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

/** Asks below the project in 0.6 unless another version is named; every refusal fails the test. */
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

/** What is drawn from it is decided by the seed alone. */
class Draws {
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

/** How many points the longest series has: more than one read, and more than one insert, takes. */
export const manyPoints = 110_000;

export async function fillProject(ask: AskProject, seed: number): Promise<void> {
  const draws = new Draws(seed);
  const assetIds = await fillAssets(ask, draws);
  await fillSeries(ask, draws, assetIds);
  await fillEvents(ask, draws, assetIds);
  await fillFiles(ask, draws, assetIds);
  await fillRaw(ask, draws, assetIds);
  await fillSequences(ask, draws, assetIds);
  const ends = () => ({ sourceType: draws.pick(["asset", "file"]), sourceExternalId: `x${draws.text()}` });
  const relationships = Array.from({ length: 15 }, (_, i) => ({
    ...{
      externalId: `${i}${draws.text()}`,
      ...ends(),
      targetType: "event",
      targetExternalId: `y${draws.text()}`,
    },
    ...draws.some(i, {
      startTime: -1000,
      endTime: 5,
      confidence: 0.1,
      dataSetId: 77,
      labels: ["a", `b${draws.text()}`],
    }),
  }));
  await ask("POST /relationships", {
    items: relationships.map(({ endTime, ...one }) => ({ ...one, ...(one.startTime && { endTime }) })),
  });
}

async function fillAssets(ask: AskProject, draws: Draws): Promise<number[]> {
  const fields = [
    { name: "f", valueType: "Double" },
    { name: "f", valueType: "String", description: `d${draws.text()}` },
  ];
  const { items: types } = await ask("POST /assets/types", {
    items: [{ name: "t", description: "d", fields }, { name: "empty" }],
  });
  const [full, empty] = types as { id: number; fields: { id: number }[] }[];
  const held = () => [
    {
      id: full!.id,
      fields: [
        { id: full!.fields[0]!.id, value: draws.number() },
        { id: full!.fields[1]!.id, value: draws.text() },
      ],
    },
    { id: empty!.id },
  ];
  const assets = Array.from({ length: 60 }, (_, i) => ({
    name: `${i} ${draws.text()}`.slice(0, 50),
    refId: `r${i}`,
    ...(i > 3 && { parentRefId: `r${draws.below(i)}` }),
    ...draws.some(i, { description: `d${draws.text()}`, source: `s${draws.text()}`, types: held() }),
    ...draws.common("asset", i),
    sourceId: `${i}`,
    metadata: draws.metadata(`asset ${i}`),
  }));
  const { items } = await ask("POST /assets", { items: assets });
  const ids = items.map(({ id }) => id as number);
  // Moved below a younger one, and changed later than made.
  await ask(`PATCH /assets/${ids[1]}`, { parentId: ids[0] });
  return ids;
}

async function fillSeries(ask: AskProject, draws: Draws, assetIds: readonly number[]): Promise<void> {
  const { items: categories } = await ask("POST /securitycategories", {
    items: [{ name: "s" }, { name: "t" }],
  });
  const series = Array.from({ length: 14 }, (_, i) => ({
    name: `${i}/${draws.text()}`,
    isString: i % 3 === 1,
    isStep: i % 4 === 0,
    ...draws.some(i, { description: `d${draws.text()}`, unit: "°C", assetId: draws.pick(assetIds) }),
    ...draws.common("series", i),
    ...draws.some(i, {
      metadata: draws.metadata(`series ${i}`),
      securityCategories: categories.map(({ id }) => id),
    }),
  }));
  const { items } = await ask("POST /timeseries", { items: series });
  for (const [i, { id, isString }] of items.entries()) {
    const times = [
      -2208988800000,
      -1,
      0,
      1,
      4102444799999,
      ...Array.from({ length: draws.below(40) }, () => 1.7e12 + draws.below(1e9)),
    ];
    const points = times.map((timestamp) => ({ timestamp, value: isString ? draws.text() : draws.number() }));
    if (i !== 5) await ask(`POST /timeseries/${id}/data`, { items: points });
  }
  for (const start of [0, manyPoints / 2]) {
    const points = Array.from({ length: manyPoints / 2 }, (_, i) => ({
      timestamp: (start + i) * 997,
      value: Math.sin(start + i),
    }));
    await ask(`POST /timeseries/${items[2]!["id"]}/data`, { items: points });
  }
  const texts = Array.from({ length: 1_200 }, (_, i) => ({ timestamp: i, value: `${i} ${draws.text()}` }));
  await ask(`POST /timeseries/${items[1]!["id"]}/data`, { items: texts });
}

async function fillEvents(ask: AskProject, draws: Draws, assetIds: readonly number[]): Promise<void> {
  const terms = [{ name: "a" }, { name: "a", description: `d${draws.text()}` }, { name: `b${draws.text()}` }];
  const { items: transformers } = await ask("POST /eventtransformers", { items: terms });
  const { items: types } = await ask("POST /semantictypes", { items: [...terms, { name: "c" }] });
  const phrase = () => ({ text: draws.text(), semanticTypeId: draws.pick(types)["id"] });
  const events = Array.from({ length: 40 }, (_, i) => ({
    ...draws.some(i, {
      startTime: -5 + draws.below(9),
      endTime: 8.64e15,
      type: `t${draws.text()}`,
      subtype: `s${draws.text()}`,
    }),
    ...draws.some(i, {
      description: `d${draws.text()}`,
      source: "s",
      assetIds: [draws.pick(assetIds), draws.pick(assetIds)],
    }),
    ...draws.some(i, {
      eventTransformerId: draws.pick([transformers[1]!["id"], 12345]),
      eventReferenceKey: `k${i}`,
      tagIds: [`t${draws.text()}`, "5"],
      semanticPhrases: [phrase(), phrase()],
    }),
    ...draws.common("event", i),
    sourceId: `${i}`,
    ...(i % 2
      ? { metadata: draws.metadata(`event ${i}`) }
      : {
          additionalData: {
            ...draws.metadata(`event ${i}`),
            deep: { list: [1, "x", true] },
            count: draws.below(9),
          },
        }),
  }));
  await ask("POST /events", { items: events });
}

const fileBytes = [0, 1, 300_000, 70_000];

async function fillFiles(ask: AskProject, draws: Draws, assetIds: readonly number[]): Promise<void> {
  for (let i = 0; i < 7; i++) {
    const { text } = await ask("POST /files/initupload", {
      fileName: `${i} ${draws.text()}`,
      metadata: draws.metadata(`file ${i}`),
      ...draws.common("file", i),
      ...draws.some(i, { directory: `/d${draws.text()}`, source: `s${i}`, sourceId: "1", fileType: "pdf" }),
      ...draws.some(i, { assetIds: [draws.pick(assetIds)], tagIds: [`t${draws.text()}`] }),
    });
    const bytes = fileBytes[i];
    if (bytes === undefined) continue;
    const body = Uint8Array.from({ length: bytes }, (_, at) => (at * at + i) % 251);
    const headers = { "content-type": i === 2 ? "image/png" : "text/plain; charset=latin1" };
    const put = await fetch(JSON.parse(text).data.uploadURL, { method: "PUT", body, headers });
    assert.equal(put.status, 200);
  }
}

/** Texts of columns that another way of writing JSON would change. */
const rawColumns = [
  '{"a":1e400,"b":1.0,"c":12345678901234567890123}',
  '{ "blank" : [ 1 ,2 ],\n\t"twice":1,"twice":-0, "ü":"\\u00fc\\/" }',
  "{}",
  '{"nested":{"a":[{"b":null}]},"":""}',
];

async function fillRaw(ask: AskProject, draws: Draws, assetIds: readonly number[]): Promise<void> {
  await ask("POST /raw/create", { items: [{ dbName: "empty" }, { dbName: "a/b ü" }] });
  const place = `/raw/${encodeURIComponent("a/b ü")}`;
  await ask(`POST ${place}/create`, {
    items: [
      { tableName: "nothing", assetIds: assetIds.slice(0, 2) },
      { tableName: "100 % 😀" },
      { tableName: "t2" },
    ],
  });
  for (const [table, count] of [
    ["100 % 😀", 40],
    ["t2", 10_500],
  ] as const)
    for (let from = 0; from < count; from += 10_000) {
      const rows = Array.from({ length: Math.min(10_000, count - from) }, (_, i) => {
        return `{"key":${JSON.stringify(`${from + i}${draws.text()}`)},"columns":${draws.pick(rawColumns)}}`;
      });
      await ask(`POST ${place}/${encodeURIComponent(table)}/create`, `{"items":[${rows.join(",")}]}`);
    }
}

async function fillSequences(ask: AskProject, draws: Draws, assetIds: readonly number[]): Promise<void> {
  for (let i = 0; i < 5; i++) {
    const columns = ["LONG", "DOUBLE", "STRING"].map((valueType, at) => ({
      valueType,
      ...draws.some(i, {
        ...{ name: `n${draws.text()}`, externalId: `c${at}`, description: `d${draws.text()}` },
        metadata: draws.metadata("column"),
      }),
    }));
    const { items } = await ask("POST /sequences", {
      items: [
        {
          columns,
          name: `sequence ${i}`,
          metadata: draws.metadata(`sequence ${i}`),
          ...draws.some(i, { externalId: `e${i}`, assetId: draws.pick(assetIds), dataSetId: 5 }),
          ...draws.some(i, { description: `d${draws.text()}` }),
        },
      ],
    });
    const { id, columns: made } = items[0] as { id: number; columns: { id: number }[] };
    // A column that goes leaves a gap in what a store may count.
    if (i === 2) await ask(`POST /sequences/${id}/columns/delete`, { items: [made[1]!.id] });
    const left = i === 2 ? [0, 2] : [0, 1, 2];
    const rows = Array.from({ length: i === 4 ? 0 : 30 + 1_000 * (i % 2) }, (_, row) => ({
      rowNumber: row === 9 ? "9223372036854775807" : row * 3,
      values: left
        .filter(() => draws.below(4) > 0)
        .map((at) => ({
          columnId: made[at]!.id,
          value: [draws.pick(["-9223372036854775808", 7]), draws.number(), draws.text()][at],
        })),
    }));
    if (rows.length > 0) await ask(`POST /sequences/${id}/postdata`, { items: [{ rows }] });
  }
}

/** Everything in the project, with labels in the place of ids, in an order that ids do not decide. */
export async function readProject(ask: AskProject): Promise<Readonly<Record<string, unknown>>> {
  const assets = await all(ask, "/assets");
  const labels = new Map(assets.map(({ id, metadata }) => [id, (metadata as { label: string }).label]));
  const labelled = (ids: unknown) => (ids as readonly number[] | undefined)?.map((id) => labels.get(id));
  const transformers = await all(ask, "/eventtransformers");
  const termAt = (id: unknown) => {
    const at = transformers.findIndex((one) => one["id"] === id);
    return at < 0 ? id : `term ${at}`;
  };
  const semanticTypes = await all(ask, "/semantictypes");
  const meaningAt = ({ text, semanticTypeId }: Item) => [
    text,
    semanticTypes.findIndex(({ id }) => id === semanticTypeId),
  ];
  const series = await all(ask, "/timeseries", "includeMetadata=true&");
  const categories = new Map((await all(ask, "/securitycategories")).map(({ id, name }) => [id, name]));
  const events = await all(ask, "/events");
  const { items: old } = await ask("POST /events/byids", { items: events.map(({ id }) => id) }, "0.4");
  return {
    types: (await all(ask, "/assets/types")).map(withoutIds),
    assets: bySort(
      assets.map(({ id: _, parentId, path, types, ...one }) => ({
        ...one,
        types: withoutIds(types),
        parentId: labels.get(parentId),
        path: labelled(path),
      })),
    ),
    series: bySort(
      series.map(({ id: _, assetId, securityCategories, ...one }) => ({
        ...one,
        assetId: labels.get(assetId),
        categories: (securityCategories as number[] | undefined)?.map((id) => categories.get(id)),
      })),
    ),
    points: await Promise.all(series.map(async ({ id, name }) => [name, await pointsOf(ask, id)])),
    transformers: transformers.map(({ id: _, ...one }) => one),
    semanticTypes: semanticTypes.map(({ id: _, ...one }) => one),
    events: bySort(
      events.map(({ id: _, assetIds, eventTransformerId, semanticPhrases, ...one }, at) => ({
        ...one,
        phrases: (semanticPhrases as Item[] | undefined)?.map(meaningAt),
        additionalData: old[at]!["additionalData"],
        eventTransformerId: termAt(eventTransformerId),
        assetIds: labelled(assetIds),
      })),
    ),
    files: bySort(await Promise.all((await all(ask, "/files")).map((file) => fileOf(ask, file, labelled)))),
    raw: await rawOf(ask, labelled),
    sequences: bySort(
      await Promise.all((await all(ask, "/sequences")).map((one) => sequenceOf(ask, one, labels))),
    ),
    relationships: bySort((await all(ask, "/relationships")).map(({ id: _, ...one }) => one)),
  };
}

/** The same without any member `id`, however deep. */
const withoutIds = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, part) => {
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    const { id: _id, ...rest } = part as Item;
    return rest;
  });

const bySort = (items: readonly Item[]): Item[] =>
  items
    .map((item) => [JSON.stringify(item, Object.keys(item).sort()), item] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, item]) => item);

async function all(ask: AskProject, path: string, query = ""): Promise<Item[]> {
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

async function pointsOf(ask: AskProject, id: unknown): Promise<unknown[]> {
  const points: unknown[] = [];
  for (let start = -2208988800000; ; ) {
    const { items } = await ask(`GET /timeseries/${id}/data?start=${start}&end=4102444800000&limit=100000`);
    const { datapoints } = items[0] as { datapoints: { timestamp: number; value: Member }[] };
    points.push(...datapoints.map(({ timestamp, value }) => [timestamp, value]));
    if (datapoints.length < 100_000) return points;
    start = datapoints.at(-1)!.timestamp + 1;
  }
}

async function fileOf(
  ask: AskProject,
  { id, assetIds, ...file }: Item,
  labelled: (ids: unknown) => unknown,
): Promise<Item> {
  const known = { ...file, assetIds: labelled(assetIds) };
  if (file["uploaded"] !== true) return known;
  const { text } = await ask(`GET /files/${id}/downloadlink`);
  const answer = await fetch(JSON.parse(text).data);
  const bytes = Buffer.from(await answer.arrayBuffer()).toString("base64");
  return { ...known, bytes, contentType: answer.headers.get("content-type") };
}

/** Rows as their very text, which holds their columns and times. */
async function rawOf(ask: AskProject, labelled: (ids: unknown) => unknown): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const { dbName } of await all(ask, "/raw")) {
    const place = `/raw/${encodeURIComponent(String(dbName))}`;
    for (const { tableName, assetIds } of await all(ask, place)) {
      found.push([dbName, tableName, labelled(assetIds)]);
      const path = `${place}/${encodeURIComponent(String(tableName))}`;
      for (let cursor: string | undefined = ""; cursor !== undefined; ) {
        const answer = await ask(
          `GET ${path}?limit=10000${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
        );
        found.push([dbName, tableName, answer.text.replace(/"(next|previous)Cursor":"[^"]*"/g, "")]);
        cursor = answer.nextCursor;
      }
    }
    found.push(dbName);
  }
  return found;
}

async function sequenceOf(
  ask: AskProject,
  sequence: Item,
  labels: ReadonlyMap<unknown, string>,
): Promise<Item> {
  const { id, assetId, columns, ...known } = sequence;
  const { items } = await ask(`POST /sequences/${id}/getdata`, { items: [{ limit: 10_000 }] });
  const { rows } = items[0] as {
    rows: { rowNumber: Member; values: { columnId: number; value: Member }[] }[];
  };
  const at = new Map((columns as Item[]).map((column, index) => [column["id"], index]));
  return {
    ...known,
    assetId: labels.get(assetId),
    columns: (columns as Item[]).map(({ id: _, ...column }) => column),
    rows: rows.map(({ rowNumber, values }) => [
      rowNumber,
      values.map(({ columnId, value }) => [at.get(columnId), value]),
    ]),
  };
}
