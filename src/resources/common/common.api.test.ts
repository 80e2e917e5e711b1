// The fields that assets, time series, events and files share: stored, returned, changed and filtered by,
// over REST in every version and over OData.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type AskOData, odataOf } from "../../../test/support/odata.ts";
import {
  type AskFunction,
  type Item,
  idsOf,
  startTestServer,
  type TestResponse,
  type TestServer,
} from "../../../test/support/server.ts";
import { limits } from "../../limits.ts";

let server: TestServer;
let odata: AskOData;
before(async () => {
  server = await startTestServer();
  odata = odataOf(server);
});
after(() => server.close());

type Resource = "assets" | "timeseries" | "events" | "files";
const resources: readonly Resource[] = ["assets", "timeseries", "events", "files"];
const nouns = {
  ...{ assets: "An asset", timeseries: "A time series" },
  ...{ events: "An event", files: "A file" },
} as const;
const sets = { assets: "Assets", timeseries: "Timeseries", events: "Events", files: "Files" };

const versions = (): readonly AskFunction[] => [server.ask.v04, server.ask.v05, server.ask.v06];

async function ok(answering: Promise<TestResponse>): Promise<TestResponse> {
  const response = await answering;
  assert.ok(response.status < 300, response.text);
  return response;
}

let named = 0;
/** The required members of a new record, with a name that no other one has. */
function bare(resource: Resource): Item {
  named += 1;
  return resource === "files" ? { fileName: `f${named}` } : { name: `n${named}` };
}

/** Creates one record; returns its id, or the refusal. */
async function create(resource: Resource, fields: object, ask = server.ask.v06) {
  const item = { ...bare(resource), ...fields };
  if (resource !== "files") return ask(`POST /${resource}`, { items: [item] });
  return ask("POST /files/initupload", item);
}

async function idOf(resource: Resource, fields: object): Promise<number> {
  const response = await ok(create(resource, fields));
  return resource === "files"
    ? (response.json as { data: { fileId: number } }).data.fileId
    : idsOf(response)[0]!;
}

const readOne = async (resource: Resource, id: number, ask: AskFunction = server.ask) =>
  (await ok(ask(`GET /${resource}/${id}`))).items[0]!;

const fieldNames = ["externalId", "dataSetId", "labels", "sourceCreatedTime", "sourceModifiedTime"];
const commonOf = (item: Item) =>
  Object.fromEntries(fieldNames.filter((name) => name in item).map((name) => [name, item[name]]));

const all = (externalId: string) => ({
  ...{ externalId, dataSetId: 7, labels: ["hot", "ö,"] },
  ...{ sourceCreatedTime: -1_000, sourceModifiedTime: 2_000 },
});

