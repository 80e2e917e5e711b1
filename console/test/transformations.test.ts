// Tests the pages of transformations in a real browser: list, editor, preview, plan, runs, schedule, rights.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Page } from "playwright-core";
import { assertAccessibleInLooks, type ConsoleUnderTest, oppositeLooks, startConsole } from "./browser.ts";

let console: ConsoleUnderTest;
let readerKey: string;

const treeQuery = `SELECT key AS externalId, title AS name, parent AS parentExternalId
FROM erp.plant`;

const endless = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
  SELECT 'a' || i AS externalId, 'A' AS name FROM n WHERE i < 0`;

const putPlant = (rows: readonly (readonly [key: string, columns: object])[]) =>
  console.server.ask.v06("POST /raw/erp/plant/create?ensureParent=true", {
    items: rows.map(([key, columns]) => ({ key, columns })),
  });

async function create(externalId: string, more: object = {}): Promise<number> {
  const item = {
    ...{ externalId, name: `Tree ${externalId}`, query: treeQuery, action: "upsert" },
    ...{ destination: { type: "assets" }, ...more },
  };
  const made = await console.server.ask.v06("POST /transformations", { items: [item] });
  assert.equal(made.status, 200, made.text);
  return made.items[0]!["id"] as number;
}

before(async () => {
  console = await startConsole();
  const { v06 } = console.server.ask;
  await putPlant([
    ["site", { title: "Site" }],
    ["pump", { title: "Pump", parent: "site" }],
  ]);
  const capabilities = [
    { transformationsAcl: { actions: ["READ"], scope: { all: {} } } },
    { rawAcl: { actions: ["READ"], scope: { all: {} } } },
  ];
  const group = await v06("POST /groups", { items: [{ name: "readers", capabilities }] });
  const user = await v06("POST /users", {
    items: [{ uniqueName: "reader", groups: [group.items[0]!["id"]] }],
  });
  const key = await v06("POST /apikeys", { items: [{ userId: user.items[0]!["id"] }] });
  readerKey = key.items[0]!["value"] as string;
});
after(() => console.close());

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const dialog = (page: Page) => page.getByRole("dialog");
const cellsOf = (page: Page, table: string, row: string | RegExp) =>
  page
    .getByRole("table", { name: table, exact: true })
    .getByRole("row", { name: row })
    .getByRole("cell")
    .allInnerTexts();

async function runOf(page: Page): Promise<void> {
  await button(page, "Run…").click();
  await dialog(page).getByRole("button", { name: "Run the transformation" }).click();
  await dialog(page).waitFor({ state: "detached" });
}

describe("transformations", () => {
  it("are created by a form, with a schedule", async () => {
    const page = await console.open({ path: "/transformations" });
    await page.getByText("There are no transformations yet").waitFor();
    await button(page, "New transformation").click();
    const form = dialog(page);
    await form.getByLabel("Name").fill("Tree of the plant");
    await form.getByLabel("External id").fill("plant-tree");
    await form.getByLabel("Query").fill(treeQuery);
    await form.getByLabel("Runs").selectOption({ label: "At times of the day or week" });
    await form.getByLabel(/^Minute, hour/).fill("0 6 * * 1-8");
    await form.getByRole("button", { name: "Create the transformation" }).click();
    await form.getByRole("alert").getByText(/cron/).waitFor();
    await form.getByLabel(/^Minute, hour/).fill("0 6 * * 1-5");
    await form.getByRole("combobox", { name: "Time zone" }).fill("Europe/Oslo");
    await page.getByRole("option", { name: "Europe/Oslo" }).click();
    await form.getByRole("button", { name: "Create the transformation" }).click();
    await page.getByRole("heading", { name: "Tree of the plant" }).waitFor();
    await page.getByText("0 6 * * 1-5 (Europe/Oslo)").waitFor();
    await page.getByText("It has not run yet.").waitFor();
    const [stored] = (await console.server.ask.v06("GET /transformations?externalId=plant-tree")).items;
    assert.deepEqual(stored!["schedule"], { cron: "0 6 * * 1-5", timeZone: "Europe/Oslo" });
    assert.deepEqual([stored!["query"], stored!["action"]], [treeQuery, "upsert"]);
    await console.release(page);
  });

  it("show an error of the query at its place, and the rows with their types", async () => {
    const id = await create("errors");
    const page = await console.open({ path: `/transformations/${id}` });
    const editor = page.getByRole("textbox", { name: "Query" });
    await editor.fill("SELECT key AS externalId,\n  titel AS name FROM erp.plant");
    await button(page, "Preview rows").click();
    await page
      .getByRole("alert")
      .getByText(/^Line 2, character 3: .*titel/)
      .waitFor();
    assert.equal(await page.locator("mark").textContent(), "titel");
    await editor.fill("SELECT key, title AS name, 2.5 AS speed, parent FROM erp.plant ORDER BY key DESC");
    assert.equal(await page.getByRole("alert").count(), 0);
    await button(page, "Preview rows").click();
    await page.getByText("2 rows", { exact: true }).waitFor();
    await page.getByRole("columnheader", { name: /^speed\s*real/ }).waitFor();
    assert.deepEqual(await cellsOf(page, "Rows", /^pump/), ["pump", "Pump", "2.5", "site"]);
    assert.deepEqual(await cellsOf(page, "Rows", /^site/), ["site", "Site", "2.5", "null"]);
    assert.equal(await button(page, "Plan a run").isDisabled(), true, "a plan is of the saved query");
    await editor.fill(`${treeQuery} -- saved`);
    await button(page, "Save query").click();
    await page.getByText("The query is not saved").waitFor({ state: "detached" });
    const [stored] = (await console.server.ask.v06(`GET /transformations/${id}`)).items;
    assert.equal(stored!["query"], `${treeQuery} -- saved`);
    await editor.fill("SELECT 1 AS externalId");
    for (const step of ["dismiss", "accept"] as const) {
      const asked = page.waitForEvent("dialog");
      page.once("dialog", (one) => void one[step]());
      await page.getByRole("link", { name: "All transformations" }).click();
      assert.equal((await asked).message(), "Leave without saving the query?");
      if (step === "dismiss") assert.equal(await editor.inputValue(), "SELECT 1 AS externalId");
    }
    await page.getByRole("heading", { name: "Transformations" }).waitFor();
    await console.release(page);
  });

  it("keep what is typed while the query is saved, and name the step that failed", async () => {
    const id = await create("typing");
    const page = await console.open({ path: `/transformations/${id}` });
    const editor = page.getByRole("textbox", { name: "Query" });
    const [sent, typed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const path = /\/transformations\/update$/;
    await page.route(path, async (route) => {
      sent.resolve();
      await typed.promise;
      await route.continue();
    });
    await editor.fill("SELECT 1 AS externalId");
    const saved = page.waitForResponse(path);
    await button(page, "Save query").click();
    await sent.promise;
    await editor.fill("SELECT 1 AS externalId -- more");
    typed.resolve();
    await saved;
    await page.locator("button:not([data-loading])").filter({ hasText: "Save query" }).waitFor();
    assert.equal(await editor.inputValue(), "SELECT 1 AS externalId -- more");
    await page.getByText("The query is not saved").waitFor();
    await page.unroute(path);
    await page.route(path, (route) => route.abort());
    await button(page, "Save query").click();
    await page.getByRole("alert").getByText("The query was not saved").waitFor();
    await console.release(page);
  });

  it("plan what a run creates, changes and refuses; the run does it, and is in the list", async () => {
    const id = await create("plant", { onError: "skip" });
    const page = await console.open({ path: `/transformations/${id}` });
    await button(page, "Plan a run").click();
    const plan = page.getByRole("region", { name: "Plan" });
    await plan.getByText("2 created").waitFor();
    assert.deepEqual((await console.server.ask.v06("GET /assets")).items, []);
    await runOf(page);
    await page.getByText("The transformation has changed or run since the plan").waitFor();
    assert.equal(await plan.count(), 0);
    await page.getByRole("table", { name: "Runs" }).getByText("completed", { exact: true }).waitFor();
    await putPlant([
      ["pump", { title: "Pump 2", parent: "site" }],
      ["lost", { title: "Lost", parent: "nowhere" }],
    ]);
    await button(page, "Plan a run").click();
    await plan.getByText("1 changed").waitFor();
    await plan.getByText("1 unchanged").waitFor();
    assert.deepEqual(await cellsOf(page, "Changed", /Pump 2/), ["pump", "name", "Pump", "Pump 2"]);
    const refused = await cellsOf(page, "Refused", /lost/);
    assert.deepEqual(refused.slice(1, 4), ["lost", "parentExternalId", '"nowhere"']);
    await runOf(page);
    const run = page.getByRole("row", { name: /completed with refusals/ });
    await run.waitFor();
    assert.deepEqual((await run.getByRole("cell").allInnerTexts()).slice(2, 8), [
      ...["3", "0", "1", "1", "0", "1"],
    ]);
    await run.getByRole("link").click();
    await page
      .getByRole("region", { name: /^Run of/ })
      .getByText("nowhere")
      .first()
      .waitFor();
    assert.match(page.url(), /run=\d+/);
    await page.getByRole("link", { name: "All transformations" }).click();
    const row = page.getByRole("row", { name: /^Tree plant/ });
    await row.getByText("completed with refusals").waitFor();
    await console.release(page);
  });

  it("are cancelled while they run", async () => {
    const id = await create("endless", { query: endless });
    const page = await console.open({ path: `/transformations/${id}` });
    await runOf(page);
    await button(page, "Cancel the run…").click();
    await dialog(page).getByRole("button", { name: "Cancel the run", exact: true }).click();
    await page.getByRole("table", { name: "Runs" }).getByText("cancelled").waitFor();
    await button(page, "Run…").waitFor();
    await console.release(page);
  });

  it("are read alone while they run, without the rest of the list", async () => {
    const id = await create("long", { query: endless });
    const { json } = await console.server.ask.v06(`POST /transformations/${id}/run`);
    const run = (json as { data: { items: { id: number }[] } }).data.items[0]!;
    const page = await console.open({ path: "/transformations" });
    const row = page.getByRole("row", { name: /^Tree long/ });
    await row.getByText("running").waitFor();
    for (let i = 0; i < 2; i++) await page.waitForResponse(new RegExp(`/transformations/${id}$`));
    await console.server.ask.v06(`POST /transformations/${id}/runs/${run.id}/cancel`);
    await row.getByText("cancelled").waitFor();
    await console.release(page);
  });

  it("forget their marks, change their settings and are deleted", async () => {
    const query = `${treeQuery} WHERE is_new('plant') AND parent IS NULL`;
    const id = await create("marks", { query });
    const page = await console.open({ path: `/transformations/${id}` });
    await runOf(page);
    await button(page, "Forget marks…").click();
    await dialog(page).getByRole("button", { name: "Forget the marks" }).click();
    await button(page, "Forget marks…").waitFor({ state: "detached" });
    await button(page, "Settings…").click();
    await dialog(page).getByLabel("Name").fill("Roots");
    // Another person changes another setting.
    const theirs = { id, nulls: { set: "clear" } };
    await console.server.ask.v06("POST /transformations/update", { items: [theirs] });
    await dialog(page).getByLabel("Runs").selectOption({ label: "After another transformation" });
    await dialog(page).getByRole("combobox", { name: "After each successful run of" }).click();
    await page.getByRole("option", { name: "Tree plant" }).click();
    await dialog(page).getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Roots" }).waitFor();
    const [stored] = (await console.server.ask.v06(`GET /transformations/${id}`)).items;
    assert.deepEqual([stored!["schedule"], stored!["query"]], [{ after: "plant" }, query]);
    assert.equal(stored!["nulls"], "clear");
    await button(page, "Delete…").click();
    await dialog(page).getByRole("button", { name: "Delete the transformation" }).click();
    await page.getByRole("heading", { name: "Transformations" }).waitFor();
    assert.equal((await console.server.ask.v06(`GET /transformations/${id}`)).status, 404);
    await console.release(page);
  });

  it("are found in the list and in the palette, by keyboard", async () => {
    const page = await console.open({ path: "/transformations" });
    await page.getByRole("row", { name: /^Tree errors/ }).waitFor();
    await page.getByLabel("Search transformations").fill("PLANT");
    await page.waitForURL(/query=PLANT/);
    await page.getByRole("row", { name: /^Tree errors/ }).waitFor({ state: "detached" });
    await page.keyboard.press("Control+k");
    await page.getByPlaceholder(/^Find pages/).fill("tree pl");
    await dialog(page).getByText("Tree plant").waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Tree plant" }).waitFor();
    await console.release(page);
  });

  it("are read without buttons by a person who may only read", async () => {
    const id = await create("readable");
    const page = await console.open({ path: `/transformations/${id}`, key: readerKey });
    await button(page, "Preview rows").click();
    await page.getByRole("table", { name: "Rows" }).waitFor();
    for (const name of ["Run…", "Settings…", "Delete…", "Save query"])
      assert.equal(await button(page, name).count(), 0, name);
    await page.goto(`${console.server.baseUrl}/transformations`);
    await page.getByRole("row", { name: /^Tree readable/ }).waitFor();
    assert.equal(await button(page, "New transformation").count(), 0);
    await console.release(page);
  });

  it("have no faults of accessibility and are not cut, light and dark, wide and narrow", async () => {
    const [plant] = (await console.server.ask.v06("GET /transformations?externalId=plant")).items;
    const list = await console.open({ path: "/transformations" });
    const row = list.getByRole("row", { name: /^Tree plant/ });
    await assertAccessibleInLooks(list, oppositeLooks, () => row.waitFor());
    await list.goto(`${console.server.baseUrl}/transformations/${plant!["id"]}`);
    await list
      .getByRole("row", { name: /completed with refusals/ })
      .getByRole("link")
      .click();
    await button(list, "Plan a run").click();
    const plan = list.getByRole("region", { name: "Plan" });
    await assertAccessibleInLooks(list, oppositeLooks, () => plan.getByText("1 refused").waitFor());
    await button(list, "Preview rows").click();
    const rows = list.getByRole("table", { name: "Rows", exact: true });
    await assertAccessibleInLooks(list, oppositeLooks, () => rows.waitFor());
    await button(list, "Settings…").click();
    await assertAccessibleInLooks(list, oppositeLooks, () => dialog(list).waitFor());
    await console.release(list);
  });
});
