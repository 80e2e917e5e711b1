// Tests the page of the server's state in a real browser: figures, warnings, and who may see it.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { assertAccessibleInLooks, type ConsoleUnderTest, oppositeLooks, startConsole } from "./browser.ts";

let console: ConsoleUnderTest;
let memberKey: string;

before(async () => {
  console = await startConsole();
  const { v06 } = console.server.ask;
  await v06("POST /timeseries", { items: [{ name: "flow" }] });
  const points = Array.from({ length: 1_000 }, (_, i) => ({ timestamp: i * 1_000, value: i }));
  await v06("POST /timeseries/data/flow", { items: points });
  const user = await v06("POST /users", { items: [{ uniqueName: "member", groups: [] }] });
  const key = await v06("POST /apikeys", { items: [{ userId: user.items[0]!["id"] }] });
  memberKey = key.items[0]!["value"] as string;
});
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
    const page = await console.open({ path: "/operations" });
    await page.getByText("Everything works").waitFor();
    const figure = (label: string) => page.getByRole("group", { name: label });
    await figure("Points written").getByText("1\u202f000 stored").waitFor();
    await figure("Requests")
      .getByText(/[\d.]+\/s/)
      .waitFor();
    await figure("Memory").getByText(/MiB/).first().waitFor();
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
    await card.getByLabel("Back up now").getByText("millrace backup", { exact: true }).waitFor();
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