for (const resource of resources) {
  test(`${resource}: every version takes and shows the fields`, async () => {
    for (const [at, ask] of versions().entries()) {
      const fields = all(`shown ${at}`);
      const key = ask === server.ask.v04 && resource === "timeseries" ? { tagId: `v04 ${at}` } : {};
      await ok(create(resource, { ...fields, labels: ["hot", "ö,", "hot"], ...key }, ask));
      for (const reader of versions()) {
        const list = await ok(reader(`GET /${resource}?externalId=shown%20${at}`));
        assert.deepEqual(list.items.map(commonOf), [fields]);
      }
    }
    const id = await idOf(resource, {});
    for (const ask of versions()) assert.deepEqual(commonOf(await readOne(resource, id, ask)), {});
  });

  test(`${resource}: byids reads by external id, by id, and by both`, async () => {
    const [one, two] = [await idOf(resource, all("by 1")), await idOf(resource, all("by 2"))];
    for (const ask of versions()) {
      const byIds = (...items: unknown[]) => ask(`POST /${resource}/byids`, { items });
      assert.deepEqual(idsOf(await ok(byIds({ externalId: "by 2" }, one))), [two, one]);
      assert.deepEqual(idsOf(await ok(byIds({ id: two }, { externalId: "by 1" }))), [two, one]);
      const unknown = await byIds(one, { externalId: "by 3" });
      assert.deepEqual(
        [unknown.status, unknown.error?.message, unknown.error?.["notFound"]],
        [400, `No ${nouns[resource].replace(/^An? /, "")} has this externalId: by 3`, ["by 3"]],
      );
      assert.equal((await byIds({ externalId: "by 1" }, one)).status, 400);
      assert.equal((await byIds({ externalId: "by 1" }, { externalId: "by 1" })).status, 400);
    }
  });

  test(`${resource}: a taken external id is refused with its value, and nothing is done`, async () => {
    const id = await idOf(resource, { externalId: "taken" });
    const other = await idOf(resource, { externalId: "free" });
    const count = async () => (await ok(server.ask(`GET /${resource}?limit=1000`))).items.length;
    const before = await count();
    const said = {
      code: 409,
      message: `${nouns[resource]} has this externalId already: taken`,
      duplicates: [{ externalId: "taken" }],
    };
    const patch = { externalId: { set: "taken" }, dataSetId: { set: 9 } };
    for (const refused of [
      await create(resource, { externalId: "taken" }),
      await server.ask.v06(`POST /${resource}/${other}/update`, patch),
      await server.ask.v06(`POST /${resource}/update`, { items: [{ id: other, ...patch }] }),
    ])
      assert.deepEqual([refused.status, refused.error], [409, said]);
    if (resource !== "files") {
      const items = [bare(resource), bare(resource)].map((item) => ({ ...item, externalId: "twice" }));
      const twice = await server.ask(`POST /${resource}`, { items });
      assert.deepEqual([twice.status, twice.error?.["duplicates"]], [409, [{ externalId: "twice" }]]);
    }
    assert.equal(await count(), before);
    assert.deepEqual(commonOf(await readOne(resource, other)), { externalId: "free" });
    // Another record can take an id that a record gave up.
    await ok(server.ask(`POST /${resource}/${id}/update`, { externalId: { setNull: true } }));
    await ok(server.ask(`POST /${resource}/${other}/update`, { externalId: { set: "taken" } }));
  });

  test(`${resource}: changes set, clear, add and remove; others leave the fields`, async () => {
    const id = await idOf(resource, all(`changed ${resource}`));
    const change = async (body: object) => {
      const { items } = await ok(server.ask.v06(`POST /${resource}/${id}/update`, body));
      return commonOf(items[0]!);
    };
    const fields = all(`changed ${resource}`);
    assert.deepEqual(await change({ metadata: { set: { a: "b" } } }), fields);
    assert.deepEqual(await change({ dataSetId: { set: 8 }, sourceCreatedTime: { setNull: true } }), {
      ...{ externalId: fields.externalId, dataSetId: 8, labels: fields.labels, sourceModifiedTime: 2_000 },
    });
    const labels = async (body: object) => (await change({ labels: body }))["labels"];
    assert.deepEqual(await labels({ add: ["cold", "hot"], remove: ["ö,"] }), ["hot", "cold"]);
    assert.deepEqual(await labels({ set: ["x", "x"] }), ["x"]);
    assert.deepEqual(await labels({ remove: ["x"] }), undefined);
    assert.deepEqual(await labels({ set: ["y"] }), ["y"]);
    assert.deepEqual(await labels({ setNull: true }), undefined);
    assert.deepEqual(await labels({ set: ["z"] }), ["z"]);
    assert.deepEqual(await labels({ set: null, setNull: false }), ["z"], "as for single values");
    assert.deepEqual(await labels({ set: null }), undefined);
    const { items } = await ok(
      server.ask.v06(`PATCH /${resource}/${id}`, { labels: { set: ["p"] }, dataSetId: { setNull: true } }),
    );
    const { dataSetId: _, sourceCreatedTime: __, ...rest } = { ...fields, labels: ["p"] };
    assert.deepEqual(commonOf(items[0]!), rest);
  });

  test(`${resource}: the list and the search filter by each field`, async () => {
    const source = (sourceCreatedTime: number) => ({ sourceCreatedTime, sourceModifiedTime: 10_000 });
    const a = await idOf(resource, {
      externalId: "Q-1",
      dataSetId: 21,
      labels: ["a", "b"],
      ...source(5_000),
    });
    const b = await idOf(resource, { externalId: "Q-2", dataSetId: 21, labels: ["b"], ...source(6_000) });
    const c = await idOf(resource, { externalId: "q-2", dataSetId: 22, labels: ['["c"]'] });
    const json = (value: unknown) => encodeURIComponent(JSON.stringify(value));
    const cases: readonly (readonly [query: string, expected: number[]])[] = [
      ["externalId=Q-2", [b]],
      ["externalId=Q", []],
      ["dataSetId=21", [a, b]],
      ["dataSetId=21&externalId=q-2", []],
      ["labels=b", [a, b]],
      [`labels=${json(["a", "b"])}`, [a]],
      ["labels=a&labels=b", [a]],
      [`labels=${json(['["c"]'])}`, [c]],
      ["minSourceCreatedTime=5001&dataSetId=21", [b]],
      ["maxSourceCreatedTime=5000&minSourceCreatedTime=5000", [a]],
      ["minSourceModifiedTime=10000&maxSourceModifiedTime=10000", [a, b]],
      ["minSourceModifiedTime=10001", []],
    ];
    const sorted = (response: TestResponse) => idsOf(response).sort((one, other) => one - other);
    for (const [query, expected] of cases)
      for (const ask of versions())
        for (const path of [`/${resource}`, `/${resource}/search`])
          assert.deepEqual(
            sorted(await ok(ask(`GET ${path}?limit=100&${query}`))),
            expected,
            `${path} ${query}`,
          );
    const wrong = await server.ask(`GET /${resource}?labels=[1]`);
    assert.equal(
      wrong.error?.message,
      'Invalid field - labels - expected strings such as ["a","b"] but got [1]',
    );
  });

  test(`${resource}: a filter by more labels than a record can have is refused`, async () => {
    const labels = encodeURIComponent(JSON.stringify(Array(limits.labelsMax + 1).fill("x")));
    for (const path of [`/${resource}`, `/${resource}/search`]) {
      const refused = await server.ask(`GET ${path}?labels=${labels}`);
      assert.deepEqual(
        [refused.status, refused.error?.message],
        [400, "labels may hold at most 100 items but holds 101"],
      );
    }
  });

  test(`${resource}: values out of bounds are refused by name`, async () => {
    const long = "x".repeat(limits.externalIdLengthMax + 1);
    const refusals: readonly (readonly [fields: object, message: RegExp])[] = [
      [{ externalId: "" }, /externalId - expected/],
      [{ externalId: long }, /externalId - expected/],
      [{ externalId: "a\u0000" }, /externalId - expected/],
      [{ dataSetId: "x" }, /dataSetId - expected integer but got string/],
      [{ labels: "x" }, /labels - expected array but got string/],
      [{ labels: [{ externalId: "x" }] }, /labels\[0\] - expected string but got/],
      [{ labels: Array(limits.labelsMax + 1).fill("x") }, /labels may hold at most 100 items but holds 101/],
      [{ sourceCreatedTime: 1e300 }, /sourceCreatedTime - expected/],
      [{ sourceModifiedTime: "2020" }, /sourceModifiedTime - expected integer but got string/],
    ];
    for (const [fields, message] of refusals) {
      const refused = await create(resource, fields);
      assert.equal(refused.status, 400, refused.text);
      assert.match(refused.error!.message, message);
    }
    const id = await idOf(resource, {
      labels: Array.from({ length: limits.labelsMax }, (_, at) => `l${at}`),
    });
    const refused = await server.ask(`POST /${resource}/${id}/update`, { labels: { add: ["more"] } });
    assert.equal(refused.error?.message, "labels may hold at most 100 items but holds 101");
  });

  test(`${resource}: overwriting without the fields keeps them`, async () => {
    const fields = all(`kept ${resource}`);
    const item = { ...bare(resource), ...fields };
    const id = await idOf(resource, item);
    const { externalId: _, dataSetId: __, labels: ___, sourceCreatedTime: ____, ...rest } = item as Item;
    const { sourceModifiedTime: _____, ...plain } = rest;
    const overwrite = {
      assets: (body: object) => server.ask("PUT /assets", { items: [{ id, ...body }] }),
      timeseries: (body: object) => server.ask("PUT /timeseries", { items: [body] }),
      events: (body: object) => server.ask("POST /events/update", { items: [{ id, ...body }] }),
      files: (body: object) => server.ask("POST /files", { items: [{ id, ...body }] }),
    }[resource];
    await ok(overwrite(plain));
    assert.deepEqual(commonOf(await readOne(resource, id)), fields);
    await ok(overwrite({ ...plain, labels: [], dataSetId: 70 }));
    const { labels: ______, ...left } = fields;
    assert.deepEqual(commonOf(await readOne(resource, id)), { ...left, dataSetId: 70 });
  });

  test(`${resource}: OData shows the fields that its entities have, and filters by them`, async () => {
    const set = sets[resource];
    const elsewhere = resource === "timeseries" ? "name" : "sourceId";
    const id = await idOf(resource, { ...all(`o ${resource}`), [elsewhere]: `not ${resource}` });
    const other = await idOf(resource, { [elsewhere]: `other ${resource}` });
    const found = async (filter: string) => {
      const { status, items, text } = await odata(`${set}?$filter=${encodeURIComponent(filter)}`);
      assert.equal(status, 200, text);
      return items.map((item) => Number(item["Id"]));
    };
    const { json } = await odata(`${set}('${id}')`);
    assert.deepEqual([json!["ExternalId"], json!["DataSetId"]], [`o ${resource}`, "7"]);
    assert.equal((await odata(`${set}('${other}')/ExternalId/$value`)).text, `other ${resource}`);
    assert.deepEqual(await found(`ExternalId eq 'o ${resource}' and DataSetId eq '7'`), [id]);
    // The placeholder of a missing external id does not match existing ids.
    assert.deepEqual(await found(`ExternalId eq 'not ${resource}'`), []);
    assert.deepEqual(await found(`ExternalId eq 'other ${resource}'`), [other]);
    const both = [id, other].sort();
    const either = await found(`ExternalId in ('o ${resource}','other ${resource}')`);
    assert.deepEqual(either.sort(), both);
    assert.deepEqual(await found(`startswith(ExternalId,'o ${resource}')`), [id]);
    assert.deepEqual(await found(`ExternalId eq null and ExternalId eq 'o ${resource}'`), []);
    assert.deepEqual(await found(`DataSetId eq null and ExternalId eq 'other ${resource}'`), [other]);
    const selected = await odata(`${set}?$filter=DataSetId eq '7'&$select=ExternalId`);
    assert.ok(
      selected.items.some((item) => item["ExternalId"] === `o ${resource}`),
      selected.text,
    );
  });
}

