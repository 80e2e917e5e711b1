// Tests the trend in a real browser: what a person sees of the data, and how the view moves.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  assertAccessible,
  assertAccessibleInLooks,
  type ConsoleUnderTest,
  oppositeLooks,
  untilTrue,
} from "./browser.ts";
import {
  cells,
  chart,
  dayMs,
  days,
  gap,
  iso,
  minuteMs,
  range,
  row,
  startMs,
  startTrendConsole,
  status,
  whole,
} from "./trend-series.ts";

let console: ConsoleUnderTest;
before(async () => {
  console = await startTrendConsole();
});
after(() => console.close());

async function memberKey(uniqueName: string, capabilities: readonly object[]): Promise<string> {
  const { v06 } = console.server.ask;
  const group = await v06("POST /groups", { items: [{ name: uniqueName, capabilities }] });
  const user = { uniqueName, groups: [group.items[0]!["id"]] };
  const account = await v06("POST /users", { items: [user] });
  const key = await v06("POST /apikeys", { items: [{ userId: account.items[0]!["id"] }] });
  return key.items[0]!["value"] as string;
}

describe("the trend", () => {
  it("is empty at first, and series are added by a search", async () => {
    const page = await console.open({ path: "/trend" });
    await page.getByText("Choose what to look at").waitFor();
    await page.getByRole("button", { name: "Add series" }).click();
    await page.getByLabel("Search series to add").fill("column");
    await page.getByRole("option", { name: "flow" }).click();
    await row(page, "flow").waitFor();
    assert.match(page.url(), /\/trend\?series=flow$/);
    // The keyboard stays in the open list; it left the list open over the plot.
    for (let i = 0; i < 3; i++) await page.keyboard.press("Tab");
    await page.keyboard.press("Escape");
    await page.getByRole("listbox", { name: "Series" }).waitFor({ state: "hidden" });
    await untilTrue(page, `document.activeElement.textContent === "Add series"`);
    await console.release(page);
  });

  it("adds series in the tree of assets, and removes them", async () => {
    const { v06 } = console.server.ask;
    const [plant] = (await v06("POST /assets", { items: [{ name: "Plant" }] })).items;
    const child = { name: "Pump", parentId: plant!["id"] };
    const [pump] = (await v06("POST /assets", { items: [child] })).items;
    await v06("POST /timeseries", { items: [{ name: "pump speed", unit: "rpm", assetId: pump!["id"] }] });
    const page = await console.open({ path: "/trend" });
    await page.getByRole("button", { name: "Add series" }).click();
    await page.getByRole("button", { name: "Choose in the tree of assets" }).click();
    await untilTrue(page, `document.activeElement.labels?.[0]?.textContent === "Find an asset"`);
    await page.getByRole("button", { name: "Plant", exact: true }).click();
    await page.getByText("No series of its own").waitFor();
    await page.getByRole("button", { name: "Pump", exact: true }).click();
    const speed = page.getByRole("group", { name: "Series of Pump" }).getByLabel("pump speed (rpm)");
    // Not "check", which fails unless the box has changed at once: it follows the address.
    await speed.click();
    await page.waitForURL(/\/trend\?series=pump\+speed/);
    await assertAccessible(page);
    await speed.click();
    await page.waitForURL((url) => !/speed/.test(url.href));
    await page.getByLabel("Find an asset").fill("pump");
    await page.getByRole("button", { name: "Plant", exact: true }).waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Pump", exact: true }).click();
    await speed.click();
    await page.waitForURL(/\/trend\?series=pump\+speed/);
    await page.keyboard.press("Escape");
    await row(page, "pump speed").waitFor();
    await untilTrue(page, `document.activeElement.textContent === "Add series"`);
    await console.release(page);
  });

  it("says which buckets it draws, and draws every point when they fit", async () => {
    const page = await console.open({ path: `/trend?series=flow&${whole}` });
    await status(page, /^(15|30) min averages with min and max$/);
    const to = startMs + 0.5 * dayMs;
    await page.goto(`${console.server.baseUrl}/trend?series=flow&${range(startMs, to)}`);
    await status(page, "Raw points: every point drawn");
    const points = await console.server.ask.v06(
      `GET /timeseries/data/flow?start=${startMs}&end=${to}&limit=100000`,
    );
    const { length } = points.items[0]!["datapoints"] as readonly unknown[];
    assert.equal((await cells(page, "flow"))[6], `${length}`);
    await console.release(page);
  });

  it("has no value in a gap, also when only the gap is in view", async () => {
    const page = await console.open({
      path: `/trend?series=flow&${range(gap.startMs + 3_600_000, gap.endMs - 3_600_000)}`,
    });
    await row(page, "flow").waitFor();
    await page.getByText("0", { exact: true }).waitFor();
    await chart(page).focus();
    await page.keyboard.press("ArrowRight");
    await page.getByRole("columnheader", { name: "2026-03-11 06:00:00" }).waitFor();
    assert.equal((await cells(page, "flow"))[0], "–");
    assert.equal((await cells(page, "flow"))[6], "0");
    await console.release(page);
  });

  it("holds a step until the next point, in the picture and in the statistics", async () => {
    const from = startMs + 30 * minuteMs;
    const page = await console.open({ path: `/trend?series=valve&${range(from, from + 2 * 60 * minuteMs)}` });
    await status(page, "Raw points: every point drawn");
    const [, min, mean, max, , integral, points] = await cells(page, "valve");
    assert.deepEqual([min, mean, max, integral, points], ["0", "0.5", "1", "1", "2"]);
    await console.release(page);
  });

  it("hides, shows and removes a series, in the address too", async () => {
    const page = await console.open({ path: `/trend?series=flow&series=pressure&${whole}` });
    await page.getByLabel("Show pressure").click();
    await page.waitForURL(/hidden=pressure/);
    await page.getByRole("application", { name: "Trend of flow", exact: true }).waitFor();
    await page.getByLabel("Show pressure").click();
    await page.waitForURL((url) => !url.searchParams.has("hidden"));
    await page.getByRole("button", { name: "Remove flow" }).click();
    await page.getByRole("application", { name: "Trend of pressure", exact: true }).waitFor();
    assert.equal(await row(page, "flow").count(), 0);
    await console.release(page);
  });

  it("says which series does not exist, and still shows the others", async () => {
    const page = await console.open({ path: `/trend?series=flow&series=nothing&${whole}` });
    await page.getByRole("alert").getByText("nothing is not drawn: it was deleted or renamed").waitFor();
    await status(page, /averages with min and max/);
    await row(page, "flow").waitFor();
    await page.getByRole("button", { name: "Remove nothing" }).click();
    await page.getByRole("alert").waitFor({ state: "detached" });
    assert.equal(new URL(page.url()).searchParams.get("series"), "flow");
    await console.release(page);
  });

  it("follows new points within two seconds", async () => {
    const { ask } = console.server;
    await ask.v06("POST /timeseries", { items: [{ name: "level", unit: "%" }] });
    const page = await console.open({ path: "/trend?series=level&start=15m-ago&live=true" });
    await row(page, "level").waitFor();
    for (const value of [41, 42, 43]) {
      await ask.v06("POST /timeseries/data/level", { items: [{ timestamp: Date.now() - 500, value }] });
      await row(page, "level").getByText(`${value} %`).waitFor();
    }
    const points = (count: string) => row(page, "level").getByRole("cell", { name: count, exact: true });
    await points("3").waitFor();
    const late = { timestamp: Date.now() - 60_000, value: 30 };
    await ask.v06("POST /timeseries/data/level", { items: [late] });
    await points("4").waitFor({ timeout: 60_000 });
    assert.equal((await cells(page, "level"))[1], "30", "the late point is the smallest");
    await console.release(page);
  });

  it("follows the results of formulas, also those of a bucket that is not over", async () => {
    const { ask } = console.server;
    await ask.v06("POST /timeseries", { items: [{ name: "level 2" }, { name: "level 3" }] });
    const write = (name: string, timestamp: number, value: number) =>
      ask.v06(`POST /timeseries/data/${name}`, { items: [{ timestamp, value }] });
    // One bucket of a day contains all points.
    const nowMs = Date.now();
    await write("level 2", nowMs - 3_000, 1);
    await write("level 3", nowMs - 3_000, 10);
    const formulas = [
      "span=[level 2|max|1d] - [level 2|min|1d]",
      "sum=[level 2] + [level 3]",
      "top=max([level 2])",
    ];
    const calc = formulas.map((one) => `calc=${encodeURIComponent(one)}`).join("&");
    const page = await console.open({ path: `/trend?${calc}&start=2d-ago&live=true&compare=1` });
    const latest = async (name: string, value: string) =>
      row(page, name).getByText(value, { exact: true }).first().waitFor();
    await latest("sum", "11");
    await latest("span", "0");
    await write("level 2", nowMs - 2_000, 4);
    await latest("span", "3");
    await latest("top", "4");
    // The second series of the sum arrives later.
    await write("level 3", nowMs - 2_000, 20);
    await latest("sum", "24");
    await write("level 2", nowMs - 1_000, 9);
    await latest("span", "8");
    await console.release(page);
  });

  it("draws results of aggregates of their own at their own times, in its figures too", async () => {
    const calc = encodeURIComponent("hourly=[flow|max|1h] - 50 + 0*[flow|min|1h]");
    const page = await console.open({ path: `/trend?calc=${calc}&table=true&${whole}` });
    const table = page.getByRole("table", { name: "Values of the trend" });
    await table.getByRole("row", { name: /2026-03-01 00:00:00/ }).waitFor();
    const hoursOf = async (name: string) => {
      const [, , mean, , , integral] = await cells(page, name);
      return Number(integral!.replaceAll("\u202f", "")) / Number(mean);
    };
    const hours = await hoursOf("hourly");
    assert.ok(Math.abs(hours - 19.5 * 24) < 3, `the integral is over ${hours} hours`);
    // One point an hour, calculated from buckets of some minutes. The data of the navigator comes last.
    const navigator = Promise.withResolvers<void>();
    await page.route(/\/dataquery$/, async (route) => {
      const { start, end } = route.request().postDataJSON() as {
        readonly start: string;
        readonly end: string;
      };
      if (Number(end) - Number(start) > 3 * dayMs) await navigator.promise;
      await route.continue();
    });
    const sparse = encodeURIComponent("top=max([pressure])");
    await page.goto(`${console.server.baseUrl}/trend?calc=${sparse}&${range(startMs, startMs + dayMs)}`);
    await row(page, "top")
      .getByText(/aggregates/)
      .waitFor();
    const day = await hoursOf("top");
    assert.ok(day > 22 && day <= 24, `the integral is over ${day} hours`);
    navigator.resolve();
    await console.release(page);
  });

  it("is copied without the formulas that cannot be calculated", async () => {
    const formulas = ["twice|m3/h=2*[flow]", "peak=max([flow])", "gone=[no such series]"];
    const calc = formulas.map((one) => `calc=${encodeURIComponent(one)}`).join("&");
    const path = `/trend?series=flow&series=phase&${calc}&${range(startMs, startMs + dayMs)}`;
    const page = await console.open({ path, permissions: ["clipboard-read", "clipboard-write"] });
    await row(page, "twice").getByText("raw points").waitFor();
    await page.getByRole("button", { name: "Copy as" }).click();
    await page.getByRole("menuitem", { name: "JavaScript" }).click();
    const program = await page.evaluate<string>("navigator.clipboard.readText()");
    const body = JSON.parse(JSON.parse(/body: (".*"),/.exec(program)![1]!));
    const found = await console.server.ask.v06("POST /timeseries/dataquery", body);
    assert.equal(found.status, 200, found.text);
    assert.deepEqual(
      found.items.map(({ name }) => name),
      ["flow", "phase", "twice", "peak"],
    );
    assert.ok(found.items.every(({ datapoints }) => (datapoints as readonly unknown[]).length > 20));
    await console.release(page);
  });

  it("shows a fixed time in a time zone", async () => {
    const page = await console.open({ path: `/trend?series=pressure&${whole}` });
    await page.getByRole("button", { name: /^Time range/ }).click();
    await page.getByRole("textbox", { name: "From" }).fill("2026-03-05T06:00:00");
    await page.getByRole("textbox", { name: "To" }).fill("2026-03-05T18:00:00");
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.waitForURL(/start=2026-03-05T06%3A00%3A00.000Z&end=2026-03-05T18/);
    await page.getByRole("button", { name: /^Time range/ }).click();
    await page.getByRole("combobox", { name: "Time zone" }).fill("Calcutta");
    await page.getByRole("option", { name: "Asia/Calcutta" }).click();
    await page.getByRole("button", { name: /2026-03-05 11:30:00 – 2026-03-05 23:30:00/ }).waitFor();
    await console.release(page);
  });

  it("measures between two cursors, which are in the address", async () => {
    const from = startMs + 30 * minuteMs;
    const page = await console.open({ path: `/trend?series=valve&${range(from, from + 3 * 60 * minuteMs)}` });
    await status(page, "Raw points: every point drawn");
    await page.getByRole("button", { name: "Measure" }).click();
    await page.waitForURL(/cursors=/);
    const [, a, b, difference, , mean, , , integral, points] = await cells(page, "valve");
    // A is at 1:30 and B at 2:30; the valve is open from 1:00 to 2:00.
    assert.deepEqual([a, b, difference, mean, integral, points], ["1", "0", "-1", "0.5", "0.5", "1"]);
    await page.getByRole("slider", { name: "Cursor B" }).focus();
    await page.keyboard.press("ArrowLeft");
    await page.waitForURL((url) => url.searchParams.getAll("cursors")[1] !== iso(from + 120 * minuteMs));
    await page.goBack();
    await page.getByRole("button", { name: "Measure" }).click();
    await page.waitForURL((url) => !url.searchParams.has("cursors"));
    await console.release(page);
  });

  it("has its controls in two rows on a narrow screen, most of them in a menu", async () => {
    const viewport = { width: 360, height: 740 };
    const day = range(startMs, startMs + dayMs);
    const page = await console.open({ path: `/trend?series=flow&${day}`, viewport });
    await status(page, "Raw points: every point drawn");
    const top = async (name: string | RegExp) =>
      Math.round((await page.getByRole("button", { name }).boundingBox())!.y);
    const tops = [await top("Add series"), await top(/^Time range/), await top("More controls")];
    assert.equal(new Set(tops).size, 2);
    assert.equal(await page.getByRole("button", { name: "Find similar" }).count(), 0);
    const choose = async (item: string) => {
      await page.getByRole("button", { name: "More controls" }).click();
      await page.getByRole("menuitem", { name: item }).click();
    };
    await choose("Measure");
    await page.waitForURL(/cursors=/);
    await choose("Zoom out");
    await page.waitForURL((url) => url.searchParams.get("start") === iso(startMs - dayMs / 2));
    await choose("Find similar");
    await page.getByRole("dialog", { name: "Find similar windows" }).waitFor();
    await console.release(page);
  });

  it("is saved under a name, opened, renamed and deleted", async () => {
    const page = await console.open({ path: `/trend?series=flow&${whole}` });
    const menu = async (button: string, item: string) => {
      await page.getByRole("button", { name: button, exact: true }).click();
      await page.getByRole("menuitem", { name: item }).click();
    };
    await menu("Saved", "Save as");
    await page.getByRole("textbox", { name: "Name" }).fill("Night shift");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("button", { name: "Night shift" }).waitFor();
    await page.goto(`${console.server.baseUrl}/trend`);
    await menu("Saved", "Night shift");
    await row(page, "flow").waitFor();
    await menu("Night shift", "Rename");
    await page.getByRole("textbox", { name: "Name" }).fill("Day shift");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await menu("Day shift", "Delete");
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: "Saved", exact: true }).waitFor();
    assert.deepEqual((await console.server.ask.v06("GET /trends")).items, []);
    await console.release(page);
  });

  it("confirms before it overwrites changes of others, and says that a trend was deleted", async () => {
    const { ask } = console.server;
    const items = [
      { name: "Shared", definition: { series: ["flow"], start: iso(startMs), end: iso(gap.startMs) } },
    ];
    const [id] = (await ask.v06("POST /trends", { items })).items.map((one) => Number(one.id));
    const savedSeries = async () => {
      const { definition } = (await ask.v06(`GET /trends/${id}`)).items[0]!;
      return (definition as { series: string[] }).series;
    };
    const page = await console.open({ path: `/trend?trend=${id}` });
    const remove = async (name: string) => {
      await page.getByRole("button", { name: `Remove ${name}` }).click();
      await row(page, name).waitFor({ state: "detached" });
    };
    const save = async () => {
      await page.getByRole("button", { name: "Shared", exact: true }).click();
      await page.getByRole("menuitem", { name: "Save changes" }).click();
    };
    await row(page, "flow").waitFor();
    const set = { ...items[0]!.definition, series: ["flow", "valve"] };
    await ask.v06("POST /trends/update", { items: [{ id, definition: { set } }] });
    await remove("flow");
    await save();
    const dialog = page.getByRole("dialog", { name: "Overwrite the trend?" });
    await dialog.getByRole("button", { name: "Cancel" }).click();
    assert.deepEqual(await savedSeries(), ["flow", "valve"]);
    await save();
    await dialog.getByRole("button", { name: "Overwrite" }).click();
    await page.getByText("The trend is saved.").waitFor();
    assert.equal(await savedSeries(), undefined);
    await page.getByRole("button", { name: "Shared", exact: true }).waitFor();
    await ask.v06("POST /trends/delete", { items: [id] });
    await save();
    await page.getByText("This trend was deleted meanwhile.").waitFor();
    await console.release(page);
  });

  it("opens a saved trend by its id alone, and says that an id does not exist", async () => {
    const { ask } = console.server;
    const definition = {
      series: ["flow", "valve"],
      hidden: ["valve"],
      start: iso(startMs),
      end: iso(gap.startMs),
    };
    const items = [
      { name: "Start of March", definition },
      { name: "Nothing", definition: {} },
    ];
    const [saved, empty] = (await ask.v06("POST /trends", { items })).items.map(({ id }) => Number(id));
    const page = await console.open({ path: `/trend?trend=${saved}` });
    await page.getByRole("button", { name: "Start of March" }).waitFor();
    await row(page, "flow").waitFor();
    assert.equal(await page.getByRole("checkbox", { name: "Show valve" }).isChecked(), false);
    const address = new URL(page.url()).searchParams;
    assert.deepEqual([address.get("trend"), address.get("end")], [String(saved), iso(gap.startMs)]);
    await page.goto(`${console.server.baseUrl}/trend?trend=${empty}`);
    await page.getByRole("button", { name: "Nothing" }).waitFor();
    await page.getByText("Choose what to look at").waitFor();
    await page.goto(`${console.server.baseUrl}/trend?trend=12345`);
    await page.getByRole("alert").getByText("12345").waitFor();
    await ask.v06("POST /trends/delete", { items: [saved, empty] });
    await console.release(page);
  });

  it("stays empty when the only series of a saved trend is removed", async () => {
    const { ask } = console.server;
    const items = [{ name: "One", definition: { series: ["flow"] } }];
    const { id } = (await ask.v06("POST /trends", { items })).items[0]!;
    const page = await console.open({ path: `/trend?trend=${id}` });
    await page.getByRole("button", { name: "Remove flow" }).click();
    await page.getByText("Choose what to look at").waitFor();
    assert.equal(await row(page, "flow").count(), 0);
    const saved = page.getByRole("region", { name: "Saved trends" });
    await saved.getByRole("link", { name: "One", exact: true }).click();
    await row(page, "flow").waitFor();
    await ask.v06("POST /trends/delete", { items: [id] });
    await console.release(page);
  });

  it("offers no changes of saved trends to a person who may only read them", async () => {
    const { ask } = console.server;
    const made = await ask.v06("POST /trends", {
      items: [{ name: "Shared", definition: { series: ["flow"] } }],
    });
    const scope = { all: {} };
    const capabilities = [
      { trendsAcl: { actions: ["READ"], scope } },
      { timeSeriesAcl: { actions: ["READ"], scope } },
    ];
    const page = await console.open({
      path: `/trend?trend=${made.items[0]!["id"]}`,
      key: await memberKey("reader", capabilities),
    });
    await page.getByRole("button", { name: "Shared" }).click();
    await page.getByRole("menuitem", { name: "Shared" }).waitFor();
    assert.deepEqual(await page.getByRole("menuitem").count(), 1);
    await ask.v06("POST /trends/delete", { items: [made.items[0]!["id"]] });
    await console.release(page);
    const key = await memberKey("viewer", [{ timeSeriesAcl: { actions: ["READ"], scope } }]);
    const other = await console.open({ path: "/trend?series=flow&events=*", key });
    await other.getByRole("button", { name: "Copy as" }).waitFor();
    await status(other, /You may not read events/);
    assert.equal(await other.getByRole("button", { name: "Saved" }).count(), 0);
    await console.release(other);
  });

  it("shows the values as a table with the columns of the CSV, in the address", async () => {
    const view = range(startMs + dayMs, startMs + 2 * dayMs);
    const page = await console.open({ path: `/trend?series=pressure&series=phase&compare=1&${view}` });
    await status(page, "Raw points: every point drawn");
    await page.getByRole("button", { name: "Show as table" }).click();
    await page.waitForURL(/table=true/);
    const table = page.getByRole("table", { name: "Values of the trend" });
    await table.getByRole("row", { name: /2026-03-02 00:00:00/ }).waitFor();
    assert.equal(await chart(page).count(), 0);
    const heads = await table.getByRole("columnheader").allInnerTexts();
    assert.deepEqual(heads, ["Time (UTC)", "pressure", "phase", "pressure, 1 d before"]);
    const at5 = table.getByRole("row", { name: /2026-03-02 05:00:00/ });
    // The hours 29 and 5 of the data.
    assert.deepEqual(await at5.getByRole("cell").allInnerTexts(), ["6", "COOL", "2"]);
    assert.equal(await table.getAttribute("aria-rowcount"), "25");
    await assertAccessible(page);
    const coming = page.waitForEvent("download");
    await page.getByRole("button", { name: "CSV" }).click();
    await page.getByRole("menuitem", { name: "What is drawn" }).click();
    const csv = (await (await (await coming).createReadStream()).toArray()).join("").split("\n");
    assert.equal(csv[0], 'timestamp,time,pressure,phase,"pressure, 1 d before"');
    assert.equal(csv[6], `${startMs + 29 * 60 * minuteMs},2026-03-02T05:00:00.000Z,6,COOL,2`);
    assert.equal(csv.length, 26);
    await page.goto(`${console.server.baseUrl}/trend?series=flow&table=true&${whole}`);
    await table.getByRole("columnheader", { name: "flow average" }).waitFor();
    await page.getByRole("button", { name: "Show as chart" }).click();
    await chart(page).waitFor();
    assert.equal(new URL(page.url()).searchParams.has("table"), false);
    await console.release(page);
  });

  it("downloads with the rights of the group that one sees as", async () => {
    const { ask } = console.server;
    const asset = (await ask.v06("POST /assets", { items: [{ name: "Line 1" }] })).items[0]!["id"];
    await ask.v06("POST /timeseries", { items: [{ name: "speed", assetId: asset }] });
    await ask.v06("POST /timeseries/data/speed", { items: [{ timestamp: startMs, value: 7 }] });
    const scope = { assetIdScope: { subtreeIds: [String(asset)] } };
    const capabilities = [{ timeSeriesAcl: { actions: ["READ"], scope } }];
    const group = (await ask.v06("POST /groups", { items: [{ name: "line 1", capabilities }] })).items[0]![
      "id"
    ];
    const page = await console.open({ path: `/access?tab=groups&group=${group}` });
    await page.getByRole("button", { name: "See as this group" }).click();
    await page.getByRole("region", { name: "See as a group" }).waitFor();
    const calc = encodeURIComponent("twice=2*[speed]");
    await page.goto(`${console.server.baseUrl}/trend?series=speed&series=flow&calc=${calc}&${whole}`);
    await row(page, "twice").getByText("raw points").waitFor();
    await page.getByRole("alert").getByText("flow is not drawn").waitFor();
    const sent: string[] = [];
    page.on("request", (request) => {
      if (!/\/api\/0/.test(request.url())) return;
      sent.push(request.headers()["x-see-as-group"] ?? `none: ${request.url()}`);
    });
    const download = async (item: string) => {
      const coming = page.waitForEvent("download");
      await page.getByRole("button", { name: "CSV" }).click();
      await page.getByRole("menuitem", { name: item }).click();
      return (await (await (await coming).createReadStream()).toArray()).join("");
    };
    assert.equal((await download("What is drawn")).split("\n")[0], "timestamp,time,speed,twice");
    const time = `${startMs},${iso(startMs)}`;
    const every = `series,timestamp,time,value\nspeed,${time},7\ntwice,${time},14\n`;
    assert.equal(await download("Every point of the window"), every);
    assert.ok(sent.length >= 2);
    assert.deepEqual([...new Set(sent)], [String(group)]);
    await ask.v06(`PATCH /groups/${group}`, { capabilities: [] });
    await page.getByRole("button", { name: "CSV" }).click();
    await page.getByRole("menuitem", { name: "Every point of the window" }).click();
    await page
      .getByRole("alert")
      .getByText(/right|may not|permission/i)
      .first()
      .waitFor();
    await console.release(page);
  });

  it("exports what is drawn, and every point of the window", async () => {
    const page = await console.open({ path: `/trend?series=flow&series=phase&${whole}` });
    await status(page, /averages with min and max/);
    const download = async (item: string) => {
      const started = page.waitForEvent("download");
      await page.getByRole("button", { name: "CSV" }).click();
      await page.getByRole("menuitem", { name: item }).click();
      const stream = await (await started).createReadStream();
      return (await stream.toArray()).join("").trimEnd().split("\n");
    };
    const [head, first] = await download("What is drawn");
    assert.equal(head, "timestamp,time,flow|average,flow|min,flow|max,flow|count,phase");
    assert.match(first!, /^1772323200000,2026-03-01T00:00:00.000Z,[\d.]+,50,[\d.]+,\d+,HEAT$/);
    const lines = await download("Every point of the window");
    assert.equal(lines.length, 1 + 19.5 * 24 * 60 + days * 24);
    assert.equal(lines[1], "flow,1772323200000,2026-03-01T00:00:00.000Z,50");
    assert.equal(lines.at(-1), "phase,1774047600000,2026-03-20T23:00:00.000Z,COOL");
    await console.release(page);
  });

  it("shows events by type as bands, and says which one is at the cursor", async () => {
    const events = [
      {
        startTime: startMs + 9 * 3_600_000,
        endTime: startMs + 15 * 3_600_000,
        type: "batch",
        description: "B-17",
      },
      {
        startTime: startMs - dayMs,
        endTime: startMs + 18 * 3_600_000,
        type: "shutdown",
        description: "Line 2",
      },
      { startTime: startMs - 100 * dayMs, type: "permit", description: "Hot work" },
    ];
    await console.server.ask.v06("POST /events", { items: events });
    const page = await console.open({
      path: `/trend?series=valve&events=*&${range(startMs, startMs + dayMs)}`,
    });
    await status(page, "Raw points: every point drawn");
    await page.getByRole("button", { name: "With events" }).click();
    await page.getByRole("checkbox", { name: "batch" }).waitFor();
    await page.getByRole("checkbox", { name: "shutdown" }).click();
    await page.waitForURL(/events=batch/);
    await page.keyboard.press("Escape");
    await chart(page).focus();
    await page.keyboard.press("ArrowRight");
    await page.getByText("batch · B-17").waitFor();
    await page.getByText("permit · Hot work").waitFor();
    assert.equal(await page.getByText("shutdown · Line 2").count(), 0);
    await console.release(page);
  });

  it("shows events without a type alone, also in a link", async () => {
    // In a time without other events.
    const from = startMs - 200 * dayMs;
    const times = { startTime: from + 3_600_000, endTime: from + 7_200_000 };
    await console.server.ask.v06("POST /events", {
      items: [
        { ...times, description: "Shift note" },
        { ...times, type: "cleaning" },
      ],
    });
    const page = await console.open({ path: `/trend?series=valve&events=*&${range(from, from + dayMs)}` });
    const box = (name: string) => page.getByRole("checkbox", { name, exact: true });
    const button = page.getByRole("button", { name: "With events" });
    await button.click();
    await box("cleaning").click();
    await page.waitForURL((url) => url.searchParams.get("events") !== "*");
    await page.reload();
    await button.click();
    await box("no type").waitFor();
    const states = [await box("no type").isChecked(), await box("cleaning").isChecked()];
    assert.deepEqual(states, [true, false]);
    await console.release(page);
  });

  it("shows events that are added while it is live", async () => {
    const page = await console.open({ path: "/trend?series=valve&events=*&start=6h-ago&live=true" });
    await page.getByRole("button", { name: "With events" }).click();
    await page.getByRole("dialog").waitFor();
    assert.equal(await page.getByRole("checkbox", { name: "trip" }).count(), 0);
    await console.server.ask.v06("POST /events", {
      items: [{ startTime: Date.now(), type: "trip", description: "P-4" }],
    });
    await page.getByRole("checkbox", { name: "trip" }).waitFor({ timeout: 30_000 });
    await console.release(page);
  });

  it("compares with the same window some days before", async () => {
    const page = await console.open({
      path: `/trend?series=valve&compare=1&${range(startMs + dayMs, startMs + 2 * dayMs)}`,
    });
    await page.getByRole("application", { name: "Trend of valve", exact: true }).waitFor();
    await status(page, "Raw points: every point drawn");
    await chart(page).focus();
    await page.keyboard.press("ArrowRight");
    await page.getByText("valve, 1 d before").waitFor();
    await page.getByRole("button", { name: "With 1 d before" }).waitFor();
    await console.release(page);
  });

  it("finds windows that look like the part between the cursors, and shows them", async () => {
    const { ask } = console.server;
    await ask.v06("POST /timeseries", { items: [{ name: "vibration" }, { name: "label", isString: true }] });
    // A peak of six hours on the days 3, 9 and 15, of different heights.
    const value = (hour: number) => {
      const [day, of] = [Math.floor(hour / 24), hour % 24];
      const isPeak = day % 6 === 3 && of >= 6 && of < 12;
      return isPeak ? 10 + day * (3 - Math.abs(of - 8.5)) : 10 + ((hour * 7) % 5) / 10;
    };
    // At half past each hour, so that short buckets at the start of the window have no points.
    const items = Array.from({ length: days * 24 }, (_, hour) => ({
      ...{ timestamp: startMs + (hour + 0.5) * 60 * minuteMs, value: value(hour) },
    }));
    await ask.v06("POST /timeseries/data/vibration", { items });
    const peak = (day: number) => startMs + day * dayMs + 4 * 60 * minuteMs;
    const cursors = `cursors=${iso(peak(9))}&cursors=${iso(peak(9) + 10 * 60 * minuteMs)}`;
    const day9 = range(startMs + 9 * dayMs, startMs + 10 * dayMs);
    const page = await console.open({ path: `/trend?series=vibration&series=label&${day9}&${cursors}` });
    await page.getByRole("button", { name: "Find similar" }).click();
    const panel = page.getByRole("dialog", { name: "Find similar windows" });
    assert.equal(await panel.getByRole("checkbox", { name: "label" }).count(), 0, "texts are not compared");
    await panel.getByRole("combobox", { name: "Search in" }).click();
    await page.getByRole("option", { name: "all time" }).click();
    await panel.getByRole("button", { name: "Search" }).click();
    const found = panel.getByRole("navigation", { name: "Similar windows" }).getByRole("button");
    await found.filter({ hasText: "2026-03-16 04:00" }).waitFor();
    const best = (await found.allInnerTexts()).slice(1, 3).map((text) => text.slice(0, 16));
    assert.deepEqual(best.sort(), ["2026-03-04 04:00", "2026-03-16 04:00"]);
    await found.filter({ hasText: "2026-03-16 04:00" }).click();
    await page.waitForURL((url) => url.searchParams.get("start") === iso(startMs + 15 * dayMs));
    assert.match(page.url(), new RegExp(`cursors=${encodeURIComponent(iso(peak(15)))}`));
    await assertAccessible(page);
    await panel.getByRole("checkbox", { name: "vibration" }).uncheck();
    assert.ok(await panel.getByRole("button", { name: "Search" }).isDisabled());
    await panel.getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Find similar" }).and(page.locator(":focus")).waitFor();
    await console.release(page);
  });

  it("draws a formula while it is typed, and marks errors in its text", async () => {
    const page = await console.open({ path: `/trend?series=pressure&${range(startMs, startMs + dayMs)}` });
    await row(page, "pressure").waitFor();
    await page.getByRole("button", { name: "Add formula" }).click();
    const editor = page.getByRole("combobox", { name: "Expression" });
    await page.locator("textarea:focus").waitFor();
    await page.getByRole("textbox", { name: "Unit" }).fill("kPa");
    await editor.click();
    await page.keyboard.type("100 * [pres");
    await page.getByRole("option", { name: "pressure bar" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "Formula" }).getByText("Latest 500 kPa, raw points").waitFor();
    await page.keyboard.type(" + [nothing]");
    await page.getByRole("alert").getByText("At character 20: There is no series nothing").waitFor();
    assert.equal(await page.locator("mark").textContent(), "[nothing]");
    await editor.fill("100 * [pressure] +");
    await page
      .getByRole("alert")
      .getByText(/^At character 19: expected/)
      .waitFor();
    await editor.fill("100 * [pressure]");
    await page.getByRole("region", { name: "Formula" }).getByText("Latest 500 kPa").waitFor();
    assert.equal(await page.locator("mark").count(), 0);
    await page.getByRole("button", { name: "Done" }).click();
    const address = new URL(page.url()).searchParams;
    assert.deepEqual(address.getAll("calc"), ["formula 1|kPa=100 * [pressure]"]);
    await page.getByRole("application", { name: "Trend of pressure, formula 1", exact: true }).waitFor();
    const [, min, , max, , , points] = await cells(page, "formula 1");
    assert.deepEqual([min, max, points], ["200", "600", "24"]);
    await console.release(page);
  });

  it("calculates a formula with functions from averages, and the table says so", async () => {
    const calc = encodeURIComponent("peak=max([flow]) - [pressure|min|1d]");
    const path = `/trend?calc=${calc}&${whole}`;
    const page = await console.open({ path });
    await row(page, "peak")
      .getByText(/^from (15|30) min aggregates$/)
      .waitFor();
    assert.equal((await cells(page, "peak"))[3], "57.6", "the largest flow less the smallest pressure");
    await page.getByRole("button", { name: "Edit peak" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("highest");
    await row(page, "highest").waitFor();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("button", { name: "Remove highest" }).click();
    await page.getByText("Choose what to look at").waitFor();
    assert.equal(new URL(page.url()).searchParams.has("calc"), false);
    await console.release(page);
  });

  it("draws the other series when those of a formula are not readable, and says which", async () => {
    const formulas = ["ratio=[flow] / [gone]", "good=2*[valve]"];
    const calc = formulas.map((one) => `calc=${encodeURIComponent(one)}`).join("&");
    const page = await console.open({
      path: `/trend?series=valve&${calc}&${range(startMs, startMs + dayMs)}`,
    });
    await row(page, "ratio")
      .getByText("At character 10: There is no series gone that you may read.")
      .waitFor();
    await row(page, "good").getByText("raw points").waitFor();
    assert.equal((await cells(page, "good"))[3], "2");
    assert.equal((await cells(page, "ratio"))[6], "–");
    await console.release(page);
  });

  it("writes the results of formulas as CSV, drawn and every one", async () => {
    const calc = encodeURIComponent("double|m3/h=2*[flow]");
    const page = await console.open({ path: `/trend?calc=${calc}&${whole}` });
    await row(page, "double")
      .getByText(/aggregates/)
      .waitFor();
    const download = async (item: string) => {
      const coming = page.waitForEvent("download");
      await page.getByRole("button", { name: "CSV" }).click();
      await page.getByRole("menuitem", { name: item }).click();
      const stream = await (await coming).createReadStream();
      return (await stream.toArray()).join("").trimEnd().split("\n");
    };
    assert.equal((await download("What is drawn"))[0], "timestamp,time,double");
    const lines = await download("Every point of the window");
    assert.equal(lines.length, 1 + 19.5 * 24 * 60);
    assert.equal(lines[1], "double,1772323200000,2026-03-01T00:00:00.000Z,100");
    await console.release(page);
  });

  it("has no faults of accessibility, light and dark, wide and narrow", async () => {
    const path = `/trend?series=flow&series=pressure&series=valve&series=phase&${whole}`;
    const page = await console.open({ path });
    await assertAccessibleInLooks(page, oppositeLooks, () => status(page, /averages/));
    await console.release(page);
  });
});
