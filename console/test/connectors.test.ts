// Tests the section of connectors on the connect page in a real browser.
import assert from "node:assert/strict";
import { after, before, beforeEach, it } from "node:test";
import type { Page } from "playwright-core";
import { realSystem } from "../../src/lib/system.ts";
import { limits } from "../../src/limits.ts";
import { idsOf } from "../../test/support/server.ts";
import { assertAccessible, type ConsoleUnderTest, startConsole } from "./browser.ts";

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
  await section.getByText("npm run millrace -- connect plant.yaml").waitFor();
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
  await console.release(page);
});
