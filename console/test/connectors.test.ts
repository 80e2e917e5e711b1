// Tests the section of connectors on the connect page in a real browser.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, it } from "node:test";
import type { Page } from "playwright-core";
import { realSystem } from "../../src/lib/system.ts";
import { limits } from "../../src/limits.ts";
import { stopped, until } from "../../test/support/connector.ts";
import { temporaryFolder } from "../../test/support/folder.ts";
import { startMosquitto } from "../../test/support/mosquitto.ts";
import { needs } from "../../test/support/needs.ts";
import { endLeftProcesses, runMillrace } from "../../test/support/process.ts";
import { idsOf } from "../../test/support/server.ts";
import {
  assertAccessible,
  assertSelectedTabInSight,
  type ConsoleUnderTest,
  startConsole,
} from "./browser.ts";

const startMs = Date.now();
let passedMs = 0;
const system = { ...realSystem, nowMs: () => startMs + passedMs };
let console: ConsoleUnderTest;
before(async () => {
  console = await startConsole({ system });
});
after(() => console.close());
beforeEach(async () => {
  const { v06 } = console.server.ask;
  const items = idsOf(await v06("GET /connectors"));
  if (items.length > 0) await v06("POST /connectors/delete", { items });
});

const report = (name: string, more: object = {}) =>
  console.server.ask.v06("POST /connectors/report", {
    items: [
      {
        ...{ name, instance: "a", source: "mqtt", version: "0.1.0", startedTime: 0, status: "RUNNING" },
        counts: { received: 52_340, written: 52_310, refused: 2, dropped: 7 },
        buffer: { points: 0, bytes: 0 },
        ...more,
      },
    ],
  });

const reportAll = async () => {
  await report("quiet hall");
  passedMs += limits.connectorSilentMs + 1;
  await report("boiler house", { address: "mqtt://broker.example:1883" });
  const error = { message: "the broker closed the connection", time: Date.now() - 180_000 };
  const buffer = { points: 28, bytes: 4096, oldestTime: Date.now() - 60_000 };
  await report("tank farm", { status: "DEGRADED", error, buffer });
  await report("old line", { status: "STOPPED" });
};

const cellsOf = (page: Page): Promise<string[][]> =>
  page.evaluate(
    `[...document.querySelectorAll("table[aria-label=Connectors] tbody tr")]
      .map((row) => [...row.cells].map((cell) => cell.innerText.replaceAll(/\\s+/g, " ").trim()))`,
  );

it("shows each connector with its state, those with problems first, and follows them", async () => {
  await reportAll();
  const page = await console.open({ path: "/connect" });
  await page.getByRole("row", { name: /^boiler house/ }).waitFor();
  const cells = await cellsOf(page);
  assert.deepEqual(
    cells.map(([name, state]) => [name, state]),
    [
      ["quiet hall mqtt", "Silent"],
      ["tank farm mqtt", "Problem"],
      ["boiler house mqtt://broker.example:1883", "Running"],
      ["old line mqtt", "Stopped"],
    ],
  );
  assert.deepEqual(cells[2]!.slice(3), ["52 340", "52 310", "2", "7", "empty", "", ""]);
  assert.match(cells[1]![7]!, /^28 records, 4 KiB the oldest \d+ min( \d+ s)? ago$/);
  assert.match(cells[1]![8]!, /^the broker closed the connection \d+ min( \d+ s)? ago$/);
  await report("tank farm");
  await page.getByRole("row", { name: /^tank farm mqtt Running/ }).waitFor();
  await console.release(page);
});

it("deletes a connector that is over, and none that runs", async () => {
  await reportAll();
  const page = await console.open({ path: "/connect" });
  await page.getByRole("button", { name: "Delete quiet hall" }).click();
  await page.getByRole("button", { name: "Delete the connector" }).click();
  await page.getByRole("row", { name: /^quiet hall/ }).waitFor({ state: "detached" });
  const { items } = await console.server.ask.v06("GET /connectors");
  assert.deepEqual(
    items.map(({ name }) => name),
    ["boiler house", "tank farm", "old line"],
  );
  assert.equal(await page.getByRole("button", { name: "Delete boiler house" }).count(), 0);
  await console.release(page);
});

