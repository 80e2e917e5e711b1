// Tests the connect page in a real browser, and runs the programs that it shows against the server.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { temporaryFolder } from "../../test/support/folder.ts";
import { assertAccessible, type ConsoleUnderTest, startConsole } from "./browser.ts";

const run = promisify(execFile);
const series = "23-FT-1 'spare'";

let console: ConsoleUnderTest;
before(async () => {
  console = await startConsole();
  const { v06 } = console.server.ask;
  await v06("POST /timeseries", { items: [{ name: series, unit: "m3/h" }] });
  const point = { timestamp: Date.now() - 3_600_000, value: 7.25 };
  await v06(`POST /timeseries/data/${encodeURIComponent(series)}`, { items: [point] });
});
after(() => console.close());

/** Opens a tool's guide and makes a key for it, with the rights of the administrators. */
async function openWithKey(tool: string, name: string): Promise<Page> {
  const page = await console.open({ path: `/connect?tool=${tool}` });
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Rights of the group").selectOption({ label: "administrators" });
  await page.getByRole("button", { name: "Create the key" }).click();
  await page.getByText("shown only this once").waitFor();
  return page;
}

const codeOf = (page: Page, label: string): Promise<string> =>
  page.getByRole("figure", { name: label }).locator("pre").innerText();

describe("the programs of the connect page work as they are", () => {
  it("curl lists series, reads and writes values", async () => {
    const page = await openWithKey("curl", "curl of a test");
    const list = await run("sh", ["-c", await codeOf(page, "List time series")]);
    assert.deepEqual(JSON.parse(list.stdout).data.items[0].name, series);
    const read = await run("sh", ["-c", await codeOf(page, "Read values")]);
    assert.equal(JSON.parse(read.stdout).data.items[0].datapoints[0].average, 7.25);
    await run("sh", ["-c", await codeOf(page, "Create a series")]);
    const write = await run("sh", ["-c", await codeOf(page, "Write a value")]);
    assert.deepEqual(JSON.parse(write.stdout), {});
    const latest = await console.server.ask.v06("GET /timeseries/latest/example");
    assert.equal(latest.items[0]!["value"], 42);
    const accounts = await console.server.ask.v06("GET /users");
    assert.ok(accounts.items.some(({ uniqueName }) => uniqueName === "curl of a test"));
    await console.release(page);
  });

  it("JavaScript reads and writes values", async () => {
    const page = await openWithKey("javascript", "JavaScript of a test");
    const args = (code: string) => ["--input-type=module", "-e", code];
    const read = await run(process.execPath, args(await codeOf(page, "Read values")));
    assert.match(read.stdout, /^\S.* \d+\.\d+$/m);
    await run(process.execPath, args(await codeOf(page, "Write a value")));
    await console.release(page);
  });

  it("Python reads and writes values", async (t) => {
    const python = await run("python3", ["--version"]).catch(() => undefined);
    if (python === undefined) return t.skip("there is no python3");
    const page = await openWithKey("python", "Python of a test");
    const read = await run("python3", ["-c", await codeOf(page, "Read values")]);
    assert.match(read.stdout, /^\S.* \d+\.\d+$/m);
    await run("python3", ["-c", await codeOf(page, "Write a value")]);
    const kept = await console.server.ask.v06(`GET /timeseries/latest/${encodeURIComponent(series)}`);
    assert.equal(kept.items[0]!["value"], 7.25);
    await console.release(page);
  });

  it("a CSV file is imported", async () => {
    const page = await openWithKey("csv", "import of a test");
    const folder = temporaryFolder();
    const entry = fileURLToPath(new URL("../../src/start.js", import.meta.url));
    const runCode = async (code: string, file: string) => {
      writeFileSync(join(folder, "plant.csv"), file);
      const command = code.replaceAll("npx millrace", `"${process.execPath}" "${entry}"`);
      return (await run("sh", ["-c", command], { cwd: folder })).stdout;
    };
    const usual = await codeOf(page, "Import a file");
    const said = await runCode(usual, "timestamp,TI-101\n2026-01-01T00:00:00Z,81.5\n");
    assert.match(said, /1 points would be loaded[\s\S]*1 points loaded/);
    const variables = usual.split("\n").filter((line) => line.startsWith("export"));
    const ofExcel = [...variables, await codeOf(page, "A file of Excel")].join("\n");
    await runCode(ofExcel, "Zeit;TI-102\n31.12.2025 10:00;81,7\n");
    for (const [name, value] of [
      ["TI-101", 81.5],
      ["TI-102", 81.7],
    ] as const) {
      const latest = await console.server.ask.v06(`GET /timeseries/latest/${name}`);
      assert.equal(latest.items[0]!["value"], value);
    }
    await console.release(page);
  });

  it("Grafana has an address, a password and queries that InfluxQL reads", async () => {
    const page = await openWithKey("grafana", "Grafana of a test");
    const credentials = Buffer.from(`grafana:${await codeOf(page, "Password")}`).toString("base64");
    const address = await codeOf(page, "Address");
    const resultOf = async (q: string) => {
      const response = await fetch(`${address}/query?${new URLSearchParams({ q, db: "any" })}`, {
        headers: { authorization: `Basic ${credentials}` },
      });
      return JSON.parse(await response.text()).results[0];
    };
    const query = (await codeOf(page, "Query")).replace("$timeFilter", "time > now() - 6h");
    const { series: found } = await resultOf(query.replace("$__interval", "1h"));
    assert.ok(found[0].values.some(([, mean]: readonly unknown[]) => mean === 7.25));
    const { error } = await resultOf((await codeOf(page, "Variable")).replace("$asset", "Pump"));
    assert.equal(error, undefined);
    await console.release(page);
  });

  it("OData has metadata, rows, aggregates; Power BI and Excel have its address and the key", async () => {
    const page = await openWithKey("odata", "OData of a test");
    const metadata = await run("sh", ["-c", await codeOf(page, "Metadata")]);
    assert.match(metadata.stdout, /<edmx:Edmx/);
    const row = await run("sh", ["-c", await codeOf(page, "One row")]);
    assert.equal(JSON.parse(row.stdout).value[0].Name, series);
    const aggregates = await run("sh", ["-c", await codeOf(page, "Aggregates")]);
    assert.ok(JSON.parse(aggregates.stdout).value.length > 0, aggregates.stdout);
    for (const tool of ["Power BI", "Excel"]) {
      await page.getByRole("tab", { name: tool }).click();
      const authorization = Buffer.from(`key:${await codeOf(page, "Password")}`).toString("base64");
      const address = `${await codeOf(page, "Address")}/Timeseries?$top=1`;
      const response = await fetch(address, { headers: { authorization: `Basic ${authorization}` } });
      assert.equal(response.status, 200);
    }
    await console.release(page);
  });
});

