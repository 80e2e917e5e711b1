// Tests the page of calculated series in a real browser: completion, errors in the text, and the preview.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  assertAccessible,
  assertAccessibleInLooks,
  type ConsoleUnderTest,
  oppositeLooks,
  startConsole,
} from "./browser.ts";

let console: ConsoleUnderTest;
let inflow: number;

before(async () => {
  console = await startConsole();
  const { v06 } = console.server.ask;
  const made = await v06("POST /timeseries", {
    items: [{ name: "inflow", unit: "m3/h" }, { name: "outflow" }],
  });
  inflow = made.items[0]!["id"] as number;
  const nowMs = Date.now();
  const points = Array.from({ length: 100 }, (_, i) => ({
    timestamp: nowMs - (i + 1) * 60_000,
    value: i + 1,
  }));
  for (const name of ["inflow", "outflow"]) await v06(`POST /timeseries/data/${name}`, { items: points });
});
after(() => console.close());

describe("the editor of an expression", () => {
  it("completes series and functions by keyboard, and shows the results", async () => {
    const page = await console.open({ path: "/calculated" });
    const editor = page.getByRole("combobox", { name: "Expression" });
    await editor.focus();
    await page.keyboard.type("100 * [inf");
    await page.getByRole("option", { name: "inflow m3/h" }).waitFor();
    await page.keyboard.press("Enter");
    await page.keyboard.type(" / [outf");
    await page.getByRole("option", { name: "outflow" }).waitFor();
    await page.keyboard.press("Tab");
    assert.equal(await editor.inputValue(), "100 * [inflow] / [outflow]");
    await page.getByText("100 results").waitFor();
    await page
      .getByRole("table", { name: "Results" })
      .getByRole("cell", { name: "100", exact: true })
      .first()
      .waitFor();
    await page.keyboard.type(" + sq");
    await page.getByRole("option", { name: /sqrt/ }).waitFor();
    await page.reload();
    await page.getByRole("row", { name: /^inflow/ }).waitFor();
    assert.equal(await editor.inputValue(), "100 * [inflow] / [outflow] + sq");
    await console.release(page);
  });

  it("says up to when a chart of too many results goes, and what shows all", async () => {
    const page = await console.open({ path: "/calculated" });
    const nowMs = Date.now();
    const points = Array.from({ length: 6_000 }, (_, i) => ({ timestamp: nowMs - i * 10_000, value: i }));
    const { v06 } = console.server.ask;
    await v06("POST /timeseries", { items: [{ name: "dense" }] });
    await v06("POST /timeseries/data/dense", { items: points });
    await page.getByRole("combobox", { name: "Expression" }).fill("[dense] + 1");
    await page.getByText(/^The first 5\u202f000 results, up to 20[^.]+\. Choose an aggregate/).waitFor();
    await console.release(page);
  });

  it("finds series whose names are typed without the list, and says which does not exist", async () => {
    const page = await console.open({ path: "/calculated" });
    const editor = page.getByRole("combobox", { name: "Expression" });
    await editor.fill("[inflow] + [outflow]");
    await page.getByText("100 results").waitFor();
    await page.getByRole("row", { name: /^outflow/ }).waitFor();
    await editor.fill("[inflow] + [overflow]");
    const alert = page.getByRole("alert");
    await alert.getByText("At character 12: There is no series overflow that you may read.").waitFor();
    assert.equal(await page.getByText(/\d results/).count(), 0);
    assert.equal(await page.getByRole("button", { name: "Remove inflow" }).count(), 0);
    await page.getByRole("button", { name: "Remove outflow" }).click();
    await page.getByRole("row", { name: /^outflow/ }).waitFor({ state: "detached" });
    await console.release(page);
  });

  it("marks an error in the text, and an alias with an aggregate mends it", async () => {
    const search = new URLSearchParams({ function: "1 + sqrt([inflow])", alias: `inflow=${inflow}` });
    const page = await console.open({ path: `/calculated?${search}` });
    const alert = page.getByRole("alert");
    await alert.getByText(/At character 10: expected aggregates in sqrt/).waitFor();
    assert.equal(await page.locator("mark").textContent(), "[inflow]");
    await assertAccessible(page);
    await page.getByRole("combobox", { name: "Values of inflow" }).click();
    await page.getByRole("option", { name: "max" }).click();
    await page.getByText(/^\d+ results$/).waitFor();
    assert.equal(await page.locator("mark").count(), 0);
    const granularity = page.getByRole("textbox", { name: "Granularity of inflow" });
    await granularity.fill("");
    await granularity.fill("5m");
    await page.waitForURL(({ searchParams }) => searchParams.get("alias") === `inflow=${inflow}:max:5m`);
    await granularity.fill("");
    await granularity.blur();
    assert.equal(await granularity.inputValue(), "5m");
    await page.getByRole("combobox", { name: "Expression" }).fill("[77]");
    await alert.getByText("At character 1: There is no series 77 that you may read.").waitFor();
    await console.release(page);
  });

  it("opens the trend with the series of the expression", async () => {
    const search = new URLSearchParams({
      name: "double",
      function: "2 * [inflow]",
      alias: `inflow=${inflow}`,
    });
    const page = await console.open({ path: `/calculated?${search}` });
    await page.getByText("100 results").waitFor();
    const chart = page.getByRole("application", { name: "Results of double" });
    assert.doesNotMatch(
      (await chart.textContent()) ?? "",
      /up and down/,
      "the value axis of the preview has no zoom",
    );
    await page.getByRole("button", { name: "Open in the trend" }).click();
    await page.getByRole("heading", { name: "Trend" }).waitFor();
    const opened = new URL(page.url()).searchParams;
    assert.deepEqual([opened.get("series"), opened.get("calc")], ["inflow", "double=2 * [inflow]"]);
    await console.release(page);
  });

  it("has no faults of accessibility and is not cut, light and dark, wide and narrow", async () => {
    const search = new URLSearchParams({ function: "2 * [inflow]", alias: `inflow=${inflow}` });
    for (const [query, seen] of [
      ["", "Calculate one series from others"],
      [`?${search}`, "100 results"],
    ] as const) {
      const page = await console.open({ path: `/calculated${query}` });
      await assertAccessibleInLooks(page, oppositeLooks, () => page.getByText(seen).waitFor());
      await console.release(page);
    }
  });
});
