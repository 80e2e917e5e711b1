// Metadata of every resource: numbers and booleans stay as written, null is absent, nested values are
// refused.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestResponse, type TestServer } from "../../test/support/server.ts";
import { routes } from "../resources.ts";
import { pairsPathsOf } from "./pairs-paths.ts";
import type { ApiVersion } from "./route.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer({ hostsModels: true });
});
after(() => server.close());

const numbers = '"whole":1,"decimal":1.50,"long":9007199254740993,"longer":12345678901234567890,"huge":1e400';

/** As a client writes them; `JSON.stringify` would change the numbers. */
const pairs = `{"text":"a",${numbers},"yes":true,"no":false,"none":null}`;

const kept = {
  ...{ text: "a", whole: "1", decimal: "1.50", long: "9007199254740993", longer: "12345678901234567890" },
  ...{ huge: "1e400", yes: "true", no: "false" },
};

interface Resource {
  readonly path: string;
  readonly versions: readonly ApiVersion[];
  readonly fields: (n: number) => string;
  /** The requests that filter by metadata. */
  readonly finds: readonly string[];
  readonly query?: string;
  readonly hasAdd?: boolean;
  /** The name of the metadata in a refusal of a plain value in a PATCH. */
  readonly patched: string;
}

const resources: readonly Resource[] = [
  {
    ...{ path: "/assets", versions: ["0.4", "0.5", "0.6"], fields: (n) => `"name":"asset ${n}"` },
    ...{ finds: ["GET /assets", "GET /assets/search"], patched: "metadata" },
  },
  {
    ...{ path: "/timeseries", versions: ["0.4", "0.5", "0.6"], fields: (n) => `"name":"series ${n}"` },
    ...{ finds: ["GET /timeseries/search"], query: "includeMetadata=true&", patched: "metadata.set" },
  },
  {
    ...{ path: "/events", versions: ["0.4", "0.5", "0.6"], fields: () => '"type":"t"' },
    ...{ finds: ["GET /events/search"], patched: "metadata.set" },
  },
  {
    ...{ path: "/sequences", versions: ["0.5", "0.6"], fields: () => '"columns":[{"valueType":"LONG"}]' },
    ...{ finds: ["GET /sequences/search"], hasAdd: true, patched: "metadata.set" },
  },
];

const askIn = (version: ApiVersion) =>
  ({ "0.4": server.ask.v04, "0.5": server.ask.v05, "0.6": server.ask.v06 })[version];

const first = (response: TestResponse) => {
  assert.ok(response.status < 300 && response.items.length === 1, response.text);
  return response.items[0]!;
};

const isNested = ({ status, error }: TestResponse, field: string, requestLine: string) => {
  assert.equal(status, 400, requestLine);
  const start = `Invalid field - ${field} - expected string but got `;
  assert.ok(error!.message.startsWith(start), `${requestLine} answered ${error!.message}, not ${start}`);
};

const filters = ['{"decimal":1.50}', '{"decimal":"1.50"}', '{"yes":true,"none":null}', "{'yes': True}"];

for (const resource of resources) {
  const { path, versions, fields, finds, query = "", hasAdd = false, patched } = resource;

  test(`metadata below ${path} is created in every version`, async () => {
    for (const [n, version] of versions.entries()) {
      const named = fields(n + 100) + (version === "0.4" ? `,"tagId":"series ${n + 100}"` : "");
      const items = `{"items":[{${named},"metadata":${pairs}}]}`;
      const response = await askIn(version)(`POST ${path}`, items);
      assert.ok(response.status < 300, response.text);
      const id = (response.items[0] ?? first(await server.ask(`GET ${path}?${query}q=series ${n + 100}`)))[
        "id"
      ];
      const made = first(await server.ask.v06(`POST ${path}/byids`, { items: [id] }));
      assert.deepEqual(made["metadata"], kept, version);
      await server.ask.v06(`POST ${path}/delete`, { items: [id] });
      const nested = `{"items":[{${named},"metadata":{"a":{"b":1}}}]}`;
      isNested(await askIn(version)(`POST ${path}`, nested), "items[0].metadata.a", version);
    }
  });

  test(`metadata below ${path} is filtered by`, async () => {
    const made = first(
      await server.ask.v06(`POST ${path}`, `{"items":[{${fields(1)},"metadata":${pairs}}]}`),
    );
    const findBy = (find: string, filter: string) =>
      server.ask.v06(`${find}?${query}metadata=${encodeURIComponent(filter)}`);
    for (const find of finds) {
      for (const filter of filters) {
        const found = await findBy(find, filter);
        const ids = found.items.map(({ id }) => id);
        assert.deepEqual(ids, [made["id"]], `${find} ${filter} ${found.text}`);
      }
      assert.deepEqual((await findBy(find, '{"decimal":1.5}')).items, [], "1.5 is another text than 1.50");
      isNested(await findBy(find, '{"a":{"b":1}}'), "metadata.a", find);
    }
  });

  test(`metadata below ${path} is changed`, async () => {
    const { id } = first(await server.ask.v06(`POST ${path}`, `{"items":[{${fields(2)}}]}`));
    const one = `${path}/${id}`;
    const changed = async (requestLine: string, body: string) =>
      first(await server.ask.v06(requestLine, body))["metadata"] ?? {};
    assert.deepEqual(await changed(`POST ${one}/update`, `{"metadata":{"set":${pairs}}}`), kept);
    const all = `{"items":[{"id":${id},"metadata":{"set":{"n":1.0}}}]}`;
    assert.deepEqual(await changed(`POST ${path}/update`, all), { n: "1.0" });
    const plain = '{"metadata":{"set":2,"rate":0.10,"none":null}}';
    assert.deepEqual(await changed(`PATCH ${one}`, plain), { set: "2", rate: "0.10" });
    assert.deepEqual(await changed(`PATCH ${one}`, '{"metadata":{"yes":true}}'), { yes: "true" });
    assert.deepEqual(await changed(`PATCH ${one}`, '{"metadata":{"set":{"n":-0}}}'), { n: "-0" });
    if (hasAdd) {
      const added = await changed(`POST ${one}/update`, '{"metadata":{"add":{"m":true}}}');
      assert.deepEqual(added, { n: "-0", m: "true" });
    }
    assert.deepEqual(await changed(`PATCH ${one}`, '{"metadata":{"setNull":true}}'), {});
    await changed(`PATCH ${one}`, '{"metadata":{"n":1}}');
    assert.deepEqual(await changed(`PATCH ${one}`, '{"metadata":{}}'), {});
    const nested: [string, string, string][] = [
      [`POST ${one}/update`, '{"metadata":{"set":{"a":[1]}}}', "metadata.set.a"],
      [`PATCH ${one}`, '{"metadata":{"a":{}}}', `${patched}.a`],
      [`PATCH ${one}`, '{"metadata":{"set":{"a":[1]}}}', "metadata.set.a"],
    ];
    for (const [requestLine, body, field] of nested)
      isNested(await server.ask.v06(requestLine, body), field, requestLine);
  });
}