describe("keys, rights and looks", () => {
  it("shows commands for PowerShell, with the key", async () => {
    const page = await openWithKey("csv", "import from Windows");
    const key = await page.getByRole("textbox", { name: "Key of import from Windows" }).inputValue();
    await page.getByText("Windows", { exact: true }).click();
    const usual = await codeOf(page, "Import a file");
    assert.ok(usual.includes(`$env:MILLRACE_KEY = '${key}'\nnpx millrace import csv`), usual);
    await page.getByRole("tab", { name: "curl" }).click();
    const read = await codeOf(page, "Read values");
    assert.ok(read.startsWith("curl.exe -H 'api-key: "), read);
    assert.ok(read.includes(encodeURIComponent(series).replaceAll("'", "''")), read);
    const write = await codeOf(page, "Write a value");
    assert.match(write, /^Invoke-RestMethod -Method Post [\s\S]* -Body \('{"items":/);
    await assertAccessible(page);
    await console.release(page);
  });

  it("shows no key before one is made, nor after a reload", async () => {
    const page = await openWithKey("curl", "once");
    const key = await page.getByRole("textbox", { name: "Key of once" }).inputValue();
    assert.match(await codeOf(page, "Read values"), new RegExp(key));
    await page.reload();
    await page.getByRole("figure", { name: "Read values" }).waitFor();
    assert.match(await codeOf(page, "Read values"), /api-key: mr_\.\.\.'/);
    assert.ok(!(await page.content()).includes(key));
    await console.release(page);
  });

  it("a taken name is refused in the dialog", async () => {
    const page = await console.open({ path: "/connect" });
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name").fill("administrator");
    await page.getByLabel("Rights of the group").selectOption({ label: "administrators" });
    await page.getByRole("button", { name: "Create the key" }).click();
    await page.getByRole("dialog").getByRole("alert").waitFor();
    await console.release(page);
  });

  it("a member without the right to create keys is told so", async () => {
    const { v06 } = console.server.ask;
    const user = (await v06("POST /users", { items: [{ uniqueName: "member" }] })).items[0]!;
    const key = (await v06("POST /apikeys", { items: [{ userId: user["id"] }] })).items[0]!["value"];
    const page = await console.open({ path: "/connect", key: key as string });
    await page.getByText("You may not create keys").waitFor();
    assert.equal(await page.getByRole("button", { name: "New key" }).count(), 0);
    await console.release(page);
  });

  it("has no faults of accessibility, light and dark, wide and narrow, and is used by keyboard", async () => {
    for (const [colorScheme, width] of [
      ["light", 1440],
      ["dark", 360],
    ] as const) {
      const page = await console.open({ path: "/connect", colorScheme, viewport: { width, height: 740 } });
      await page.getByRole("tab", { name: "Power BI" }).focus();
      for (const pressed of ["ArrowRight", "ArrowRight", "ArrowRight", "Enter"])
        await page.keyboard.press(pressed);
      await page.getByRole("figure", { name: "Read values" }).waitFor();
      assert.match(page.url(), /tool=python$/);
      await assertAccessible(page);
      const isCut = await page.evaluate("document.documentElement.scrollWidth > window.innerWidth");
      assert.equal(isCut, false, `the page is wider than ${width} px`);
      await console.release(page);
    }
  });
});
