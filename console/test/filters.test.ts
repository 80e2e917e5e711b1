// Tests the inputs of filters as people use them: they type with pauses, and in several inputs.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type ConsoleUnderTest, startConsole, untilTrue } from "./browser.ts";

let console: ConsoleUnderTest;

before(async () => {
  console = await startConsole();
  await console.server.ask.v06("POST /assets", { items: [{ name: "Plant" }] });
});
after(() => console.close());

/** Longer than the pause in typing after which a filter is written to the address. */
const pauseMs = 400;

const inputs = [
  { path: "/series", placeholder: "Search by name or description", parameter: "query" },
  { path: "/events", placeholder: "Any type", parameter: "type" },
  { path: "/files", placeholder: "Search by name", parameter: "query" },
  { path: "/audit", placeholder: "Any account", parameter: "account" },
  { path: "/assets", placeholder: "Search by name or description", parameter: "query" },
  { path: "/transformations", placeholder: "Search by name or external id", parameter: "query" },
];

describe("the input of a filter", () => {
  for (const { path, placeholder, parameter } of inputs)
    it(`keeps the focus and all that is typed with pauses: ${path}`, async () => {
      const page = await console.open({ path });
      const input = page.getByPlaceholder(placeholder, { exact: true });
      const hasValue = async (value: string | null) => {
        await page.waitForURL((url) => url.searchParams.get(parameter) === value);
        assert.equal(await input.inputValue(), value ?? "");
      };
      await input.click();
      await page.keyboard.type("24", { delay: pauseMs });
      await hasValue("24");
      for (let i = 0; i < 2; i++) await page.keyboard.press("Backspace", { delay: pauseMs });
      await hasValue(null);
      await page.keyboard.type("9");
      await hasValue("9");
      await console.release(page);
    });

  it("keeps what is typed if another one is filled in directly after it; a link clears both", async () => {
    const page = await console.open({ path: "/series" });
    await page.getByLabel("Search series").fill("24");
    await page.getByLabel("Unit", { exact: true }).fill("bar");
    await page.waitForURL(
      ({ searchParams }) => searchParams.get("query") === "24" && searchParams.get("unit") === "bar",
    );
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Series" }).click();
    await page.waitForURL(/\/series$/);
    const typed = `[...document.querySelectorAll("[role=search] input")].slice(0, 2).map((one) => one.value)`;
    await untilTrue(page, `${typed}.join() === ","`);
    await page.goBack();
    await untilTrue(page, `${typed}.join() === "24,bar"`);
    await console.release(page);
  });
});
