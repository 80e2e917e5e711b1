// The requests of Power BI and Excel when a user connects, previews, transforms and loads, in the form of
// Power Query.
//
// The requests and headers are those of server logs and of Microsoft's documentation; the programs themselves
// run on Windows alone. No difference between the two is known: Excel has the same engine.
import assert from "node:assert/strict";
import { get as httpGet } from "node:http";
import { after, before, describe, it } from "node:test";
import { gunzipSync } from "node:zlib";
import { type Item, idsOf, startTestServer, type TestServer, withFront } from "../support/server.ts";

let server: TestServer;
let plantId: string;
let pumpId: string;

before(async () => {
  server = await startTestServer(withFront);
  const plant = { name: "plant", refId: "plant", source: "SAP", sourceId: "PLANT" };
  const pumps = Array.from({ length: 1_500 }, (_, at) => ({
    ...{ name: `pump ${at}`, parentRefId: "plant", source: "SAP", sourceId: `P-${at}` },
    ...(at % 2 === 0 && { description: 'spare, 50 % "as new"' }),
  }));
  const ids: number[] = [];
  ids.push(...idsOf(await server.ask.v06("POST /assets", { items: [plant, ...pumps.slice(0, 999)] })));
  const rest = pumps.slice(999).map(({ parentRefId: _, ...pump }) => ({ ...pump, parentId: ids[0]! }));
  await server.ask.v06("POST /assets", { items: rest });
  [plantId, pumpId] = ids.map(String) as [string, string];
  const series = ["pressure", "flow"].map((name) => ({ name, assetId: Number(pumpId), unit: "bar" }));
  await server.ask("POST /timeseries", { items: series });
});
after(() => server.close());

interface TestResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly json: Item & { readonly value: readonly Item[] };
}

const accept =
  "application/json;odata.metadata=minimal;q=1.0,application/json;odata=minimalmetadata;q=0.9," +
  "application/atomsvc+xml;q=0.8,application/atom+xml;q=0.8,application/xml;q=0.7,text/plain;q=0.7";

/** Sends exactly these headers, and returns the response unchanged. */
function send(url: string, headers: Readonly<Record<string, string>>): Promise<TestResponse> {
  return new Promise((resolve, reject) => {
    httpGet(url, { headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const bytes = Buffer.concat(chunks);
        const isPacked = response.headers["content-encoding"] === "gzip";
        const text = (isPacked ? gunzipSync(bytes) : bytes).toString();
        const isJson = response.headers["content-type"]?.startsWith("application/json");
        const json = (isJson ? JSON.parse(text) : {}) as TestResponse["json"];
        const versions = response.rawHeaders.filter((name) => name.toLowerCase() === "odata-version");
        assert.equal(versions.length, 1, `${url} answers with OData-Version ${versions.length} times`);
        assert.equal(response.headers["odata-version"], "4.0");
        resolve({ status: response.statusCode!, headers: response.headers, text, json });
      });
    }).on("error", reject);
  });
}

const root = () => `${server.baseUrl}/odata/v1/projects/${server.project}`;