test("an external id that is taken while the bytes of a file come is refused with its bytes", async () => {
  const put = async (response: TestResponse) => {
    const { uploadURL } = (response.json as { data: { uploadURL: string } }).data;
    return fetch(uploadURL, { method: "PUT", body: "bytes" });
  };
  const file = { fileName: "overwritten late" };
  await put(await ok(server.ask("POST /files/initupload", { ...file, externalId: "early" })));
  const [before] = (await server.ask("GET /files?externalId=early")).items;
  const again = await ok(
    server.ask("POST /files/initupload?overwrite=true", { ...file, externalId: "late" }),
  );
  await idOf("files", { externalId: "late" });
  const refused = await put(again);
  const { error } = (await refused.json()) as { error: { message: string } };
  assert.deepEqual([refused.status, error.message], [409, "A file has this externalId already: late"]);
  assert.deepEqual(await readOne("files", before!["id"] as number), before);
});

test("OData shows labels of assets and times of the sources of files", async () => {
  await idOf("assets", { externalId: "labelled", labels: ["red", "blue"] });
  const { items } = await odata("Assets?$filter=contains(Labels,'red')&$select=ExternalId,Labels");
  assert.deepEqual(
    items.map(({ ExternalId, Labels }) => [ExternalId, Labels]),
    [["labelled", "red,blue"]],
  );
  assert.equal((await odata("Assets?$filter=Labels eq 'red'")).items.length, 0);
  await idOf("files", { externalId: "dated", sourceCreatedTime: 1_000, sourceModifiedTime: 1_500 });
  const filter = "SourceCreatedTime eq 1970-01-01T00:00:01Z and SourceModifiedTime gt 1970-01-01T00:00:01Z";
  const files = await odata(`Files?$filter=${filter}`);
  assert.deepEqual(
    files.items.map(({ ExternalId, SourceCreatedTime, SourceModifiedTime }) => [
      ExternalId,
      SourceCreatedTime,
      SourceModifiedTime,
    ]),
    [["dated", "1970-01-01T00:00:01Z", "1970-01-01T00:00:01.500Z"]],
  );
});

