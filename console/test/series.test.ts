// Tests the pages of series as people use them: the table with its filters and latest values, and the page
// of one series with its changes.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { idsOf } from "../../test/support/server.ts";
import {
  assertAccessibleInLooks,
  type ConsoleUnderTest,
  oppositeLooks,
  startConsole,
  untilTrue,
} from "./browser.ts";

let console: ConsoleUnderTest;
let readerKey: string;
let boilerId: number;
const minuteMs = 60_000;
const nowMs = Date.now();
const ids = new Map<string, number>();

before(async () => {
  console = await startConsole();
  const { ask } = console.server;
  [boilerId = 0] = idsOf(await ask.v06("POST /assets", { items: [{ name: "Boiler 7" }] }));
  const flows = Array.from({ length: 120 }, (_, i) => ({ name: `23-FT-${1000 + i}`, unit: "m3/h" }));
  const special = [
    { name: "24-PT-1", description: "Pressure of the boiler", unit: "bar", assetId: boilerId },
    { name: "24-XV-1", description: "State of the valve", isString: true },
    { name: "24-HS-1", description: "Hand switch", isStep: true },
    { name: "24-TT-OLD", unit: "degC" },
  ];
  const made = await ask.v06("POST /timeseries", { items: [...flows, ...special] });
  for (const { id, name } of made.items) ids.set(name as string, id as number);
  const points = (lengthMin: number, endMs = nowMs) =>
    Array.from({ length: lengthMin }, (_, i) => ({
      timestamp: endMs - (lengthMin - i) * minuteMs,
      value: 10 + (i % 5),
    }));
  await ask.v06("POST /timeseries/data/24-PT-1", { items: points(600) });
  await ask.v06("POST /timeseries/data/24-HS-1", { items: points(10) });
  await ask.v06("POST /timeseries/data/24-TT-OLD", { items: points(60, nowMs - 5 * 86_400_000) });
  await ask.v06("POST /timeseries/data/24-XV-1", { items: [{ timestamp: nowMs - minuteMs, value: "open" }] });
  readerKey = await keyOfReader();
});
after(() => console.close());

/** A key of an account that may read series and assets, and change nothing. */
async function keyOfReader(): Promise<string> {
  const { ask } = console.server;
  const read = { actions: ["READ"], scope: { all: {} } };
  const group = { name: "readers", capabilities: [{ timeSeriesAcl: read }, { assetsAcl: read }] };
  const groups = idsOf(await ask("POST /groups", { items: [group] }));
  const [userId] = idsOf(await ask("POST /users", { items: [{ uniqueName: "reader", groups }] }));
  const [key] = (await ask("POST /apikeys", { items: [{ userId }] })).items;
  return key!["value"] as string;
}

const pageOf = (name: string) => `/series/${ids.get(name)}`;

