// Random OData addresses: each is served or refused, never with a server error, and has no side effect.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { type AskOData, odataOf } from "../../test/support/odata.ts";
import { startTestServer, type TestServer, withFront } from "../../test/support/server.ts";

let server: TestServer;
let ask: AskOData;
/** Of an asset and of a series with points. */
let ids: readonly string[];

before(async () => {
  server = await startTestServer(withFront);
  ask = odataOf(server);
  await server.ask.v06("POST /assets", { items: [{ name: "pump", source: "SAP", metadata: { a: "b" } }] });
  const [asset] = (await ask("Assets?$top=1")).items;
  await server.ask("POST /timeseries", { items: [{ name: "flow", assetId: Number(asset!["Id"]) }] });
  const points = Array.from({ length: 50 }, (_, at) => ({ timestamp: at * 1000, value: at }));
  await server.ask("POST /timeseries/data/flow", { items: points });
  await server.ask("POST /raw/d/t/create?ensureParent=true", { items: [{ key: "k", columns: { a: [1] } }] });
  ids = [asset!["Id"], (await ask("Timeseries?$top=1")).items[0]!["Id"]].map(String);
});
after(() => server.close());

const sets =
  "Assets Timeseries Events Files Sequences Relationships Raw Tables Rows SequenceRows SequenceColumns " +
  "DataPoints StringPoints Latest Aggregates Resource DownloadUrl";
const ways =
  "Parent Root Children Subtree Timeseries Events Files Sequences Asset Assets Latest DataPoints " +
  "Columns Rows Tables Source Target Name MetaData Id $count $value $ref a Aggregate AssetsRoots";
const names =
  "Id Name Source CreatedTime MetaData/a AssetIds Value TimeStamp TimeseriesId RawData/a Nope Key";
const pick = (words: string) => fc.constantFrom(...words.split(" "));

const literal = fc.oneof(
  fc.constantFrom(
    "'a'",
    "1",
    "null",
    "true",
    "2024-01-01T00:00:00Z",
    "NaN",
    "-INF",
    "@p",
    "'",
    "duration'P1D'",
  ),
  fc.string({ maxLength: 5 }).map((text) => `'${text.replaceAll("'", "''")}'`),
);
const key = fc.oneof(
  fc.nat(1).map((at) => `'${ids[at]}'`),
  fc.constantFrom("'d'", "'t'", "'k'", "Id='1'", ""),
  literal,
);

const comparison = fc
  .tuple(pick(names), pick("eq ne gt ge lt le add has in"), literal)
  .map((parts) => parts.join(" "));
const condition = fc.oneof(
  comparison,
  fc
    .tuple(pick("contains startswith endswith tolower nope"), pick(names), literal)
    .map(([f, a, b]) => `${f}(${a},${b})`),
  fc.tuple(pick("any all"), comparison).map(([q, part]) => `AssetIds/${q}(Id:${part})`),
);
const filter = fc
  .array(fc.tuple(condition, pick("and or")), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.map(([part, join], at) => (at === 0 ? part : `${join} not (${part})`)).join(" "));

const { expand } = fc.letrec<{ expand: string; options: string }>((tie) => ({
  expand: fc
    .array(fc.tuple(fc.oneof(pick(ways), fc.constant("*")), fc.option(tie("options"), { nil: "" })), {
      minLength: 1,
      maxLength: 3,
    })
    .map((all) => all.map(([name, options]) => (options === "" ? name : `${name}(${options})`)).join()),
  options: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom("$top=1", "$select=Id", "$count=true", "$levels=2", "$levels=max", "$top=x", ")"),
    filter.map((text) => `$filter=${text}`),
    fc.tuple(tie("expand"), fc.constantFrom("", ";$top=2")).map(([inner, more]) => `$expand=${inner}${more}`),
  ),
}));

const option = fc.oneof(
  filter.map((text) => ["$filter", text]),
  expand.map((text) => ["$expand", text]),
  fc.array(pick(names), { maxLength: 3 }).map((all) => ["$select", all.join()]),
  fc.constantFrom(["$top", "2"], ["$top", "-1"], ["$count", "true"], ["$skip", "0"], ["$orderby", "Name"]),
  fc.string({ maxLength: 30 }).map((text) => ["$skiptoken", text]),
  literal.map((text) => ["@p", text]),
  fc.tuple(fc.string({ maxLength: 4 }), fc.string({ maxLength: 8 })),
);

const called = (name: string, inside: string | null) => (inside === null ? name : `${name}(${inside})`);

const path = fc
  .tuple(
    pick(sets),
    fc.option(key),
    fc.array(fc.tuple(pick(ways), fc.option(key, { freq: 2 })), { maxLength: 3 }),
  )
  .map(([set, first, steps]) => [called(set, first), ...steps.map(([name, inside]) => called(name, inside))]);

/** That lead to something for sure. */
const goodPath = fc.nat(5).map((at) => {
  const [asset, series] = ids;
  const range = "Start=1970-01-01T00:00:00Z,End=1970-01-02T00:00:00Z,Granularity='1m'";
  return [
    [`Timeseries('${series}')`, "DataPoints"],
    [`Timeseries('${series}')`, `Aggregate(${range})`],
    [`Assets('${asset}')`, "Subtree"],
    [`Assets('${asset}')`],
    ["Raw('d')", "Tables('t')", "Rows"],
    ["AssetsRoots"],
  ][at]!;
});

const address = fc
  .tuple(fc.oneof(path, goodPath), fc.array(option, { maxLength: 3 }))
  .map(([steps, options]) => {
    const query = options.map((pair) => pair.map(encodeURIComponent).join("="));
    return `${steps.map(encodeURIComponent).join("/")}?${query.join("&")}`;
  });

test("any address is served, or refused as a client error or as not supported", async () => {
  const seen = new Map<number, number>();
  const isAnswered = async (path: string) => {
    const { status, text } = await ask(path);
    assert.ok(status < 500 || status === 501, `${path} answered ${status} ${text}`);
    seen.set(status, (seen.get(status) ?? 0) + 1);
  };
  await fc.assert(fc.asyncProperty(address, isAnswered), { numRuns: 1500 });
  for (const status of [200, 400, 404, 501])
    assert.ok((seen.get(status) ?? 0) > 20, `${status} of ${[...seen]}`);
});

test("filters that are all different leave nothing in memory", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const long = "x".repeat(4_000);
  const askMany = async (from: number) => {
    for (let at = from; at < from + 300; at++)
      await ask(
        `Assets?$filter=Name eq '${at}${long}' or Source_${at} eq @p and (((Nope_${at} eq 1)))&@p='${at}'`,
      );
    collect();
    return process.memoryUsage().heapUsed;
  };
  const first = await askMany(0);
  const later = await askMany(1_000);
  assert.ok(later < first + 2 * 1_000_000, `the heap went from ${first} to ${later} bytes`);
});
