// Tests the forms that edit a record in a real browser.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type ConsoleUnderTest, startConsole } from "./browser.ts";

let console: ConsoleUnderTest;
before(async () => {
  console = await startConsole();
});
after(() => console.close());

interface Kind {
  /** The path of the records, in the API. */
  readonly path: string;
  /** The same in the console. */
  readonly page: string;
  /** Creates a record with this title. */
  readonly create: (title: string) => Promise<number>;
}

async function created(path: string, item: object): Promise<number> {
  const response = await console.server.ask.v06(`POST ${path}`, { items: [item] });
  assert.ok(response.status < 300, response.text);
  return response.items[0]!["id"] as number;
}

const kinds: readonly Kind[] = [
  {
    ...{ path: "/timeseries", page: "/series" },
    create: (name) => created("/timeseries", { name }),
  },
  {
    ...{ path: "/events", page: "/events" },
    create: (description) => created("/events", { description, startTime: 0 }),
  },
  {
    ...{ path: "/files", page: "/files" },
    create: async (fileName) => {
      const { json } = await console.server.ask.v06("POST /files/initupload", { fileName });
      return (json as { data: { fileId: number } }).data.fileId;
    },
  },
  {
    ...{ path: "/sequences", page: "/sequences" },
    create: (name) => created("/sequences", { name, columns: [{ externalId: "x", valueType: "LONG" }] }),
  },
];

describe("a form of a record", () => {
  it("is closed when the page of another record opens", async () => {
    const page = await console.open();
    for (const { path, page: address, create } of kinds) {
      const [first, second] = [`first ${path.slice(1)}`, `second ${path.slice(1)}`];
      const id = await create(first);
      await create(second);
      await page.goto(`${console.server.baseUrl}${address}/${id}`);
      await page.getByRole("heading", { name: first }).waitFor();
      await page.keyboard.press("Control+k");
      await page.getByLabel("Find pages, assets, series, events and files").fill(second);
      await page.getByRole("dialog").getByText(second, { exact: true }).click();
      await page.getByRole("heading", { name: second }).waitFor();
      await page.getByRole("button", { name: "Edit", exact: true }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Add a pair" }).waitFor();
      await page.goBack();
      await page.getByRole("heading", { name: first }).waitFor();
      assert.equal(await page.getByRole("dialog").count(), 0, path);
    }
    await console.release(page);
  });
});