describe("new series", () => {
  it("a series is created with its kind, unit and asset, by those who may change series", async () => {
    const page = await console.open({ path: "/series" });
    await page.getByRole("button", { name: "New series" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("lab.acid");
    await dialog.getByLabel("Unit").fill("mg/l");
    const asset = dialog.getByRole("combobox", { name: "Asset" });
    assert.equal(await asset.getAttribute("placeholder"), "None");
    await asset.fill("Boiler");
    await page.getByRole("option", { name: /Boiler 7/ }).click();
    await dialog.getByRole("combobox", { name: "Kind" }).click();
    await page.getByRole("option", { name: "steps" }).click();
    await assertAccessibleInLooks(page, oppositeLooks, () => dialog.waitFor());
    await dialog.getByRole("button", { name: "Create the series" }).click();
    await page.getByRole("heading", { name: "lab.acid" }).waitFor();
    const { items } = await console.server.ask.v06("GET /timeseries?name=lab.acid");
    const { unit, isString, isStep, assetId } = items[0]!;
    assert.deepEqual([unit, isString, isStep, assetId], ["mg/l", false, true, boilerId]);
    await console.server.ask.v06(`DELETE /timeseries/${items[0]!["id"]}`);
    await console.release(page);
    const reader = await console.open({ path: "/series?query=24-PT-1", key: readerKey });
    await reader.getByRole("row", { name: /24-PT-1/ }).waitFor();
    assert.equal(await reader.getByRole("button", { name: "New series" }).count(), 0);
    await console.release(reader);
  });

  it("a name that exists is refused in the dialog", async () => {
    const page = await console.open({ path: "/series" });
    await page.getByRole("button", { name: "New series" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("24-PT-1");
    await page.getByRole("dialog").getByRole("button", { name: "Create the series" }).click();
    await page
      .getByRole("dialog")
      .getByText(/already exist/)
      .waitFor();
    await console.release(page);
  });
});

describe("the table of series", () => {
  it("shows the latest value, its age, and which series have stopped", async () => {
    const page = await console.open({ path: "/series?query=24" });
    const pressure = page.getByRole("row", { name: /24-PT-1/ });
    await pressure.getByText("14 bar").waitFor();
    await page.getByRole("columnheader", { name: "Points", exact: true }).waitFor();
    await pressure.getByRole("cell", { name: "600", exact: true }).waitFor();
    await pressure.getByRole("img", { name: "24-PT-1 over the last day" }).waitFor();
    assert.equal(await pressure.getByLabel("Stale").count(), 0);
    await page.getByRole("row", { name: /24-XV-1.*open/ }).waitFor();
    await page
      .getByRole("row", { name: /24-TT-OLD/ })
      .getByLabel("Stale")
      .last()
      .waitFor();
    await console.release(page);
  });

  it("shows points of a forecast and points before 1970, and counts them", async () => {
    const { v06 } = console.server.ask;
    await v06("POST /timeseries", { items: [{ name: "27-FORECAST" }, { name: "27-ARCHIVE" }] });
    const ahead = { timestamp: nowMs + 3 * 24 * 60 * minuteMs + 90 * minuteMs, value: 31 };
    await v06("POST /timeseries/data/27-FORECAST", { items: [ahead] });
    await v06("POST /timeseries/data/27-ARCHIVE", { items: [{ timestamp: Date.UTC(1965, 0), value: 65 }] });
    const page = await console.open({ path: "/series?query=27" });
    const forecast = page.getByRole("row", { name: /27-FORECAST/ });
    await forecast.getByText("31", { exact: true }).first().waitFor();
    await forecast
      .getByText(/^in 3 d 1 h$/)
      .last()
      .waitFor();
    await forecast.getByRole("cell", { name: "1", exact: true }).waitFor();
    assert.equal(await forecast.getByLabel("Stale").count(), 0);
    const archive = page.getByRole("row", { name: /27-ARCHIVE/ });
    await archive
      .getByText(/^\d+ y( \d+ d)? ago$/)
      .last()
      .waitFor();
    await archive.getByRole("cell", { name: "1", exact: true }).waitFor();
    await console.release(page);
  });

  it("keeps the focus in the rows by keyboard and by the wheel, also in rows out of the window", async () => {
    const page = await console.open({ path: "/series?query=FT" });
    const hasFocus = (name: string) =>
      untilTrue(
        page,
        `document.activeElement.matches("[role=row]") && ` +
          `document.activeElement.innerText.includes("${name}")`,
      );
    await page.getByRole("row", { name: /23-FT-1000/ }).focus();
    for (let i = 0; i < 4; i++) await page.keyboard.press("PageDown");
    await hasFocus("23-FT-1040");
    await page.keyboard.press("ArrowUp");
    await hasFocus("23-FT-1039");
    await page.keyboard.press("Home");
    await hasFocus("23-FT-1000");
    await page.mouse.move(600, 500);
    await page.mouse.wheel(0, 3_000);
    await page.getByRole("row", { name: /23-FT-1070/ }).waitFor();
    await hasFocus("23-FT-1000");
    await page.keyboard.press("ArrowDown");
    await hasFocus("23-FT-1001");
    await page.keyboard.press("End");
    await untilTrue(page, `!document.activeElement.innerText.includes("23-FT-1001")`);
    await page.getByRole("row", { name: /23-FT-1099/ }).waitFor();
    assert.equal(await page.evaluate("document.activeElement.role"), "row");
    await console.release(page);
  });

  it("reads the values of the rows in view with one request for all, and counts their points", async () => {
    // A page that reads no values.
    const page = await console.open({ path: "/transformations" });
    const requests: string[] = [];
    page.on("request", (request) => requests.push(new URL(request.url()).pathname));
    await page.goto(`${console.server.baseUrl}/series`);
    await page.getByText("no points").first().waitFor();
    assert.equal(requests.filter((path) => /\/latest\/|\/data\/(?!count)/.test(path)).length, 0);
    assert.ok(requests.filter((path) => path.endsWith("/timeseries/latest")).length <= 2);
    assert.ok(requests.filter((path) => path.endsWith("/dataquery")).length <= 2);
    await page.getByRole("cell", { name: "0", exact: true }).first().waitFor();
    const counted = new Set(requests.filter((path) => path.endsWith("/data/count")));
    assert.ok(counted.size < 60, `${counted.size} series are counted, also those out of view`);
    await console.release(page);
  });

  it("filters by unit, kind and asset, and the address is the filter", async () => {
    const page = await console.open({ path: "/series" });
    const table = page.getByRole("table", { name: "Series" });
    await page.getByLabel("Unit", { exact: true }).fill("bar");
    await page.getByText("1", { exact: true }).waitFor();
    await table.getByRole("row", { name: /24-PT-1/ }).waitFor();
    assert.match(page.url(), /\/series\?unit=bar$/);
    await page.getByLabel("Unit", { exact: true }).fill("");
    await page.getByRole("combobox", { name: "Kind" }).click();
    await page.getByRole("option", { name: "steps" }).click();
    await table.getByRole("row", { name: /24-HS-1/ }).waitFor();
    assert.equal(await table.getByRole("row", { name: /24-PT-1/ }).count(), 0);
    await page.goto(`${console.server.baseUrl}/series?assets=${boilerId}`);
    await page.getByText("Boiler 7").first().waitFor();
    await table.getByRole("row", { name: /24-PT-1/ }).waitFor();
    assert.equal(await table.getByRole("row").count(), 2);
    await console.release(page);
  });

  it("is downloaded as CSV, all of the filter", async () => {
    const page = await console.open({ path: "/series?unit=m3%2Fh" });
    await page.getByRole("row", { name: /23-FT-1000/ }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV" }).click(),
    ]);
    const text = await streamText(await download.createReadStream());
    const lines = text.trimEnd().split("\r\n");
    assert.equal(lines[0], "\ufeffid,name,description,unit,kind,assetId,externalId");
    assert.equal(lines.length, 121);
    assert.ok(!text.includes("24-PT-1"));
    assert.equal(await page.getByText("The file ends").count(), 0);
    await console.release(page);
  });

  it("has a message when its CSV may lack rows, as a search returns only so many", async () => {
    const items = Array.from({ length: 2_001 }, (_, i) => ({ name: `26-BULK-${i}` }));
    await console.server.ask.v06("POST /timeseries", { items });
    const page = await console.open({ path: "/series?query=BULK" });
    await page
      .getByRole("row", { name: /26-BULK/ })
      .first()
      .waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV" }).click(),
    ]);
    const text = await streamText(await download.createReadStream());
    assert.equal(text.trimEnd().split("\r\n").length, 2_001);
    await page.getByText("The file ends after 2\u202f000 rows").waitFor();
    await console.release(page);
  });

  it("opens a series by keyboard, and the back button returns to the filter", async () => {
    const page = await console.open({ path: "/series?query=24-PT" });
    await page.getByRole("row", { name: /24-PT-1/ }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "24-PT-1" }).waitFor();
    await page.goBack();
    await page.getByRole("row", { name: /24-PT-1/ }).waitFor();
    assert.match(page.url(), /\/series\?query=24-PT$/);
    await console.release(page);
  });
});