test("a search of assets in a body filters by the fields", async () => {
  const id = await idOf("assets", {
    externalId: "body",
    dataSetId: 31,
    labels: ["z"],
    sourceCreatedTime: 77,
  });
  const found = async (filter: object) => idsOf(await ok(server.ask.v06("POST /assets/search", { filter })));
  for (const filter of [
    { externalId: "body" },
    { dataSetId: 31, labels: ["z"] },
    { sourceCreatedTime: { min: 77, max: 77 } },
  ])
    assert.deepEqual(await found(filter), [id]);
  assert.deepEqual(await found({ externalId: "body", sourceModifiedTime: { min: 0 } }), []);
});

test("relationships lead to records by their external ids", async () => {
  await idOf("timeseries", { externalId: "end of a relationship", name: "another name" });
  const end = { sourceType: "timeSeries", sourceExternalId: "end of a relationship" };
  const target = { targetType: "timeSeries", targetExternalId: "another name" };
  await ok(server.ask("POST /relationships", { items: [{ externalId: "r", ...end, ...target }] }));
  const path = "Relationships('r')?$expand=Source($expand=Timeseries($select=Id)),Target";
  const { json, text } = await odata(path);
  const { Source, Target } = json as { Source: { Timeseries: object }; Target: { Timeseries: object } };
  assert.ok(Source.Timeseries, text);
  assert.equal(Target.Timeseries, null, text);
});

test("aggregates of several series take external ids", async () => {
  const id = await idOf("timeseries", { externalId: "tag of an aggregate" });
  await ok(server.ask(`POST /timeseries/${id}/data`, { items: [{ timestamp: 1_000, value: 3 }] }));
  const times = "Start=1970-01-01T00:00:00Z,End=1970-01-01T01:00:00Z";
  const path = `TimeseriesAggregate(Tags='tag of an aggregate',Granularity='1h',${times})`;
  const { items, text } = await odata(path);
  assert.deepEqual(
    items.map(({ TimeseriesId, Max }) => [TimeseriesId, Max]),
    [[String(id), 3]],
    text,
  );
});
