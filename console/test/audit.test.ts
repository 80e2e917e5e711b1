// Tests the page of the audit log as people use it.
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, it } from "node:test";
import type { Page } from "playwright-core";
import { idsOf } from "../../test/support/server.ts";
import { assertAccessibleInLooks, type ConsoleUnderTest, oppositeLooks, startConsole } from "./browser.ts";

let console: ConsoleUnderTest;
let auditorKey: string;
let readerKey: string;

async function keyWith(name: string, acl: string): Promise<string> {
  const { v06 } = console.server.ask;
  const capabilities = [{ [acl]: { actions: ["READ"], scope: { all: {} } } }];
  const groups = idsOf(await v06("POST /groups", { items: [{ name, capabilities }] }));
  const [userId] = idsOf(await v06("POST /users", { items: [{ uniqueName: name, groups }] }));
  return (await v06("POST /apikeys", { items: [{ userId }] })).items[0]!["value"] as string;
}

before(async () => {
  console = await startConsole();
  const { v06 } = console.server.ask;
  [auditorKey, readerKey] = [await keyWith("auditor", "auditAcl"), await keyWith("reader", "assetsAcl")];
  const items = Array.from({ length: 300 }, (_, at) => ({ name: `pump ${at}` }));
  for (const id of idsOf(await v06("POST /assets", { items })).slice(0, 250))
    await v06("POST /assets/delete", { items: [id] });
  await v06("POST /groups", { items: [] }, { "api-key": readerKey });
});
after(() => console.close());

const rows = (page: Page) => page.getByRole("table", { name: "Audit records" }).getByRole("row");

describe("the page of the audit log", () => {
  it("shows records newest first, loads more, and keeps its filters in the address", async () => {
    const page = await console.open({ path: "/audit", key: auditorKey });
    await rows(page).nth(1).getByText("auditor").first().waitFor();
    await page.getByText("200 and more").waitFor();
    await page.getByRole("combobox", { name: "Result" }).click();
    await page.getByRole("option", { name: "refused" }).click();
    await rows(page).filter({ hasText: "403 forbidden" }).waitFor();
    assert.match(page.url(), /\/audit\?result=refused$/);
    await page.getByRole("textbox", { name: "Account" }).fill("nobody");
    await page.getByText("No records match").waitFor();
    await page.waitForURL(/account=nobody/);
    await page.goto(`${console.server.baseUrl}/audit?kind=deletion`);
    await rows(page).nth(1).getByText("POST /assets/delete").waitFor();
    await console.release(page);
  });

  it("keeps the list of a time range while time passes, and says why the chain was not checked", async () => {
    const page = await console.open({ path: "/", key: auditorKey });
    await page.getByRole("heading", { name: "Start" }).waitFor();
    // A minute takes 200 ms on this page.
    await page.evaluate(`
      const [every, now, openedMs] = [setInterval, Date.now, Date.now()];
      globalThis.setInterval = (run, ms, ...rest) => every(run, ms === 60_000 ? 200 : ms, ...rest);
      Date.now = () => openedMs + 300 * (now() - openedMs);
    `);
    const failure = { status: 500, json: { error: { message: "The disk is away" } } };
    await page.route("**/audit/verification", (route) => route.fulfill(failure));
    const begins = new Set<string | null>();
    page.on("request", (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname.endsWith("/audit") && searchParams.has("minTime")) begins.add(searchParams.get("minTime"));
    });
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Audit" }).click();
    await page.getByRole("alert").getByText("The chain was not checked: The disk is away").waitFor();
    await page.getByRole("combobox", { name: "Time range" }).click();
    await page.getByRole("option", { name: "Last day" }).click();
    await page.waitForURL(/last=1d/);
    await rows(page).nth(1).waitFor();
    await page.waitForTimeout(700);
    assert.equal(begins.size, 1, "the list begins at one time");
    await console.release(page);
  });

  it("downloads all records of the filter as CSV", async () => {
    const page = await console.open({ path: "/audit?kind=deletion", key: auditorKey });
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "CSV" }).click();
    const chunks: Buffer[] = [];
    for await (const chunk of await (await downloading).createReadStream()) chunks.push(chunk as Buffer);
    const lines = Buffer.concat(chunks).toString().trim().split(/\r?\n/);
    assert.equal(lines.length, 1 + 250);
    assert.match(lines[0]!, /seq,time,endedTime,account/);
    await console.release(page);
  });

  it("is accessible in both looks and says whether the chain is intact", async () => {
    const page = await console.open({ path: "/audit", key: auditorKey });
    const settled = () => page.getByRole("button", { name: /^Chain of \d+ records intact$/ }).waitFor();
    await assertAccessibleInLooks(page, oppositeLooks, settled);
    const database = new DatabaseSync(join(console.server.dataFolder, "catalog.db"));
    database.exec("pragma busy_timeout = 60000; update audit_records set account = 'x' where seq = 3");
    database.close();
    await page.setViewportSize({ width: 1440, height: 740 });
    await page.getByRole("button", { name: /^Chain of/ }).click();
    await page.getByRole("button", { name: "Record 3 was changed" }).waitFor();
    await console.release(page);
  });

  it("is not in the navigation of people without the capability", async () => {
    const page = await console.open({ path: "/assets", key: readerKey });
    await page.getByRole("link", { name: "Assets" }).first().waitFor();
    assert.equal(await page.getByRole("link", { name: "Audit" }).count(), 0);
    await console.release(page);
  });
});