it("several selected series open together in the trend", async () => {
  const page = await console.open({ path: "/series?query=24" });
  await page.getByRole("checkbox", { name: "Select 24-PT-1" }).check();
  await page.getByRole("checkbox", { name: "Select 24-HS-1" }).press("Space");
  await page.getByText("2 selected").waitFor();
  await page.getByRole("link", { name: "Open in the trend" }).click();
  await page.waitForURL(/\/trend\?series=24-PT-1&series=24-HS-1$/);
  await page.goBack();
  await page.getByRole("row", { name: /24-PT-1/ }).waitFor();
  await console.release(page);
});

describe("the page of a series", () => {
  it("shows values, statistics, and the asset, also in a link of a range", async () => {
    const page = await console.open({ path: `${pageOf("24-PT-1")}?range=7d` });
    await page.getByRole("img", { name: "24-PT-1, 7 d" }).waitFor();
    await page.getByText("Pressure of the boiler").waitFor();
    await page.getByRole("link", { name: "Boiler 7" }).waitFor();
    await page.getByText("10 bar", { exact: true }).waitFor();
    await page.getByText("600", { exact: true }).first().waitFor();
    await page.getByText("1 h", { exact: true }).click();
    await page.getByRole("img", { name: "24-PT-1, 1 h" }).waitFor();
    assert.match(page.url(), /range=1h$/);
    await console.release(page);
  });

  it("shows a series of strings as a table, and a series without points", async () => {
    const page = await console.open({ path: pageOf("24-XV-1") });
    await page.getByRole("table", { name: "Points of 24-XV-1" }).getByText("open").waitFor();
    await page.goto(console.server.baseUrl + pageOf("23-FT-1000"));
    await page.getByText("This series has no points yet.").waitFor();
    await console.release(page);
  });

  it("is changed with the form, and a refusal is shown in it", async () => {
    const page = await console.open({ path: pageOf("23-FT-1001") });
    await page.getByRole("button", { name: "Edit" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("24-PT-1");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByRole("alert").waitFor();
    await dialog.getByLabel("Name").fill("23-FT-1001-A");
    await dialog.getByLabel("Unit").fill("");
    await dialog.getByRole("button", { name: "Add a pair" }).click();
    await dialog.getByLabel("Key 1").fill("vendor");
    await dialog.getByLabel("Value 1").fill("ABB");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "23-FT-1001-A" }).waitFor();
    const id = ids.get("23-FT-1001");
    const [saved] = (await console.server.ask.v06(`GET /timeseries/${id}?includeMetadata=true`)).items;
    assert.deepEqual(saved!["metadata"], { vendor: "ABB" });
    assert.equal(saved!["unit"], undefined);
    await console.release(page);
  });

  it("keeps what another person changed while its form was open, also if the page has read it", async () => {
    const id = ids.get("23-FT-1002");
    const page = await console.open({ path: pageOf("23-FT-1002") });
    await page.getByRole("button", { name: "Edit" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Description").fill("Flow of the feed");
    await console.server.ask.v06(`PATCH /timeseries/${id}`, { unit: "l/s" });
    // A minute later, the window comes to the front.
    await page.clock.setFixedTime(Date.now() + minuteMs);
    await page.evaluate(`window.dispatchEvent(new Event("visibilitychange"))`);
    await page.getByText("l/s", { exact: true }).first().waitFor();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    const [saved] = (await console.server.ask.v06(`GET /timeseries/${id}`)).items;
    assert.deepEqual([saved!["description"], saved!["unit"]], ["Flow of the feed", "l/s"]);
    await console.discard(page);
  });

  it("loses the points of a range after a count of them, and no others", async () => {
    const page = await console.open({ path: pageOf("24-HS-1") });
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Delete points…" }).click();
    await page.getByText("10 points are in this range").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    const count = async () =>
      (await console.server.ask.v06(`GET /timeseries/${ids.get("24-HS-1")}/data/count`)).items[0]!["count"];
    assert.equal(await count(), 10);
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Delete points…" }).click();
    await page.getByRole("button", { name: "Delete 10 points" }).click();
    await page.getByText("This series has no points yet.").waitFor();
    assert.equal(await count(), 0);
    await console.release(page);
  });

  it("is deleted after a confirmation, and is gone from the table", async () => {
    const page = await console.open({ path: pageOf("24-TT-OLD") });
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Delete the series…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("60 points").waitFor();
    await dialog.getByRole("button", { name: "Delete the series" }).click();
    await page.getByRole("heading", { name: "Series" }).waitFor();
    // The button that opened the dialog is gone.
    await untilTrue(page, `document.activeElement.id === "page"`);
    await page.getByLabel("Search series").fill("24-TT");
    await page.getByText("No series match").waitFor();
    await console.release(page);
  });

  it("has no ways to change it for a person who may only read", async () => {
    const page = await console.open({ path: pageOf("24-PT-1"), key: readerKey });
    await page.getByText("600", { exact: true }).first().waitFor();
    assert.equal(await page.getByRole("button", { name: "Edit" }).count(), 0);
    assert.equal(await page.getByRole("button", { name: "Add value" }).count(), 0);
    assert.equal(await page.getByRole("button", { name: "More actions" }).count(), 0);
    await console.release(page);
  });

  it("says that an unknown series does not exist", async () => {
    const page = await console.open({ path: "/series/9999999" });
    await page.getByRole("alert").waitFor();
    await page.goto(`${console.server.baseUrl}/series/none`);
    await page.getByText("There is no such page").waitFor();
    await console.release(page);
  });
});

describe("a value that a person adds", () => {
  const stored = async (name: string, timeMs: number) => {
    const range = `start=${timeMs}&end=${timeMs + 1}`;
    const { items } = await console.server.ask.v06(`GET /timeseries/${ids.get(name)}/data?${range}`);
    return (items[0]!["datapoints"] as { value: unknown }[])[0]?.value;
  };
  /** Opens the dialog at a fixed time, which the field of the time then has. */
  const openAt = async (name: string, timeMs: number) => {
    const page = await console.open({ path: pageOf(name) });
    await page.clock.setFixedTime(timeMs);
    await page.getByRole("button", { name: "Add value" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/On the clock of/).waitFor();
    return { page, dialog, button: dialog.getByRole("button", { name: /^(Add|Replace) the value$/ }) };
  };
  const secondMs = (timeMs: number) => timeMs - (timeMs % 1_000);

  it("is checked, stored, and shown as the latest value and in the chart", async () => {
    const timeMs = secondMs(Date.now());
    const { page, dialog, button } = await openAt("23-FT-1010", timeMs);
    const value = dialog.getByLabel("Value in m3/h");
    assert.equal(await button.isDisabled(), true);
    await value.fill("7,25");
    await dialog.getByText("The decimal sign is a point, such as 12.5.").waitFor();
    await value.fill("12 l");
    await dialog.getByText("Write a number, such as 12.5.").waitFor();
    await value.fill("1e999");
    await dialog.getByText("This is too large for a number.").waitFor();
    assert.equal(await button.isDisabled(), true);
    await value.fill("7.25");
    await assertAccessibleInLooks(page, oppositeLooks, () => dialog.waitFor());
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await page.getByText("7.25", { exact: true }).first().waitFor();
    await page.getByRole("img", { name: "23-FT-1010, 1 d" }).waitFor();
    assert.equal(await stored("23-FT-1010", timeMs), 7.25);
    await console.discard(page);
  });

  it("replaces a point only after the dialog has shown it, also one that came meanwhile", async () => {
    const timeMs = secondMs(Date.now());
    const { page, dialog, button } = await openAt("24-HS-1", timeMs);
    await dialog.getByLabel("Value", { exact: true }).fill("3");
    await dialog.getByRole("button", { name: "Add the value" }).isEnabled();
    const path = `POST /timeseries/${ids.get("24-HS-1")}/data`;
    await console.server.ask.v06(path, { items: [{ timestamp: timeMs, value: 2 }] });
    await button.click();
    await dialog.getByText("There is a value at this time").waitFor();
    await dialog.getByText(/^2 at .* is replaced/).waitFor();
    assert.equal(await stored("24-HS-1", timeMs), 2);
    await assertAccessibleInLooks(page, oppositeLooks, () => dialog.waitFor());
    await dialog.getByRole("button", { name: "Replace the value" }).click();
    await dialog.waitFor({ state: "detached" });
    assert.equal(await stored("24-HS-1", timeMs), 3);
    await page.getByRole("button", { name: "Add value" }).click();
    await dialog.getByText(/^3 at .* is replaced/).waitFor();
    await console.server.ask.v06(
      `DELETE /timeseries/${ids.get("24-HS-1")}/data/deleterange?start=${timeMs}&end=${timeMs + 1}`,
    );
    await console.discard(page);
  });

  it("is at the time that the person chooses in the hour that the clock repeats", async () => {
    const page = await console.open({ path: "/series" });
    const devTools = await page.context().newCDPSession(page);
    await devTools.send("Emulation.setTimezoneOverride", { timezoneId: "Europe/Berlin" });
    // 2:30 in winter. In summer it is an hour before.
    const timeMs = Date.UTC(2026, 9, 25, 1, 30);
    await page.clock.setFixedTime(timeMs);
    await page.goto(console.server.baseUrl + pageOf("23-FT-1020"));
    const dialog = page.getByRole("dialog");
    const which = dialog.getByLabel("Which of the two times");
    const add = async (value: string, offset: string) => {
      await which.selectOption({ label: offset });
      await dialog.getByLabel("Value in m3/h").fill(value);
      await dialog.getByRole("button", { name: "Add the value" }).click();
      await dialog.waitFor({ state: "detached" });
    };
    await page.getByRole("button", { name: "Add value" }).click();
    await which.waitFor();
    assert.equal(await which.inputValue(), String(timeMs), "it is the present time");
    await add("1", "UTC+01:00");
    await page.getByRole("button", { name: "Add value" }).click();
    await add("2", "UTC+02:00");
    assert.equal(await stored("23-FT-1020", timeMs), 1);
    assert.equal(await stored("23-FT-1020", timeMs - 60 * minuteMs), 2);
    await console.discard(page);
  });

  it("is text for a series of strings; the refusal of the server is shown at its field", async () => {
    const timeMs = secondMs(Date.now());
    const { page, dialog, button } = await openAt("24-XV-1", timeMs);
    const message = "Invalid field - items[0].value - expected other text";
    await page.route(/\/timeseries\/\d+\/data$/, (route) =>
      route.fulfill({ status: 400, json: { error: { code: 400, message } } }),
    );
    await dialog.getByLabel("Value").fill("closed, locked");
    await button.click();
    await dialog.getByText(message).waitFor();
    assert.equal(await dialog.getByLabel("Value").getAttribute("aria-invalid"), "true");
    await page.unroute(/\/timeseries\/\d+\/data$/);
    await dialog.getByLabel("Value").fill("closed");
    await button.click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("table", { name: "Points of 24-XV-1" }).getByText("closed").waitFor();
    assert.equal(await stored("24-XV-1", timeMs), "closed");
    await console.discard(page);
  });
});

it("the pages of series are accessible, light and dark, wide and narrow", async () => {
  for (const path of ["/series?query=24", pageOf("24-PT-1")]) {
    const page = await console.open({ path });
    await assertAccessibleInLooks(page, oppositeLooks, () => page.getByText("14").first().waitFor());
    await console.release(page);
  }
});

it("neither the unit of a value nor the time of a tick is cut in narrow windows", async () => {
  const { v06 } = console.server.ask;
  const [id] = idsOf(await v06("POST /timeseries", { items: [{ name: "25-DT-1012.MODE", unit: "kg/m3" }] }));
  const items = Array.from({ length: 40 }, (_, i) => ({ timestamp: nowMs - i * minuteMs, value: 922.33 }));
  await v06("POST /timeseries/data/25-DT-1012.MODE", { items });
  const page = await console.open({ path: "/series?query=25-DT", viewport: { width: 360, height: 740 } });
  await page.getByTitle("922.33 kg/m3").waitFor();
  for (const title of ["922.33 kg/m3", "25-DT-1012.MODE"]) {
    const isCut = await page.evaluate(`(() => {
      const { scrollWidth, clientWidth } = document.querySelector("[title='${title}']");
      return scrollWidth > clientWidth;
    })()`);
    assert.equal(isCut, false, `${title} is cut`);
  }
  for (const range of ["1h", "1d", "7d", "30d", "365d"]) {
    await page.goto(`${console.server.baseUrl}/series/${id}?range=${range}`);
    await page.getByRole("img", { name: /^25-DT-1012.MODE, / }).waitFor();
    const beyond = await page.evaluate(`(() => {
      const chart = document.querySelector("svg[aria-label^='25-DT-1012.MODE, ']");
      const right = (element) => element.getBoundingClientRect().right;
      return [...chart.querySelectorAll("text")]
        .filter((text) => right(text) > right(chart))
        .map((text) => text.textContent);
    })()`);
    assert.deepEqual(beyond, [], range);
  }
  await console.release(page);
});

async function streamText(stream: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts).toString();
}
