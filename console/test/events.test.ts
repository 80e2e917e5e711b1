// Tests the pages of events as people use them: time line and table over one filter, the record with its
// changes, and the import and export of CSV.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { idsOf } from "../../test/support/server.ts";
import { timeText } from "../src/lib/format.ts";
import {
  assertAccessibleInLooks,
  type ConsoleUnderTest,
  oppositeLooks,
  startConsole,
  untilTrue,
} from "./browser.ts";

let console: ConsoleUnderTest;
let readerKey: string;
let plantId: number;
let pumpId: number;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const nowMs = Date.now();

before(async () => {
  console = await startConsole();
  const { ask } = console.server;
  [plantId = 0] = idsOf(await ask.v06("POST /assets", { items: [{ name: "Plant 23" }] }));
  [pumpId = 0] = idsOf(await ask.v06("POST /assets", { items: [{ name: "P-101", parentId: plantId }] }));
  await ask.v06("POST /timeseries", { items: [{ name: "23-FT-1", assetId: pumpId }] });
  const alarms = Array.from({ length: 20 }, (_, i) => ({
    ...{ type: "alarm", subtype: i % 2 === 0 ? "high" : "low", description: `Flow alarm ${i}` },
    ...{ startTime: nowMs - i * 6 * hourMs, endTime: nowMs - i * 6 * hourMs + hourMs },
  }));
  const others = [
    { type: "trip", description: "Pump tripped", startTime: nowMs - 2 * hourMs, assetIds: [pumpId] },
    { type: "batch", description: "Batch 7", startTime: nowMs - 20 * dayMs, endTime: nowMs - dayMs },
    { type: "permit", description: "Hot work", startTime: nowMs - 100 * dayMs },
    { type: "alarm", description: "Old alarm", startTime: nowMs - 200 * dayMs, endTime: nowMs - 199 * dayMs },
  ];
  await ask.v06("POST /events", { items: [...alarms, ...others] });
  readerKey = await keyOfReader();
});
after(() => console.close());

/** A key of an account that may read events and assets, and change nothing. */
async function keyOfReader(): Promise<string> {
  const { ask } = console.server;
  const read = { actions: ["READ"], scope: { all: {} } };
  const group = { name: "readers", capabilities: [{ eventsAcl: read }, { assetsAcl: read }] };
  const groups = idsOf(await ask("POST /groups", { items: [group] }));
  const [userId] = idsOf(await ask("POST /users", { items: [{ uniqueName: "reader", groups }] }));
  const [key] = (await ask("POST /apikeys", { items: [{ userId }] })).items;
  return key!["value"] as string;
}

const eventsWith = async (description: string) =>
  (await console.server.ask.v06(`GET /events/search?description=${encodeURIComponent(description)}`)).items;
const pathOf = async (description: string) => `/events/${(await eventsWith(description))[0]!["id"]}`;

