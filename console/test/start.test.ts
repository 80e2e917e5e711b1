// Tests the first page in a real browser: an empty project, the load of the demo plant, and the overview.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Page } from "playwright-core";
import { freshnessText } from "../src/pages/start/freshness-text.ts";
import { assertAccessible, type ConsoleUnderTest, startConsole } from "./browser.ts";

let console: ConsoleUnderTest;
before(async () => {
  console = await startConsole();
});
after(() => console.close());

async function memberKey(name: string): Promise<string> {
  const { v06 } = console.server.ask;
  const user = (await v06("POST /users", { items: [{ uniqueName: name }] })).items[0]!;
  return (await v06("POST /apikeys", { items: [{ userId: user["id"] }] })).items[0]!["value"] as string;
}

describe("an empty project", () => {
  it("says what to do, and is accessible wide and narrow", async () => {
    for (const [colorScheme, width] of [
      ["light", 1440],
      ["dark", 360],
    ] as const) {
      const page = await console.open({ colorScheme, viewport: { width, height: 740 } });
      await page.getByRole("button", { name: "Load the demo plant" }).waitFor();
      await page.getByRole("heading", { name: "Import CSV files" }).waitFor();
      await assertAccessible(page);
      const isCut = await page.evaluate("document.documentElement.scrollWidth > window.innerWidth");
      assert.equal(isCut, false, `the page is wider than ${width} px`);
      await page.getByRole("region", { name: "Import CSV files" }).getByRole("link").click();
      await page.getByRole("tab", { name: "CSV files", selected: true }).waitFor();
      await page.goBack();
      await page.getByRole("region", { name: "Connect a program" }).getByRole("link").click();
      await page.getByRole("heading", { name: "Connect", exact: true }).waitFor();
      await console.release(page);
    }
  });

  it("says on the pages of trends and series what comes first", async () => {
    const page = await console.open({ path: "/trend" });
    await page.getByText("There are no series to look at yet").waitFor();
    await assertAccessible(page);
    await page.goto(`${console.server.baseUrl}/series`);
    await page.getByText("There are no series yet").waitFor();
    await assertAccessible(page);
    await page.getByRole("main").getByRole("link", { name: "Connect" }).click();
    await page.getByRole("heading", { name: "Connect", exact: true }).waitFor();
    await console.release(page);
  });

  it("does not offer the demo plant to members", async () => {
    const page = await console.open({ key: await memberKey("member") });
    await page.getByText("You see no data yet").waitFor();
    assert.equal(await page.getByRole("button", { name: "Load the demo plant" }).count(), 0);
    await console.release(page);
  });
});

it("the age of the data is said in exact words for one, few and many series", () => {
  const texts = [
    { checked: 1, silent: 0, hasMore: false },
    { checked: 1, silent: 1, hasMore: false },
    { checked: 12, silent: 0, hasMore: false },
    { checked: 12, silent: 1, hasMore: false },
    { checked: 12, silent: 3, hasMore: false },
    { checked: 12, silent: 12, hasMore: false },
    { checked: 1_000, silent: 0, hasMore: true },
    { checked: 1_000, silent: 3, hasMore: true },
    { checked: 1_000, silent: 1_000, hasMore: true },
  ].map(freshnessText);
  assert.deepEqual(texts, [
    "The only series has a value from the last hour.",
    "The only series has no value from the last hour.",
    "Of the 12 series, all have a value from the last hour.",
    "Of the 12 series, 1 has no value from the last hour.",
    "Of the 12 series, 3 have no value from the last hour.",
    "Of the 12 series, none has a value from the last hour.",
    "Of the first 1\u202f000 series, all have a value from the last hour. The other series were not checked.",
    "Of the first 1\u202f000 series, 3 have no value from the last hour. The other series were not checked.",
    "Of the first 1\u202f000 series, none has a value from the last hour. The other series were not checked.",
  ]);
});

/** The page requests 90 days, which take a minute to load on a slow machine. */
const loadFewDays = (page: Page) =>
  page.route("**/demo", (route) =>
    route.request().method() === "POST"
      ? route.continue({ postData: JSON.stringify({ days: 10 }) })
      : route.continue(),
  );

describe("the demo plant", () => {
  it("is loaded by a click with its progress, and the overview follows", async () => {
    const page = await console.open();
    page.setDefaultTimeout(240_000);
    await loadFewDays(page);
    await page.getByRole("button", { name: "Load the demo plant" }).click();
    await page.getByRole("progressbar", { name: "Progress of the load" }).waitFor();
    const counts = page.getByRole("region", { name: "Counts" });
    await counts.getByText("Assets").waitFor();
    await page
      .getByRole("region", { name: "Newest data" })
      .getByText(/^(now|.* s ago)$/)
      .waitFor();
    const event = page.getByRole("region", { name: "Recent events" }).getByRole("link").first();
    assert.match((await event.getAttribute("href"))!, /^\/events\/\d+$/);
    assert.equal(await page.getByRole("button", { name: "Load the demo plant" }).count(), 0);
    await assertAccessible(page);
    await console.release(page);
  });

  it("is not shown to a member without rights, but says so", async () => {
    const page = await console.open({ key: await memberKey("stranger") });
    await page.getByText("You see no data yet").waitFor();
    assert.equal(await page.getByRole("region", { name: "Counts" }).count(), 0);
    await console.release(page);
  });
});
