// Tests the page of operations in a real browser: figures, warnings, retention rules, and who may see them.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Route } from "playwright-core";
import { assertAccessibleInLooks, type ConsoleUnderTest, oppositeLooks, startConsole } from "./browser.ts";

let console: ConsoleUnderTest;
let memberKey: string;
let keeperKey: string;

before(async () => {
  console = await startConsole();
  const { v06 } = console.server.ask;
  await v06("POST /timeseries", { items: [{ name: "flow" }] });
  const points = Array.from({ length: 1_000 }, (_, i) => ({ timestamp: i * 1_000, value: i }));
  await v06("POST /timeseries/data/flow", { items: points });
  memberKey = await keyOf("member", []);
  // May set rules without being an administrator.
  const all = { scope: { all: {} } };
  const capabilities = [
    { projectsAcl: { actions: ["UPDATE"], ...all } },
    { timeSeriesAcl: { actions: ["READ", "WRITE"], ...all } },
  ];
  const group = await v06("POST /groups", { items: [{ name: "keepers", capabilities }] });
  keeperKey = await keyOf("keeper", [group.items[0]!["id"]]);
});

async function keyOf(uniqueName: string, groups: readonly unknown[]): Promise<string> {
  const { v06 } = console.server.ask;
  const user = await v06("POST /users", { items: [{ uniqueName, groups }] });
  const key = await v06("POST /apikeys", { items: [{ userId: user.items[0]!["id"] }] });
  return key.items[0]!["value"] as string;
}
after(() => console.close());

/** The response of a server whose last backup failed. */
const problem = "The last backup failed. The log of the server has the reason";
const noonMs = Date.parse("2026-11-23T12:00:00Z");
/** A time that has passed is shown as "now". */
const farMs = Date.parse("2100-01-01T12:00:00Z");
const withBackups = {
  ...{ status: "degraded", version: "1", store: "open", quarantined: [] },
  backups: {
    ...{ status: "failed", problem, isRunning: false },
    ...{ lastTime: noonMs - 24 * 3_600_000, ageSeconds: 24 * 3_600, nextTime: farMs },
    reachTime: noonMs - 24 * 3_600_000 + 60_000,
    recent: [
      { startedTime: noonMs, seconds: 2, outcome: "failed" },
      {
        ...{ startedTime: noonMs - 24 * 3_600_000, seconds: 90, outcome: "complete" },
        ...{ bytes: 3 * 2 ** 20, bytesStored: 2 ** 16, verification: "ok" },
      },
    ],
  },
};