describe("Power Query", () => {
  const common = () => ({
    "User-Agent": "Microsoft.Data.Mashup (https://go.microsoft.com/fwlink/?LinkID=304225)",
    MaxDataServiceVersion: "3.0",
    "OData-MaxVersion": "4.0",
    "Accept-Encoding": "gzip, deflate",
    Authorization: `Basic ${Buffer.from(`anyone:${server.key}`).toString("base64")}`,
  });
  const ask = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    send(path.startsWith("http") ? path : root() + path, { ...common(), Accept: accept, ...headers });
  const names = ({ json }: TestResponse) => json.value.map(({ Name }) => Name);

  it("must send a credential", async () => {
    const { Authorization: _, ...anonymous } = common();
    const { status, headers, json } = await send(root(), { ...anonymous, Accept: accept });
    assert.equal(status, 401);
    assert.match(String(headers["www-authenticate"]), /Basic realm=/);
    assert.equal((json["error"] as Item)["code"], "401");
  });

  it("connects: the service, its metadata, the service again", async () => {
    const service = await ask("/");
    assert.equal(service.status, 200);
    assert.equal(service.headers["content-type"], "application/json;odata.metadata=minimal");
    assert.equal(service.json["@odata.context"], `${root()}/$metadata`);
    const metadata = await ask("/$metadata", { Accept: "application/xml" });
    assert.equal(metadata.headers["content-type"], "application/xml");
    assert.match(metadata.text, /<edmx:Edmx [^>]*Version="4.0"/);
    assert.deepEqual((await ask("")).json, service.json);
  });

  it("previews every set that is listed, though all of them require a filter", async () => {
    for (const { url, kind } of (await ask("/")).json.value) {
      if (kind !== "EntitySet") continue;
      const { status, json, text } = await ask(`/${url}?$top=1000`);
      assert.equal(status, 200, text);
      assert.equal(json["@odata.nextLink"], undefined);
      assert.ok(json.value.length <= 1_000);
    }
    const preview = await ask("/Assets?$top=1000&$select=Id%2CName");
    assert.equal(preview.json.value.length, 1_000);
    assert.equal(preview.headers["content-encoding"], "gzip");
  });

  it("loads a filtered set whole, by the links it is given and no $top", async () => {
    const first = "/Assets?$filter=Source%20eq%20%27SAP%27%20and%20Name%20ne%20%27plant%27&$select=Id%2CName";
    const found: unknown[] = [];
    let pages = 0;
    for (let link: string | undefined = first; link !== undefined; pages++) {
      const { status, json, text }: TestResponse = await ask(link);
      assert.equal(status, 200, text);
      assert.equal(json["@odata.context"], `${root()}/$metadata#Assets(Id,Name)`);
      found.push(...json.value.map(({ Id }) => Id));
      link = json["@odata.nextLink"] as string | undefined;
      assert.ok(link?.startsWith(`${root()}/Assets?`) ?? true, String(link));
      assert.ok(!link?.includes(server.key));
    }
    assert.equal(pages, 2);
    assert.equal(new Set(found).size, 1_500);
  });

  it("folds filters, chosen columns and kept rows into the address", async () => {
    const rows = async (filter: string, more = "") =>
      names(await ask(`/Assets?$filter=${encodeURIComponent(filter)}${more}`));
    assert.deepEqual(await rows("Name eq 'plant' or Name eq 'pump 3'"), ["plant", "pump 3"]);
    assert.deepEqual(await rows("ExternalId ge 'P-998' and not (Name eq 'pump 999')"), ["plant", "pump 998"]);
    assert.deepEqual(await rows("startswith(Name, 'pump 14') and Description eq null", "&$top=2"), [
      "pump 141",
      "pump 143",
    ]);
    assert.deepEqual(await rows("Description ne null and contains(ExternalId, 'P-1498')"), ["pump 1498"]);
  });

  it("counts rows", async () => {
    const { status, headers, text } = await ask("/Assets/$count?$filter=Source%20eq%20%27SAP%27", {
      Accept: "text/plain",
    });
    assert.deepEqual([status, headers["content-type"], text], [200, "text/plain", "1501"]);
  });

  it("expands a column to one record, whose name is selected as well", async () => {
    const expand = "$expand=Parent%28%24select%3DId%2CName%29";
    const address = `/Assets?$filter=ExternalId%20eq%20%27P-7%27&$select=Id%2CParent&${expand}`;
    const { json } = await ask(address);
    assert.deepEqual(
      json.value.map(({ Parent }) => Parent),
      [{ Id: plantId, Name: "plant" }],
    );
    assert.deepEqual(Object.keys(json.value[0]!), ["Id", "Parent"]);
  });

  it("expands a column of many by one request a row, without a filter", async () => {
    const found = await ask(`/Assets('${pumpId}')/Timeseries?$select=Name%2CUnit`);
    assert.deepEqual(names(found), ["flow", "pressure"]);
    const nothing = await ask(`/Assets('${plantId}')/Timeseries?$select=Name`);
    assert.deepEqual(nothing.json.value, []);
  });

  it("invokes functions", async () => {
    assert.deepEqual(names(await ask("/AssetsRoots()")), ["plant"]);
    assert.deepEqual(names(await ask("/AssetsSearch(Search='pump%201499')?$top=1000")), ["pump 1499"]);
  });

  it("is told in words what cannot be had", async () => {
    const { status, json } = await ask("/Assets?$filter=Id%20eq%20%271%27%20or%20Id%20eq%20%272%27");
    assert.equal(status, 400);
    const { code, message } = json["error"] as { code: unknown; message: string };
    assert.equal(code, "400");
    assert.match(message, /^HTTP 400 Bad Request: .*Id/);
  });

  it("takes wishes that are not met", async () => {
    const { status, headers } = await ask("/Assets?$top=1", {
      Prefer: 'odata.include-annotations="*",omit-values=nulls',
    });
    assert.equal(status, 200);
    assert.doesNotMatch(String(headers["preference-applied"]), /annotations/);
  });
});

it("a feed that is no OData 4 is refused rather than guessed", async () => {
  const headers = { "api-key": server.key, Accept: "application/atom+xml" };
  assert.equal((await send(`${root()}/Assets?$top=1`, headers)).status, 406);
  const old = { "api-key": server.key, "OData-MaxVersion": "3.0", MaxDataServiceVersion: "3.0" };
  assert.equal((await send(root(), old)).status, 400);
});