describe("time line and table", () => {
  it("show the same events, the latest first, with those that last into the range", async () => {
    // A window that is tall enough for all rows: the table makes only those that are seen.
    const page = await console.open({ path: "/events?last=7d", viewport: { width: 1280, height: 1600 } });
    const table = page.getByRole("table", { name: "Events" });
    await table.getByRole("row", { name: /Pump tripped.*open.*P-101/ }).waitFor();
    await table.getByRole("row", { name: /Batch 7/ }).waitFor();
    await table.getByRole("row", { name: /Hot work.*open/ }).waitFor();
    await page.getByRole("img", { name: /^23 events from/ }).waitFor();
    assert.equal(await table.getByText("Old alarm").count(), 0);
    await console.release(page);
  });

  it("have events without an end up to now, those that began before the range included", async () => {
    const page = await console.open({ path: "/events?last=1d" });
    await page.getByRole("row", { name: /Hot work.*open/ }).waitFor();
    const widthOf = async (description: string) => {
      const title = page.locator("title", { hasText: description });
      const bar = page.getByRole("img", { name: /events from/ }).locator("rect", { has: title });
      assert.equal(await bar.getAttribute("data-open"), "true");
      return Number(await bar.getAttribute("width"));
    };
    const day = (await page.getByRole("group", { name: /arrow keys/ }).boundingBox())!.width;
    assert.ok((await widthOf("Hot work")) > day * 0.9, "the whole range");
    const tripped = await widthOf("Pump tripped");
    assert.ok(tripped > day * 0.05 && tripped < day * 0.1, `two hours of a day: ${tripped} of ${day}`);
    await console.release(page);
  });

  it("filter by type, subtype, words and subtree, and the address is the filter", async () => {
    const page = await console.open({ path: "/events" });
    const table = page.getByRole("table", { name: "Events" });
    await page.getByPlaceholder("Any type").fill("trip");
    await page.getByRole("img", { name: /^1 events/ }).waitFor();
    assert.match(page.url(), /\/events\?type=trip$/);
    await page.goto(`${console.server.baseUrl}/events?subtype=low&text=flow`);
    await page.getByRole("img", { name: /^10 events/ }).waitFor();
    assert.equal(await table.getByText("Pump tripped").count(), 0);
    await page.goto(`${console.server.baseUrl}/events?assets=${plantId}`);
    await table.getByRole("row", { name: /Pump tripped/ }).waitFor();
    assert.equal(await table.getByRole("row").count(), 2);
    await console.release(page);
  });

  it("zoom and move by keys, and the table follows", async () => {
    const page = await console.open({ path: `/events?start=${nowMs - 8 * hourMs}&end=${nowMs + hourMs}` });
    await page.getByRole("img", { name: /^4 events|^5 events/ }).waitFor();
    const plot = page.getByRole("group", { name: /arrow keys/ });
    await plot.press("-");
    await plot.press("-");
    await plot.press("-");
    await page.getByRole("row", { name: /Flow alarm 3/ }).waitFor();
    await page.waitForURL((url) => Number(url.searchParams.get("start")) < nowMs - 12 * hourMs);
    const before = Number(new URL(page.url()).searchParams.get("start"));
    await plot.press("ArrowLeft");
    await page.waitForURL((url) => Number(url.searchParams.get("start")) < before);
    await plot.hover();
    await page.mouse.wheel(0, -500);
    await console.release(page);
  });

  it("keep the place in a long table when the minute changes", async () => {
    const { ask, baseUrl } = console.server;
    const items = Array.from({ length: 3_000 }, (_, i) => {
      const startTime = nowMs - 60 * dayMs - i * 1_000;
      return { type: "step", description: `Step ${i} of many`, startTime, endTime: startTime + 500 };
    });
    for (let from = 0; from < items.length; from += 1_000)
      await ask.v06("POST /events", { items: items.slice(from, from + 1_000) });
    const page = await console.open({ path: "/transformations" });
    await page.clock.install();
    const firstRead = () =>
      page.waitForResponse((response) => /\/events\?(?!.*cursor=)/.test(response.url()));
    const startOf = (url: string) => Number(new URL(url).searchParams.get("minStartTime"));
    const coming = firstRead();
    await page.goto(`${baseUrl}/events?type=step&last=90d`);
    const before = startOf((await coming).url());
    await page.getByRole("row", { name: /Step 0 of many/ }).hover();
    const last = page.getByRole("row", { name: /Step 2999 of many/ });
    for (const endMs = performance.now() + 120_000; (await last.count()) === 0; ) {
      assert.ok(performance.now() < endMs, "the last row comes into the window");
      await page.mouse.wheel(0, 20_000);
      await page.waitForTimeout(100);
    }
    const again = firstRead();
    await page.clock.fastForward(61_000);
    assert.ok(startOf((await again).url()) >= before + 60_000, "the range has moved");
    // All pages are read again.
    await page.waitForTimeout(2_000);
    assert.equal(await last.count(), 1);
    await page.getByText("3\u202f000", { exact: true }).waitFor();
    await console.discard(page);
  });

  it("open an event by keyboard, and the back button returns to the filter", async () => {
    const page = await console.open({ path: "/events?type=trip" });
    await page.getByRole("row", { name: /Pump tripped/ }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Pump tripped" }).waitFor();
    await page.goBack();
    await page.getByRole("row", { name: /Pump tripped/ }).waitFor();
    assert.match(page.url(), /type=trip$/);
    await console.release(page);
  });

  it("say what to do when there are no events", async () => {
    const page = await console.open({ path: "/events?type=none" });
    await page.getByText("No events match").waitFor();
    await console.release(page);
  });
});

describe("one event", () => {
  it("is created and edited with a form, and a refusal is shown in it", async () => {
    const page = await console.open({ path: "/events" });
    await page.getByRole("button", { name: "New event" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Description").fill("Filter cleaned");
    await dialog.getByLabel("Type", { exact: true }).fill("work order");
    await dialog.getByLabel("Source", { exact: true }).fill("SAP");
    await dialog.getByLabel("Id in the source").fill("1");
    await dialog.getByRole("button", { name: "Create the event" }).click();
    await page.getByRole("heading", { name: "Filter cleaned" }).waitFor();
    const [made] = await eventsWith("Filter cleaned");
    await page.getByRole("button", { name: "Edit" }).click();
    await dialog.getByLabel("Description").fill("Filter replaced");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Filter replaced" }).waitFor();
    const [changed] = await eventsWith("Filter replaced");
    assert.equal(changed!["startTime"], made!["startTime"]);
    assert.equal(changed!["source"], "SAP");
    await page.goto(`${console.server.baseUrl}/events`);
    await page.getByRole("button", { name: "New event" }).click();
    await dialog.getByLabel("Source", { exact: true }).fill("SAP");
    await dialog.getByLabel("Id in the source").fill("1");
    await dialog.getByRole("button", { name: "Create the event" }).click();
    await dialog.getByRole("alert").waitFor();
    // Also in a window that is lower than the form.
    await page.setViewportSize({ width: 1280, height: 500 });
    await dialog.getByLabel("Description").fill("d".repeat(2_000_000));
    await dialog.getByRole("button", { name: "Create the event" }).click();
    await dialog
      .getByRole("alert")
      .getByText(/characters|bytes/)
      .waitFor();
    const alert = `document.querySelector("[role=dialog] [role=alert]").getBoundingClientRect()`;
    await untilTrue(page, `${alert}.top >= 0 && ${alert}.bottom <= innerHeight`);
    await console.release(page);
  });

  it("opens the trend of its assets at its time", async () => {
    const page = await console.open({ path: await pathOf("Pump tripped") });
    await page.getByRole("link", { name: "Trend at its time" }).click();
    await page.waitForURL(/\/trend\?series=23-FT-1&start=/);
    const start = Date.parse(new URL(page.url()).searchParams.get("start")!);
    assert.ok(start < nowMs - 2 * hourMs && start > nowMs - 4 * hourMs);
    await console.release(page);
  });

  it("is deleted after a confirmation", async () => {
    const page = await console.open({ path: await pathOf("Old alarm") });
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete the event" }).click();
    await page.getByRole("heading", { name: "Events" }).waitFor();
    assert.deepEqual(await eventsWith("Old alarm"), []);
    await console.release(page);
  });

  it("has no ways to change it for a person who may only read", async () => {
    const page = await console.open({ path: await pathOf("Pump tripped"), key: readerKey });
    await page.getByRole("link", { name: "P-101" }).waitFor();
    assert.equal(await page.getByRole("button", { name: /Edit|Delete/ }).count(), 0);
    await page.goto(`${console.server.baseUrl}/events`);
    await page.getByRole("row", { name: /Pump tripped/ }).waitFor();
    assert.equal(await page.getByRole("button", { name: "New event" }).count(), 0);
    await page.goto(`${console.server.baseUrl}/events/import`);
    await page.getByText("You may not create events").waitFor();
    await console.release(page);
  });

  it("is found in the command palette", async () => {
    const page = await console.open({ path: "/events", key: readerKey });
    await page.getByRole("row", { name: /Pump tripped/ }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByLabel("Find pages, assets, series, events and files").fill("tripped");
    await page.getByRole("dialog").getByText("Pump tripped").waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Pump tripped" }).waitFor();
    await console.release(page);
  });
});

describe("CSV", () => {
  it("is imported with mapped columns, and refused rows are named with their reason", async () => {
    const rows = Array.from({ length: 700 }, (_, i) => `import ${i},2026-03-01 07:30:15,P-101,A${i}`);
    rows[3] = "import 3,yesterday,P-101,A3";
    rows[4] = "import 4,2026-03-01,P-999,A4";
    rows[5] = `${"x".repeat(30_000)},2026-03-01,P-101,A5`;
    const csv = ["text,begin,asset,Order", ...rows].join("\n");
    const permissions = ["clipboard-read", "clipboard-write"];
    const page = await console.open({ path: "/events/import", permissions });
    await page
      .locator("input[type=file]")
      .setInputFiles({ name: "events.csv", mimeType: "text/csv", buffer: Buffer.from(csv) });
    const preview = page.getByRole("table", { name: "Preview" });
    await preview.getByText("import 2", { exact: true }).waitFor();
    await choose(page, "begin", "Start");
    await choose(page, "Order", "Metadata, by the column's name");
    await page.getByRole("button", { name: "Copy as" }).click();
    await page.getByRole("menuitem", { name: "curl" }).click();
    const command = await page.evaluate<string>("navigator.clipboard.readText()");
    assert.match(command, /POST '.*\/api\/0\.6\/projects\/demo\/events'/);
    assert.match(command, /"description": "import 0"/);
    assert.match(command, /"Order": "A0"/);
    assert.match(command, new RegExp(`"assetIds": \\[\\s+${pumpId}\\s+\\]`));
    assert.ok(!command.includes("import 3"), "a row that cannot be read is not in the request");
    await page.getByRole("button", { name: "Import the events" }).click();
    await page.getByText("Done: 697 events created, 3 rows refused").waitFor();
    const refused = page.getByRole("table", { name: "Refused rows" });
    await refused.getByRole("row", { name: /^5 "yesterday" is no time/ }).waitFor();
    await refused.getByRole("row", { name: /^6 There is no asset "P-999"/ }).waitFor();
    await refused.getByRole("row", { name: /^7 / }).waitFor();
    const [made] = await eventsWith("import 699");
    assert.deepEqual(made!["metadata"], { Order: "A699" });
    assert.deepEqual(made!["assetIds"], [pumpId]);
    const created = (await console.server.ask.v06("GET /events?minStartTime=0&limit=10000")).items;
    assert.equal(created.filter((event) => event["description"] === "import 3").length, 0);
    await console.release(page);
  });

  it("has a warning before its import when a quote is not closed", async () => {
    const page = await console.open({ path: "/events/import" });
    const choose = (csv: string) =>
      page
        .locator("input[type=file]")
        .setInputFiles({ name: "events.csv", mimeType: "text/csv", buffer: Buffer.from(csv) });
    await choose('text,begin\n"a ""quoted"" text",1\nsecond,2\n"third,3\nfourth,4\n');
    await page.getByRole("alert").getByText("A quote opens in row 4 and is not closed").waitFor();
    const long = "fifth,5\n".repeat(100_000);
    await choose(`text,begin\n"first,1\n${long}`);
    await page.getByRole("alert").getByText("A quote opens in row 2 and is not closed").waitFor();
    await choose(`text,begin\n"first\nwith two lines",1\n${long}`);
    await page.getByRole("alert").waitFor({ state: "detached" });
    await page.getByRole("cell", { name: "first with two lines" }).waitFor();
    await console.release(page);
  });

  it("has seconds or milliseconds since 1970, and the preview has the times that are read", async () => {
    const rows = ["epoch A,1767225600,1767229200.5", "epoch B,1767225600000,2026-01-01T00:00:05Z"];
    const csv = ["text,start,end", ...rows, "epoch C,tomorrow,176722560000000000"].join("\n");
    const page = await console.open({ path: "/events/import" });
    await page
      .locator("input[type=file]")
      .setInputFiles({ name: "epochs.csv", mimeType: "text/csv", buffer: Buffer.from(csv) });
    const startMs = Date.UTC(2026, 0, 1);
    const row = (name: string) => page.getByRole("table", { name: "Preview" }).getByRole("row", { name });
    for (const name of ["epoch A", "epoch B"])
      await row(name).getByText(timeText(startMs), { exact: true }).waitFor();
    await row("epoch A")
      .getByText(timeText(startMs + hourMs), { exact: true })
      .waitFor();
    await row("epoch C").getByText("not a time").nth(1).waitFor();
    await page.getByRole("button", { name: "Import the events" }).click();
    await page.getByText("Done: 2 events created, 1 rows refused").waitFor();
    const [seconds, milliseconds] = [await eventsWith("epoch A"), await eventsWith("epoch B")].flat();
    assert.deepEqual([seconds!["startTime"], seconds!["endTime"]], [startMs, startMs + hourMs + 500]);
    assert.deepEqual([milliseconds!["startTime"], milliseconds!["endTime"]], [startMs, startMs + 5_000]);
    await console.release(page);
  });

  it("with a byte of another encoding creates no event until its encoding is chosen", async () => {
    // The detection reads the first 256 KiB, which are ASCII.
    const rows = Array.from({ length: 100 }, (_, i) => `latin ${i},${"x".repeat(3_000)},A${i}`);
    const csv = ["text,note,Order", ...rows, "latin Kühler,,A100"].join("\n");
    const page = await console.open({ path: "/events/import" });
    await page
      .locator("input[type=file]")
      .setInputFiles({ name: "latin.csv", mimeType: "text/csv", buffer: Buffer.from(csv, "latin1") });
    await choose(page, "Order", "Id in the source");
    const start = page.getByRole("button", { name: "Import the events" });
    await start.click();
    await page.getByRole("alert").getByText("latin.csv has bytes that are not utf-8.").waitFor();
    await page.getByText("0 events created").waitFor();
    assert.deepEqual(await eventsWith("latin 0"), []);
    await choose(page, "Encoding", "windows-1252");
    await start.click();
    await page.getByText("Done: 101 events created").waitFor();
    const [made] = await eventsWith("latin Kühler");
    assert.deepEqual([made!["description"], made!["sourceId"]], ["latin Kühler", "A100"]);
    assert.equal(await page.getByRole("combobox", { name: "Encoding" }).isDisabled(), true);
    await console.release(page);
  });

  it("has all events that last into the range, also when the list shows a part of them", async () => {
    const { v06 } = console.server.ask;
    const lasting = { type: "lasting", startTime: nowMs - 400 * dayMs };
    const made = await v06("POST /events", { items: Array.from({ length: 600 }, () => lasting) });
    const page = await console.open({ path: "/events?type=lasting" });
    await page.getByText("500 and more", { exact: true }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV" }).click(),
    ]);
    const text = (await (await download.createReadStream()).toArray()).join("");
    assert.equal(text.trimEnd().split("\r\n").length, 601);
    assert.equal(await page.getByText("The file ends").count(), 0);
    await v06("POST /events/delete", { items: idsOf(made) });
    await console.release(page);
  });

  it("is exported over the filter, and can be imported again", async () => {
    const page = await console.open({ path: "/events?type=trip" });
    await page.getByRole("row", { name: /Pump tripped/ }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV" }).click(),
    ]);
    const path = await download.path();
    await page.goto(`${console.server.baseUrl}/events/import`);
    await page.locator("input[type=file]").setInputFiles(path);
    await page.getByRole("button", { name: "Import the events" }).click();
    await page.getByText("Done: 1 events created").waitFor();
    const [first, second] = await eventsWith("Pump tripped");
    assert.equal(first!["startTime"], second!["startTime"]);
    assert.deepEqual(first!["assetIds"], second!["assetIds"]);
    await console.release(page);
  });
});

type OpenPage = Awaited<ReturnType<ConsoleUnderTest["open"]>>;

async function choose(page: OpenPage, column: string, field: string): Promise<void> {
  await page.getByRole("combobox", { name: column }).click();
  await page.getByRole("option", { name: field, exact: true }).click();
}

it("the pages of events are accessible, light and dark, also when the window becomes narrower", async () => {
  const record = await pathOf("Batch 7");
  for (const path of ["/events", record, "/events/import"]) {
    const page = await console.open({ path, viewport: { width: 1440, height: 740 } });
    await page.getByRole("heading", { level: 1 }).waitFor();
    if (path === "/events")
      await page
        .getByRole("row", { name: /Pump tripped/ })
        .first()
        .waitFor();
    const isNotCut = "document.documentElement.scrollWidth <= window.innerWidth";
    await assertAccessibleInLooks(page, oppositeLooks, () => untilTrue(page, isNotCut));
    await console.release(page);
  }
});
