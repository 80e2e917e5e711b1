// OpenUI5's v4 ODataModel, unmodified, in headless Chromium: a list bound to assets, and other reads.
//
// The page and the modules of OpenUI5 come from an origin of their own, as those of an application do.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createReadStream, existsSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { type Browser, chromium, type Page } from "playwright-core";
import { needs } from "../support/needs.ts";
import { idsOf, startTestServer, type TestServer, withFront } from "../support/server.ts";

const needed = needs("chromium");
const modules = join(import.meta.dirname, "../../node_modules/@openui5/sap.ui.core/src");
const types: Readonly<Record<string, string>> = { ".js": "text/javascript", ".json": "application/json" };

const page = `<!doctype html><title>an application</title>
<script id="sap-ui-bootstrap" src="/resources/sap-ui-core.js" data-sap-ui-async="true"
  data-sap-ui-on-init="module:app/start" data-sap-ui-resource-roots='{"app": "/"}'></script>
<body><div id="content"></div></body>`;

/** The application: a list of assets that shows so many, and more when it is told to grow. */
const start = `sap.ui.define(["sap/ui/core/Control", "sap/ui/core/Element", "sap/ui/model/Filter",
  "sap/ui/model/odata/v4/ODataModel"], (Control, Element, Filter, ODataModel) => {
  const Row = Element.extend("app.Row", { metadata: { properties: { name: "string", below: "string" } } });
  const List = Control.extend("app.List", {
    metadata: { aggregations: { items: { type: "app.Row", multiple: true } } },
    renderer: { apiVersion: 2, render(out, list) {
      out.openStart("ul", list).openEnd();
      for (const row of list.getItems())
        out.openStart("li", row).openEnd().text(row.getName() + " < " + row.getBelow()).close("li");
      out.close("ul");
    } },
    grow(count) {
      this.getBindingInfo("items").length += count;
      this.updateAggregation("items", "change", {});
    },
  });
  window.app = { List, Row, Filter, ODataModel };
});`;

let server: TestServer;
let pages: { server: Server; origin: string };
let browser: Browser;
let tab: Page;
let pumpId: string;
/** The requests of the model to the server, decoded, relative to the root. */
let requested: string[];

before(async () => {
  if (needed.skip !== false) return;
  [server, pages] = await Promise.all([startTestServer(withFront), startPages()]);
  await fill();
  const executablePath = execFileSync("sh", ["-c", "command -v chromium"]).toString().trim();
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  tab = await browser.newPage();
  const root = `${server.baseUrl}/odata/v1/projects/${server.project}/`;
  tab.on("request", (request) => {
    const isRead = request.url().startsWith(root) && request.method() !== "OPTIONS";
    if (isRead) requested.push(`${request.method()} ${decodeURIComponent(request.url().slice(root.length))}`);
  });
  requested = [];
  await tab.goto(pages.origin);
  await tab.waitForFunction("window.app");
  const httpHeaders = { "api-key": server.key };
  const settings = { serviceUrl: root, autoExpandSelect: true, operationMode: "Server", httpHeaders };
  await inPage(`
    window.model = new app.ODataModel({ ...${JSON.stringify(settings)}, groupId: "$direct" });
    window.batching = new app.ODataModel(${JSON.stringify(settings)});`);
});
after(async () => {
  if (needed.skip !== false) return;
  await browser.close();
  pages.server.closeAllConnections();
  pages.server.close();
  await server.close();
});

async function startPages(): Promise<{ server: Server; origin: string }> {
  const own: Readonly<Record<string, string>> = { "/": page, "/start.js": start };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url!, "http://pages");
    response.setHeader("content-type", types[extname(pathname)] ?? "text/html");
    const file = join(modules, pathname.replace("/resources", ""));
    if (own[pathname] !== undefined) response.end(own[pathname]);
    else if (existsSync(file)) createReadStream(file).pipe(response);
    else response.writeHead(404).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Forty assets from SAP below a plant, and one that is not. */
async function fill(): Promise<void> {
  const [plantId] = idsOf(await server.ask.v06("POST /assets", { items: [{ name: "plant" }] }));
  const pumps = Array.from({ length: 40 }, (_, at) => ({
    ...{ name: `pump ${String(at).padStart(2, "0")}`, source: "SAP's", parentId: plantId },
  }));
  const items = [...pumps, { name: "pump of PI", source: "PI", parentId: plantId }];
  const [id] = idsOf(await server.ask.v06("POST /assets", { items }));
  pumpId = String(id);
  await server.ask("POST /timeseries", { items: [{ name: "pressure", assetId: id }] });
  const points = [1, 2, 6].map((value, at) => ({ timestamp: Date.UTC(2024, 0, 1, at), value }));
  await server.ask("POST /timeseries/data/pressure", { items: points });
}

