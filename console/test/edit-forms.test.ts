// Tests the forms that edit a record in a real browser: they keep changes of other people, and their record.
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
  /** A member that another person changes. */
  readonly theirs: string;
  /** The member that the form changes, and the label of its field. */
  readonly own: { readonly member: string; readonly label: string };
}

async function created(path: string, item: object): Promise<number> {
  const response = await console.server.ask.v06(`POST ${path}`, { items: [item] });
  assert.ok(response.status < 300, response.text);
  return response.items[0]!["id"] as number;
}

const kinds: readonly Kind[] = [
  {
    ...{ path: "/timeseries", page: "/series", theirs: "description" },
    own: { member: "unit", label: "Unit" },
    create: (name) => created("/timeseries", { name }),
  },
  {
    ...{ path: "/events", page: "/events", theirs: "source" },
    own: { member: "subtype", label: "Subtype" },
    create: (description) => created("/events", { description, startTime: 0 }),
  },
  {
    ...{ path: "/files", page: "/files", theirs: "source" },
    own: { member: "fileType", label: "Type" },
    create: async (fileName) => {
      const { json } = await console.server.ask.v06("POST /files/initupload", { fileName });
      return (json as { data: { fileId: number } }).data.fileId;
    },
  },
  {
    ...{ path: "/sequences", page: "/sequences", theirs: "description" },
    own: { member: "externalId", label: "External id" },
    create: (name) => created("/sequences", { name, columns: [{ externalId: "x", valueType: "LONG" }] }),
  },
];

describe("a form of a record", () => {
  it("keeps changes of other people that the page reads while it is open", async () => {
    const page = await console.open();
    for (const { path, page: address, create, theirs, own } of kinds) {
      const id = await create(`shared ${path.slice(1)}`);
      await page.goto(`${console.server.baseUrl}${address}/${id}`);
      await page.getByRole("button", { name: "Edit", exact: true }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel(own.label, { exact: true }).fill("mine");
      const changed = await console.server.ask.v06(`PATCH ${path}/${id}`, { [theirs]: { set: "theirs" } });
      assert.equal(changed.status, 200, changed.text);
      // The page reads its records again when the connection is back.
      await page.context().setOffline(true);
      await dialog.getByRole("button", { name: "Save" }).click();
      await dialog.getByText("The server cannot be reached").waitFor();
      await page.context().setOffline(false);
      await page.getByText("theirs", { exact: true }).first().waitFor();
      await dialog.getByRole("button", { name: "Save" }).click();
      await dialog.waitFor({ state: "detached" });
      const { items } = await console.server.ask.v06(`GET ${path}/${id}`);
      assert.deepEqual([items[0]![theirs], items[0]![own.member]], ["theirs", "mine"], path);
    }
    await console.release(page);
  });

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