test("columns of sequences, models, files and searches by a body take such metadata too", async () => {
  const column = `{"valueType":"LONG","metadata":${pairs}}`;
  const sequence = first(await server.ask.v06("POST /sequences", `{"items":[{"columns":[${column}]}]}`));
  assert.deepEqual((sequence["columns"] as { metadata: object }[])[0]?.metadata, kept);
  const model = await server.ask.v06("POST /analytics/models", `{"name":"m","metadata":${pairs}}`);
  assert.deepEqual((model.items[0] ?? model.json)?.["metadata" as never], kept, model.text);
  const begun = await server.ask("POST /files/initupload", `{"fileName":"f","metadata":${pairs}}`);
  assert.equal(begun.status, 200, begun.text);
  const { fileId } = (begun.json as { data: { fileId: number } }).data;
  const changed = await server.ask(`POST /files/${fileId}/update`, '{"metadata":{"set":{"n":1.0}}}');
  assert.deepEqual(changed.items[0]?.["metadata"], { n: "1.0" });
  await server.ask("POST /assets", '{"items":[{"name":"searched","metadata":{"rack":7.0}}]}');
  const search = (value: string) =>
    server.ask.v06("POST /assets/search", `{"filter":{"metadata":{"rack":${value}}}}`);
  assert.deepEqual(
    (await search("7.0")).items.map(({ name }) => name),
    ["searched"],
  );
  assert.deepEqual((await search("7")).items, []);
});

/** The keywords of a schema that lead to its members. */
interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
}

/** The paths of all members called `metadata`, without those below them. */
const metadataIn = ({ properties = {}, items, anyOf = [] }: Shape, names: readonly string[]): string[] => [
  ...[...anyOf, ...(items ? [items] : [])].flatMap((one) => metadataIn(one, names)),
  ...Object.entries(properties).flatMap(([name, member]) =>
    name === "metadata" ? [[...names, name].join(".")] : metadataIn(member, [...names, name]),
  ),
];

test("no body of a route has metadata that is read otherwise", () => {
  let count = 0;
  for (const { method, path, body } of routes) {
    // There `metadata` says whether the response has it.
    if (!body || path === "/tagmatching") continue;
    const paths = pairsPathsOf(body.schema).map(({ names }) => names.join("."));
    for (const member of metadataIn(body.schema as Shape, [])) {
      const isRead = paths.some((path) => `${path}.`.startsWith(`${member}.`));
      assert.ok(isRead && body.kind === "json", `${method} ${path} ${member}`);
      count += 1;
    }
  }
  assert.ok(count >= 30, `${count}`);
});

test("the lengths of such values count, and what is no scalar of JSON is refused", async () => {
  const long = "1".repeat(2_000);
  const { items } = await server.ask("POST /assets", `{"items":[{"name":"long","metadata":{"n":${long}}}]}`);
  assert.deepEqual(items[0]?.["metadata"], { n: long });
  const wrong = await server.ask("POST /assets", '{"items":[{"name":"x","metadata":{"n":01}}]}');
  assert.match(wrong.error!.message, /not valid JSON/);
  const twice = '{"items":[{"name":"twice","metadata":{"a":1,"a":"x","b":"x","b":2,"c":3,"c":null}}]}';
  assert.deepEqual((await server.ask("POST /assets", twice)).items[0]?.["metadata"], { a: "x", b: "2" });
});