describe("the page of operations", () => {
  it("shows that everything works, and figures that follow the requests", async () => {
    // A 501 is no fault of the server: Power Query tests with such requests which functions it has.
    const { baseUrl, project, key } = console.server;
    const unsupported = `${baseUrl}/odata/v1/projects/${project}/Timeseries?$orderby=Name`;
    assert.equal((await fetch(unsupported, { headers: { "api-key": key } })).status, 501);
    const page = await console.open({ path: "/operations" });
    await page.getByText("Everything works").waitFor();
    const figure = (label: string) => page.getByRole("group", { name: label });
    await figure("Points written").getByText("1\u202f000 stored").waitFor();
    await figure("Requests")
      .getByText(/[\d.]+\/s/)
      .waitFor();
    await figure("Memory").getByText(/MiB/).first().waitFor();
    await figure("Server errors").getByText("0 since the start").waitFor();
    for (let i = 0; i < 20; i++) await console.server.ask.v06("GET /timeseries");
    await figure("Latency, 95 of 100 requests")
      .getByText(/within [\d.]+ ms/)
      .waitFor();
    await console.release(page);
  });

  it("has no rates before its second reading, the latency included", async () => {
    const page = await console.open({ path: "/" });
    let readings = 0;
    await page.route("**/metrics", async (route) => {
      readings += 1;
      if (readings === 1) await route.continue();
    });
    await page.goto(`${console.server.baseUrl}/operations`);
    for (const name of ["Requests", "Latency, 95 of 100 requests"])
      await page.getByRole("group", { name, exact: true }).getByText("…").waitFor();
    await console.release(page);
  });

  it("says that the figures cannot be read, instead of figures that are zero", async () => {
    const page = await console.open({ path: "/" });
    await page.route("**/metrics", (route) => route.fulfill({ status: 500, body: "<html>" }));
    await page.goto(`${console.server.baseUrl}/operations`);
    await page.getByRole("alert").getByText("status 500. Try again in a minute").waitFor();
    assert.equal(await page.getByRole("group", { name: "Memory", exact: true }).count(), 0);
    await console.release(page);
  });

  it("says what is wrong and what to do", async () => {
    const page = await console.open({ path: "/" });
    const health = {
      ...{
        status: "degraded",
        version: "1",
        store: "only reads and deletes: the disk is full",
        freeBytes: 2_048,
      },
      quarantined: [{ file: "shard-1.db", block: 7 }],
    };
    await page.route("**/health", (route) => route.fulfill({ status: 503, json: health }));
    await page.goto(`${console.server.baseUrl}/operations`);
    const alert = page.getByRole("alert").filter({ hasText: "The server takes no new data" });
    await alert.getByText("Free space on the disk").waitFor();
    await alert.getByText("2 KiB are free").waitFor();
    await page.getByRole("row", { name: "shard-1.db 7" }).waitFor();
    assert.equal(await page.getByText("Everything works").count(), 0);
    await console.release(page);
  });

  it("says since when the state of the server is not known", async () => {
    const page = await console.open({ path: "/operations" });
    const works = page.getByText("Everything works");
    await works.waitFor();
    const alert = page.getByRole("alert").filter({ hasText: /The state .* is not known since 20\d\d-/ });
    const failures: readonly (readonly [reason: string, fail: (route: Route) => Promise<void>])[] = [
      ["status 500. Try again in a minute", (route) => route.fulfill({ status: 500, body: "<html>" })],
      ["The server cannot be reached.", (route) => route.abort()],
    ];
    for (const [reason, fail] of failures) {
      await page.route("**/health", fail);
      await alert.getByText(reason).waitFor();
      assert.equal(await works.count(), 0);
      await page.unroute("**/health");
      await works.waitFor();
      assert.equal(await alert.count(), 0);
    }
    await console.release(page);
  });

  it("shows the last backups, the next time, and how to make one now", async () => {
    const page = await console.open({ path: "/" });
    await page.goto(`${console.server.baseUrl}/operations`);
    const card = page.getByRole("group", { name: "Backups" });
    await card.getByText("This server makes no backups by itself").waitFor();
    await page.route("**/health", (route) => route.fulfill({ json: withBackups }));
    const alert = page.getByRole("alert").filter({ hasText: "The backups have a problem" });
    await alert.getByText("The last backup failed. The log of the server has the reason").waitFor();
    await card.getByRole("row", { name: /failed 2 s$/ }).waitFor();
    await card.getByRole("row", { name: /complete and in order 3 MiB 64 KiB 1 min 30 s$/ }).waitFor();
    await card.getByText("2100-01-01").waitFor();
    await card.getByText("A restore reaches").waitFor();
    await card.getByLabel("Back up now").getByText("npx millrace backup", { exact: true }).waitFor();
    assert.equal(await page.getByText("The server takes no new data").count(), 0);
    const looks = () => card.getByRole("table").waitFor();
    await assertAccessibleInLooks(page, oppositeLooks, looks);
    const narrow = { name: /complete and in order 3 MiB, 64 KiB added, 1 min 30 s$/ };
    await card.getByRole("row", narrow).waitFor();
    assert.equal(await card.getByRole("columnheader", { name: "Size" }).count(), 0, "the window is narrow");
    await page.goto(`${console.server.baseUrl}/`);
    await page.getByRole("alert").getByText("The last backup failed").waitFor();
    await console.release(page);
  });

  it("is for administrators alone", async () => {
    const page = await console.open({ path: "/operations", key: memberKey });
    await page.getByText("This page is for administrators").waitFor();
    assert.equal(await page.getByText("Everything works").count(), 0);
    assert.equal(await page.getByRole("link", { name: "Operations" }).count(), 0);
    await console.release(page);
  });

  it("has no faults of accessibility and is not cut, light and dark, wide and narrow", async () => {
    const page = await console.open({ path: "/operations" });
    const figure = page.getByText("1\u202f000 stored");
    await assertAccessibleInLooks(page, oppositeLooks, () => figure.waitFor());
    await console.release(page);
  });
});