it("says how to start the first one, and shows nothing to people without the right", async () => {
  const page = await console.open({ path: "/connect" });
  const section = page.getByRole("region", { name: "Connectors" });
  await section.getByRole("link", { name: "Set up a connector" }).click();
  await page.getByText("npx millrace connect plant.yaml check").waitFor();
  await console.release(page);
  const ask = console.server.ask.v06;
  const made = async (path: string, item: object) => (await ask(`POST ${path}`, { items: [item] })).items[0]!;
  const capabilities = [{ timeSeriesAcl: { actions: ["READ"], scope: { all: {} } } }];
  const { id } = await made("/groups", { name: "readers", capabilities });
  const user = await made("/users", { uniqueName: "reader", groups: [id] });
  const { value } = await made("/apikeys", { userId: user["id"] });
  const other = await console.open({ path: "/connect", key: value as string });
  await other.getByRole("tab", { name: "Power BI" }).waitFor();
  assert.equal(await other.getByRole("region", { name: "Connectors" }).count(), 0);
  await console.release(other);
});

it(
  "makes a key for one subtree, and its file connects a broker with this key",
  needs("mosquitto"),
  async (t) => {
    const ask = console.server.ask.v06;
    const [hall, office] = idsOf(
      await ask("POST /assets", { items: [{ name: "Hall" }, { name: "Office" }] }),
    );
    const broker = await startMosquitto();
    t.after(() => broker.stop());
    t.after(endLeftProcesses);
    const page = await console.open({ path: "/connect?tool=connector" });
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name").fill("hall connector");
    assert.equal(await page.getByRole("button", { name: "Create the key" }).isEnabled(), false);
    await page.getByRole("combobox", { name: "Asset" }).fill("hall");
    await page.getByRole("option", { name: "Hall" }).click();
    await page.getByRole("button", { name: "Create the key" }).click();
    const key = await page.getByRole("textbox", { name: "Key of hall connector" }).inputValue();
    const codeOf = (label: string) => page.getByRole("figure", { name: label }).locator("pre").innerText();
    const yaml = await codeOf("plant.yaml");
    assert.match(yaml, new RegExp(`asset: ${hall}\\n`));
    assert.match(await codeOf("Start the connector"), new RegExp(`MILLRACE_KEY='${key}'`));
    await page.getByRole("tab", { name: "curl" }).click();
    assert.match(await codeOf("List time series"), /api-key: mr_\.\.\.'/);
    await console.release(page);

    const file = join(temporaryFolder(), "plant.yaml");
    writeFileSync(file, yaml.replace("mqtt://127.0.0.1:1883", broker.url));
    const connector = runMillrace(["connect", file], { MILLRACE_KEY: key }, temporaryFolder());
    await until(() => connector.output().includes("Subscribed"), "the start");
    const publisher = await broker.client();
    await publisher.publishAsync("plant/hall/temperature", "21.5", { qos: 1 });
    await until(
      async () => (await ask("GET /timeseries?name=hall.temperature")).items.length === 1,
      "the series",
    );
    const [series] = (await ask("GET /timeseries?name=hall.temperature")).items;
    assert.deepEqual([series!["assetId"], series!["unit"]], [hall, "degC"]);
    await until(async () => (await ask("GET /connectors")).items[0]?.["name"] === "plant", "its state");
    await publisher.endAsync();
    await stopped(connector);

    const withKey = { "api-key": key };
    const seen = await ask("GET /assets", undefined, withKey);
    assert.deepEqual(idsOf(seen), [hall]);
    const refused = { items: [{ name: "office.temperature", assetId: office }] };
    assert.equal((await ask("POST /timeseries", refused, withKey)).status, 400);
    assert.deepEqual((await ask("GET /timeseries?name=office.temperature")).items, []);
  },
);

it("has no faults of accessibility, light and dark, wide and narrow", async () => {
  await reportAll();
  const page = await console.open({ path: "/connect" });
  for (const [colorScheme, width] of [
    ["light", 1440],
    ["dark", 360],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 740 });
    await page.getByRole("row", { name: /^boiler house/ }).waitFor();
    await assertAccessible(page);
    const isCut = await page.evaluate("document.documentElement.scrollWidth > window.innerWidth");
    assert.equal(isCut, false, `the page is wider than ${width} px`);
  }
  await page.goto(`${console.server.baseUrl}/connect?tool=connector`);
  await page.getByRole("heading", { name: "A key for a connector" }).waitFor();
  await assertSelectedTabInSight(page);
  await console.release(page);
});