const inPage = (body: string): Promise<unknown> => tab.evaluate(`(async () => { ${body} })()`);

const rows = async (): Promise<string[]> => (await tab.locator("li").allTextContents()).sort();

const firstRows = async (count: number) => {
  await tab.waitForFunction(`document.querySelectorAll("li").length === ${count}`);
  assert.deepEqual((await rows()).slice(0, 2), ["pump 00 < plant", "pump 01 < plant"]);
};

describe("OpenUI5", needed, () => {
  it("shows a bound list with a filter, and grows it", async () => {
    await inPage(`
      const by = (...condition) => new app.Filter(...condition);
      const { List, Row, Filter } = app;
      window.list = new List();
      list.setModel(model);
      list.bindAggregation("items", {
        path: "/Assets", length: 15, suspended: true, parameters: { $count: true },
        filters: [by({ filters: [by("Source", "EQ", "SAP's"), by("Name", "Contains", "pump")], and: true })],
        template: new Row({ name: "{Name}", below: "{Parent/Name}" }),
      });
      list.placeAt("content");
      list.getBinding("items").resume();
      await list.getBinding("items").requestContexts(0, 1000);`);
    await firstRows(15);
    await inPage("list.grow(15);");
    await firstRows(30);
    await inPage("list.grow(15);");
    await firstRows(40);
    assert.deepEqual(requested, [
      "GET $metadata",
      "GET Assets?$count=true&$filter=Source eq 'SAP''s' and contains(Name,'pump')" +
        "&$select=Id,Name&$expand=Parent($select=Id,Name)&$skip=0&$top=1000",
    ]);
  });

  it("filters again on request of the user", async () => {
    requested = [];
    await inPage(`list.getBinding("items").filter(new app.Filter("Name", "EndsWith", "of PI"));`);
    await tab.waitForFunction(`document.querySelectorAll("li").length === 1`);
    assert.deepEqual(await rows(), ["pump of PI < plant"]);
    assert.equal(requested.length, 1);
  });

  it("reads an entity, what it leads to, and functions", async () => {
    const found = await inPage(`
      const of = async (path, name) => {
        const contexts = await model.bindList(path).requestContexts(0, 100);
        return contexts.map((one) => one.getProperty(name));
      };
      const pump = model.bindContext("/Assets('${pumpId}')", undefined, { $expand: "Parent($select=Name)" });
      const { Name, DataSetId, Parent } = await pump.requestObject();
      const [series] = await of("/Assets('${pumpId}')/Timeseries", "Id");
      const range = "Start=2024-01-01T00%3A00%3A00Z,End=2024-01-02T00%3A00%3A00Z,Granularity='2h'";
      const aggregate = "/Timeseries('" + series + "')/DataPlatform.V1.Aggregate(" + range + ")";
      return [Name, DataSetId, Parent.Name, await of("/Assets('${pumpId}')/Timeseries", "Name"),
        await of("/AssetsSearch(Search='pump%2007')", "Name"), await of("/AssetsRoots()", "Name"),
        await of(aggregate, "Max"), await of("/Timeseries('" + series + "')/DataPoints", "Value")];`);
    assert.deepEqual(found, [
      "pump 00",
      null,
      "plant",
      ["pressure"],
      ["pump 07"],
      ["plant"],
      [2, 6],
      [1, 2, 6],
    ]);
  });

  it("gets the reason for a request that is not supported", async () => {
    const messages = await inPage(`
      const problem = (reading) => reading.then(() => "none", ({ message }) => message);
      const filter = [new app.Filter("Name", "Contains", "pump")];
      const skipping = model.bindList("/Assets", undefined, undefined, filter).requestContexts(10, 5);
      const batched = batching.bindList("/AssetsRoots()").requestContexts();
      return [await problem(skipping), await problem(batched)];`);
    const [skipping, batching] = messages as [string, string];
    assert.match(skipping, /^HTTP 501 .*\$skip/);
    assert.match(batching, /\$batch failed/);
  });
});
