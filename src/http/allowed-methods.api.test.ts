// Methods and paths that no operation serves, derived from the route table: 401 for strangers, else 404 or
// 405.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer, withFront } from "../../test/support/server.ts";
import { routes } from "../resources.ts";
import { type ApiVersion, apiVersions, pathOf } from "../rest/route.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer(withFront);
});
after(() => server.close());

interface Pattern {
  readonly segments: readonly string[];
  readonly methods: ReadonlySet<string>;
  /** It takes all of the path that is left. */
  readonly takesRest: boolean;
}

const isParameter = (segment: string | undefined) => segment?.startsWith("{") ?? false;

function patternsOf(version: ApiVersion): readonly Pattern[] {
  const patterns = new Map<string, Pattern & { methods: Set<string> }>();
  for (const route of routes.filter(({ versions }) => versions.includes(version))) {
    const path = pathOf(route, version).replaceAll(/\{\w+\}/g, "{p}");
    const known = patterns.get(path) ?? {
      segments: path.split("/"),
      methods: new Set(),
      takesRest: route.takesRest === true,
    };
    known.methods.add(route.method);
    if (route.method === "GET") known.methods.add("HEAD");
    patterns.set(path, known);
  }
  return [...patterns.values()];
}

/** Whether `wide` has a parameter where `narrow` has a word, and takes every path that `narrow` takes. */
const covers = (wide: Pattern, narrow: Pattern): boolean =>
  wide !== narrow &&
  (wide.takesRest
    ? wide.segments.length <= narrow.segments.length
    : wide.segments.length === narrow.segments.length) &&
  wide.segments.every((segment, at) => isParameter(segment) || segment === narrow.segments[at]);

const addressOf = ({ segments }: Pattern) =>
  segments.join("/").replace("{p}", server.project).replaceAll("{p}", "1");

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
const allowedBy = (pattern: Pattern) => methods.filter((one) => pattern.methods.has(one)).join(", ");
const stranger = { "api-key": undefined };

for (const version of apiVersions)
  test(`in ${version} a word that names an operation is not read as the name of a record`, async () => {
    const patterns = patternsOf(version);
    const captured = patterns.flatMap((narrow) =>
      methods
        .filter((method) => !narrow.methods.has(method))
        .filter((method) => patterns.some((wide) => covers(wide, narrow) && wide.methods.has(method)))
        .map((method) => ({ method, narrow })),
    );
    const found = captured.map(({ method, narrow }) => `${method} ${narrow.segments.slice(5).join("/")}`);
    for (const one of [
      "timeseries/dataframe",
      "assets/byids",
      "files/initupload",
      "storage/metadata",
      "raw/create",
    ])
      assert.ok(found.includes(`GET ${one}`), one);
    for (const { method, narrow } of captured) {
      const requestLine = `${method} ${addressOf(narrow)}`;
      const response = await server.ask.root(requestLine);
      assert.equal(response.status, 405, requestLine);
      assert.equal(response.headers.get("allow"), allowedBy(narrow), requestLine);
    }
  });

for (const version of apiVersions)
  test(`in ${version} each other method of each path is 405, and 401 for a stranger`, async () => {
    for (const pattern of patternsOf(version))
      for (const method of methods.filter((one) => !pattern.methods.has(one))) {
        const requestLine = `${method} ${addressOf(pattern)}`;
        const response = await server.ask.root(requestLine);
        assert.equal(response.status, 405, requestLine);
        assert.equal(response.headers.get("allow"), allowedBy(pattern), requestLine);
        const refused = await server.ask.root(requestLine, undefined, stranger);
        assert.equal(refused.status, 401, requestLine);
        assert.equal(refused.headers.get("allow"), null, requestLine);
      }
  });

test("a series that has the name of an operation keeps it, and is changed and deleted by id", async () => {
  await server.ask("POST /timeseries", { items: [{ name: "search" }, { name: "byids" }] });
  assert.equal((await server.ask("DELETE /timeseries/search")).status, 405);
  const { items } = await server.ask("GET /timeseries");
  assert.deepEqual(
    items.map(({ name }) => name),
    ["byids", "search"],
  );
  const ids = items.map(({ id }) => id);
  assert.equal((await server.ask("POST /timeseries/byids", { items: ids })).items.length, 2);
  assert.equal((await server.ask("POST /timeseries/delete", { items: ids })).status, 200);
  assert.deepEqual((await server.ask("GET /timeseries")).items, []);
});

/** As `ask.root`, for paths of both interfaces. */
function request(methodAndPath: string, headers: Record<string, string | undefined> = {}) {
  const [method, path] = methodAndPath.split(" ") as [string, string];
  const sent = { "api-key": server.key, ...headers };
  const given = Object.entries(sent).filter((one): one is [string, string] => one[1] !== undefined);
  return fetch(server.baseUrl + path, { method, headers: Object.fromEntries(given) });
}

test("below a project an unknown path is 404, and 401 for a stranger, over both interfaces", async () => {
  const rest = ["/nothing", "/assets/1/2/3", "/raw/a/b/c/d", "/timeseries/byids/1"];
  const paths = [
    ...rest.map((path) => `/api/0.5/projects/demo${path}`),
    "/api/0.4/projects/demo/relationships",
    "/odata/v1/projects/demo/Nothing",
    "/odata/v1/projects/demo/vocabularies/Nothing.xml",
  ];
  for (const path of paths)
    for (const method of methods) {
      const requestLine = `${method} ${path}`;
      const isOfEntity = path.startsWith("/odata/");
      if (!(isOfEntity && method !== "GET"))
        assert.equal((await request(requestLine)).status, 404, requestLine);
      for (const headers of [stranger, { "api-key": "wrong" }])
        assert.equal((await request(requestLine, headers)).status, 401, requestLine);
      const elsewhere = requestLine.replace("/demo/", "/nowhere/");
      assert.equal((await request(elsewhere)).status, 403, elsewhere);
    }
});

test("a wrong method over OData is 405 for a caller and a challenge for a stranger", async () => {
  for (const path of ["", "/AssetsRoots", "/vocabularies/Org.OData.Core.V1.xml"])
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      const requestLine = `${method} /odata/v1/projects/demo${path}`;
      const known = await request(requestLine);
      assert.deepEqual([known.status, known.headers.get("allow")], [405, "GET, HEAD"], requestLine);
      const refused = await request(requestLine, stranger);
      assert.equal(refused.status, 401, requestLine);
      assert.equal(refused.headers.get("www-authenticate"), 'Basic realm="Millrace", Bearer');
    }
  const vocabulary = "GET /odata/v1/projects/demo/vocabularies/Org.OData.Core.V1.xml";
  assert.equal((await request(vocabulary, stranger)).status, 200);
});

test("outside of projects strangers read 404 and 405", async () => {
  const statusOf = async (requestLine: string) =>
    (await server.ask.root(requestLine, undefined, stranger)).status;
  assert.equal(await statusOf("GET /nothing"), 404);
  assert.equal(await statusOf("PUT /login"), 405);
  assert.equal(await statusOf("DELETE /login"), 405);
  assert.equal(await statusOf("POST /health"), 405);
});

test("a path is matched before its method, also by patterns with parameters in other places", async () => {
  for (const path of ["analytics/models/schedules/update", "analytics/models/sourcepackages/predict"]) {
    const requestLine = `PUT /api/0.6/projects/demo/${path}`;
    const { status, headers } = await request(requestLine);
    assert.deepEqual([status, headers.get("allow")], [405, "GET, HEAD, DELETE"], requestLine);
  }
});