describe("retention rules", () => {
  const rules = async () => (await console.server.ask.v06("GET /retentionrules")).items;

  it("are made after the count of what they would remove, changed, and deleted", async () => {
    const page = await console.open({ path: "/operations" });
    await page.getByRole("tab", { name: "Retention" }).click();
    await page.getByText("There are no retention rules").waitFor();
    await page.getByRole("button", { name: "New rule" }).click();
    const dialog = page.getByRole("dialog", { name: "New retention rule" });
    const create = dialog.getByRole("button", { name: "Create the rule" });
    const count = dialog.getByRole("button", { name: "Count what it would remove" });
    await dialog.getByLabel("Name").fill("three years");
    await dialog.getByLabel("For which series").selectOption({ label: "One series" });
    await dialog.getByRole("combobox", { name: "Series", exact: true }).fill("flow");
    await page.getByRole("option", { name: "flow", exact: true }).click();
    assert.equal(await count.isDisabled(), true, "the days are missing");
    await dialog.getByLabel("Days to keep").fill("1095");
    assert.equal(await create.isDisabled(), true, "nothing is counted");
    await count.click();
    await dialog.getByText("It would remove 1\u202f000 points now").waitFor();
    await dialog.getByRole("row", { name: "flow 1\u202f000 none is left" }).waitFor();
    assert.deepEqual(await rules(), [], "a count is no rule");
    await assertAccessibleInLooks(page, oppositeLooks, () => count.waitFor());
    await dialog.getByLabel("Days to keep").fill("36500");
    assert.equal(await create.isDisabled(), true, "that was the count for other days");
    await count.click();
    await dialog.getByText("It would remove nothing now").waitFor();
    await dialog.getByLabel("Days to keep").fill("1095");
    await count.click();
    await dialog.getByText("It would remove 1\u202f000 points now").waitFor();
    await create.click();
    await dialog.waitFor({ state: "detached" });
    const [made] = await rules();
    assert.deepEqual([made!["name"], made!["keepDays"]], ["three years", 1_095]);
    await page.setViewportSize({ width: 1440, height: 740 });
    await page
      .getByRole("row", { name: /^three years flow 1.095 days waits until 20\d\d-.* 0 Edit/ })
      .waitFor();
    const shown = () => page.getByRole("row", { name: /^three years/ }).waitFor();
    await assertAccessibleInLooks(page, oppositeLooks, shown);

    await page.getByRole("button", { name: "Edit the rule three years" }).click();
    const edit = page.getByRole("dialog", { name: "Edit the retention rule three years" });
    await edit.getByLabel("Days to keep").fill("730");
    assert.equal(await edit.getByRole("button", { name: "Save" }).isDisabled(), true);
    await edit.getByLabel("Days to keep").fill("1095");
    await edit.getByLabel("Name").fill("for ever");
    await edit.getByRole("button", { name: "Save" }).click();
    await edit.waitFor({ state: "detached" });
    assert.deepEqual((await rules())[0]!["name"], "for ever");
    await page.getByRole("button", { name: "Delete the rule for ever" }).click();
    await page.getByRole("button", { name: "Delete the rule", exact: true }).click();
    await page.getByText("There are no retention rules").waitFor();
    assert.deepEqual(await rules(), []);
    await console.release(page);
  });

  it("show why the last run failed, and the counts of all pages of a count", async () => {
    const page = await console.open({ path: "/" });
    const rule = {
      ...{ id: 7, name: "old", wholeProject: true, keepDays: 30, nextTime: noonMs, removedPoints: 12 },
      ...{ createdTime: noonMs, lastUpdatedTime: noonMs },
      lastRun: { startedTime: noonMs, endedTime: noonMs, errorMessage: "3 series failed: the disk is full" },
    };
    await page.route("**/retentionrules?*", (route) => route.fulfill({ json: { data: { items: [rule] } } }));
    await page.route("**/retentionrules", (route) => route.fulfill({ json: { data: { items: [rule] } } }));
    const counted = { cutoffTime: noonMs, examined: 1_000, affected: 0, points: 0, blocks: 0, items: [] };
    const some = {
      ...{ ...counted, affected: 1, points: 5, blocks: 1, oldestTime: 0 },
      items: [{ seriesId: 1, name: "flow", points: 5, blocks: 1, oldestTime: 0 }],
    };
    await page.route("**/retentionrules/preview", (route) => {
      const isFirst = route.request().postDataJSON().cursor === undefined;
      return route.fulfill({ json: { data: isFirst ? { ...some, nextCursor: "next" } : counted } });
    });
    await page.goto(`${console.server.baseUrl}/operations?tab=retention`);
    const alert = page.getByRole("alert").filter({ hasText: "The last run of old failed" });
    await alert.getByText("3 series failed: the disk is full").waitFor();
    await page.getByRole("row", { name: /^old all series 30 days failed .* ago 12 Edit/ }).waitFor();
    await page.getByRole("button", { name: "Edit the rule old" }).click();
    await page.getByRole("button", { name: "Count what it would remove" }).click();
    await page.getByText("It would remove 5 points now").waitFor();
    await page.getByText("Of 1 of 2\u202f000 series").waitFor();
    await console.release(page);
  });

  it("are for those who may change the project, without the state of the server", async () => {
    const page = await console.open({ path: "/", key: keeperKey });
    await page.getByRole("link", { name: "Operations" }).click();
    await page.getByText("There are no retention rules").waitFor();
    await page.getByRole("button", { name: "New rule" }).waitFor();
    assert.equal(await page.getByRole("tab").count(), 0);
    await page.goto(`${console.server.baseUrl}/operations?tab=retention`);
    await page.getByRole("button", { name: "New rule" }).waitFor();
    await console.release(page);
    const member = await console.open({ path: "/operations?tab=retention", key: memberKey });
    await member.getByText("This page is for administrators").waitFor();
    assert.equal(await member.getByRole("button", { name: "New rule" }).count(), 0);
    await console.release(member);
  });
});
