// Tests the pages of files as people use them: folders and filters, previews that run nothing, changes,
// and uploads that continue after a pause, a lost connection and a reload of the page.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, it } from "node:test";
import type { Page } from "playwright-core";
import { idsOf } from "../../test/support/server.ts";
import { assertAccessibleInLooks, type ConsoleUnderTest, oppositeLooks, startConsole } from "./browser.ts";

let console: ConsoleUnderTest;
let readerKey: string;
let operatorKey: string;
const ids = new Map<string, number>();
const assets = new Map<string, number>();

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
/** Scripts in each way that SVG has; each would send a request. */
const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40" onload="fetch('/ran-svg')">
<script>fetch("/ran-svg")</script><image href="/ran-svg.png"/><rect width="60" height="40"/></svg>`;
const page200 = Array.from({ length: 20_000 }, (_, i) => `line ${i} of the log`).join("\n");
const csv = `tag;low;high\r\n${Array.from({ length: 900 }, (_, i) => `FT-${i};0;"${i},5"`).join("\r\n")}\r\n`;

before(async () => {
  console = await startConsole();
  const { ask } = console.server;
  const made = await ask.v06("POST /assets", { items: [{ name: "Unit 23" }, { name: "Unit 24" }] });
  for (const { id, name } of made.items) assets.set(name as string, id as number);
  const unit23 = { assetIds: [assets.get("Unit 23")] };
  const unit24 = { assetIds: [assets.get("Unit 24")] };
  await put({ fileName: "photo.png", directory: "pictures", fileType: "photo", ...unit23 }, png);
  await put({ fileName: "diagram.svg", directory: "pictures/drawings", ...unit24 }, svg);
  await put({ fileName: "run.log", directory: "logs" }, page200);
  await put({ fileName: "ranges.csv", directory: "lists", metadata: { revision: "4" } }, csv);
  await put({ fileName: "sheet.pdf", directory: "sheets" }, "%PDF-1.4\n%%EOF");
  await put({ fileName: "trap.pdf", directory: "sheets" }, `<script>fetch("/ran-pdf")</script>`);
  await put({ fileName: "tool.bin" }, Buffer.from([0, 1, 2, 3]));
  await put({ fileName: "empty.txt" }, "");
  const missing = await ask.v06("POST /files/initupload", { fileName: "later.doc", directory: "sheets" });
  ids.set("later.doc", (missing.json as { data: { fileId: number } }).data.fileId);
  const all = { all: {} };
  const subtree = { assetIdScope: { subtreeIds: [String(assets.get("Unit 24"))] } };
  readerKey = await newKey("reader", { actions: ["READ"], scope: all });
  operatorKey = await newKey("operator", { actions: ["READ", "WRITE"], scope: subtree });
});
after(() => console.close());

async function put(newFile: Readonly<Record<string, unknown>>, bytes: Buffer | string): Promise<void> {
  const { json } = await console.server.ask.v06("POST /files/initupload", newFile);
  const { fileId, uploadURL } = (json as { data: { fileId: number; uploadURL: string } }).data;
  const response = await fetch(uploadURL, { method: "PUT", body: bytes });
  assert.equal(response.status, 200);
  ids.set(newFile["fileName"] as string, fileId);
}

/** The key of an account with these rights for files, and reading rights for the same assets. */
async function newKey(uniqueName: string, filesAcl: { actions: string[]; scope: object }): Promise<string> {
  const { ask } = console.server;
  const capabilities = [{ filesAcl }, { assetsAcl: { actions: ["READ"], scope: filesAcl.scope } }];
  const groups = idsOf(await ask("POST /groups", { items: [{ name: uniqueName, capabilities }] }));
  const [userId] = idsOf(await ask("POST /users", { items: [{ uniqueName, groups }] }));
  const [key] = (await ask("POST /apikeys", { items: [{ userId }] })).items;
  return key!["value"] as string;
}

const pageOf = (name: string) => `/files/${ids.get(name)}`;
const fileRow = (page: Page, name: string) =>
  page.getByRole("table", { name: "Files" }).getByRole("row", { name });

describe("the list of files", () => {
  it("has folders, and filters by name, type, asset and content in its address", async () => {
    const page = await console.open({ path: "/files" });
    await fileRow(page, "photo.png").getByText("Unit 23").waitFor();
    await fileRow(page, "later.doc").getByText("no content yet").waitFor();
    const folders = page.getByRole("navigation", { name: "Folders" });
    assert.equal(await folders.getByRole("link", { name: "drawings" }).count(), 0);
    await folders.getByRole("button", { name: "Folders in pictures" }).click();
    await folders.getByRole("link", { name: "drawings" }).click();
    await fileRow(page, "photo.png").waitFor({ state: "detached" });
    await fileRow(page, "diagram.svg").waitFor();
    assert.match(page.url(), /\/files\?folder=pictures%2Fdrawings$/);
    await folders.getByRole("link", { name: "All files" }).click();
    await page.getByLabel("Search files").fill("run");
    await fileRow(page, "photo.png").waitFor({ state: "detached" });
    await fileRow(page, "run.log").waitFor();
    await page.goto(`${console.server.baseUrl}/files?content=missing`);
    await fileRow(page, "later.doc").waitFor();
    assert.equal(await fileRow(page, "photo.png").count(), 0);
    await page.goto(`${console.server.baseUrl}/files?assets=${assets.get("Unit 23")}&type=photo`);
    await fileRow(page, "photo.png").waitFor();
    assert.equal(await page.getByRole("table", { name: "Files" }).getByRole("row").count(), 2);
    await page.getByLabel("Search files").fill("nothing");
    await page.getByText("No files match").waitFor();
    await console.release(page);
  });

  it("opens a file by keyboard and from the palette", async () => {
    const page = await console.open({ path: "/files" });
    await fileRow(page, "tool.bin").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "tool.bin" }).waitFor();
    await page.getByText("This kind of file has no preview").waitFor();
    await page.keyboard.press("Control+k");
    await page.getByLabel("Find pages, assets, series, events and files").fill("ranges");
    await page.getByRole("button", { name: /ranges\.csv/ }).click();
    await page.getByRole("heading", { name: "ranges.csv" }).waitFor();
    await console.release(page);
  });
});

describe("the preview of a file", () => {
  it("shows pictures and SVG, and runs and loads nothing of them", async () => {
    const page = await console.open();
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    for (const [name, width] of [
      ["photo.png", 1],
      ["diagram.svg", 60],
    ] as const) {
      await page.goto(console.server.baseUrl + pageOf(name));
      const image = page.getByRole("img", { name });
      await image.waitFor();
      const loaded = `(async () => { const img = document.querySelector('img[alt="${name}"]');
        await img.decode(); return img.naturalWidth; })()`;
      assert.equal(await page.evaluate(loaded), width);
    }
    assert.match(
      (await page.getByRole("img", { name: "diagram.svg" }).getAttribute("src"))!,
      /^data:image\/svg/,
    );
    assert.deepEqual(
      requests.filter((url) => url.includes("ran-svg")),
      [],
    );
    await console.release(page);
  });

  it("gives PDF to the browser's viewer, and shows a page that calls itself PDF as text", async () => {
    const page = await console.open({ path: pageOf("sheet.pdf") });
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    const isViewer = await page.evaluate("navigator.pdfViewerEnabled");
    if (isViewer) assert.match((await page.getByTitle("sheet.pdf").getAttribute("src"))!, /^blob:/);
    else await page.getByText("This browser has no viewer for PDF").waitFor();
    await page.goto(console.server.baseUrl + pageOf("trap.pdf"));
    await page.getByRole("region", { name: "Text" }).getByText("<script>").waitFor();
    assert.equal(await page.locator("iframe").count(), 0);
    assert.ok(!requests.some((url) => url.includes("ran-pdf")));
    await console.release(page);
  });

  it("reads only the start of long text and CSV, and says so", async () => {
    const page = await console.open();
    let bytes = 0;
    page.on("response", (response) => {
      if (response.url().includes("/blobs/")) bytes += Number(response.headers()["content-length"]);
    });
    await page.goto(console.server.baseUrl + pageOf("run.log"));
    await page.getByText("line 0 of the log").waitFor();
    const size = `${Number((page200.length / 1024).toPrecision(3))} KiB`;
    await page.getByText(`These are the first 256 KiB of ${size}.`).waitFor();
    assert.equal(bytes, 256 * 1024);
    await page.goto(console.server.baseUrl + pageOf("ranges.csv"));
    await page.getByRole("row", { name: "FT-1 0 1,5" }).waitFor();
    await page.getByText("The table shows the first 500 rows.").waitFor();
    assert.equal(await page.getByRole("cell", { name: "FT-500", exact: true }).count(), 0);
    await page.getByText("revision").waitFor();
    await page.goto(console.server.baseUrl + pageOf("empty.txt"));
    await page.getByText("This file is empty").waitFor();
    await console.release(page);
  });
});

describe("the page of a file", () => {
  it("saves the file, and names its assets", async () => {
    const page = await console.open({ path: pageOf("photo.png") });
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download" }).click(),
    ]);
    assert.equal(download.suggestedFilename(), "photo.png");
    await page.getByRole("link", { name: "Unit 23" }).click();
    await page.getByRole("region", { name: "Files" }).getByRole("link", { name: "photo.png" }).click();
    await page.getByRole("heading", { name: "photo.png" }).waitFor();
    await console.release(page);
  });

  it("changes the record, and deletes the file after a confirmation", async () => {
    await put({ fileName: "draft.txt", directory: "lists", source: "SAP" }, "draft");
    const page = await console.open({ path: pageOf("draft.txt") });
    await page.getByRole("button", { name: "Edit" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("ranges.csv");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByRole("alert").waitFor();
    await dialog.getByLabel("Name").fill("final.txt");
    await dialog.getByLabel("Type").fill("report");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "final.txt" }).waitFor();
    const read = async () => console.server.ask.v06(`GET ${pageOf("draft.txt")}`);
    const [saved] = (await read()).items;
    assert.equal(saved!["fileType"], "report");
    assert.equal(saved!["source"], "SAP");
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Delete the file…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete the file" }).click();
    await page.getByRole("heading", { name: "Files" }).waitFor();
    assert.equal((await read()).status, 404);
    await console.release(page);
  });
});

const big = Buffer.alloc(4 * 1024 ** 2, "0123456789abcdef of a big file ");

/** Chooses files with the button, and starts their upload into a folder. */
async function upload(page: Page, folder: string, files: readonly { name: string; buffer: Buffer }[]) {
  const chosen = files.map((file) => ({ ...file, mimeType: "text/plain" }));
  await page.locator("input[type=file]").first().setInputFiles(chosen);
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Assets").fill("Unit 24");
  await page.getByRole("option", { name: "Unit 24" }).click();
  await dialog.getByLabel("Folder").fill(folder);
  await page.keyboard.press("Tab");
  await dialog.getByRole("button", { name: "Upload" }).click();
}

/** Lets the first chunks pass, and holds the others from `held` until `release`. Notes where each starts. */
async function holdChunks(page: Page, passing: number) {
  const starts: number[] = [];
  let isHeld = true;
  let release = () => {};
  let hold = () => {};
  const held = new Promise<void>((resolve) => {
    hold = resolve;
  });
  const released = new Promise<void>((resolve) => {
    release = () => {
      isHeld = false;
      resolve();
    };
  });
  await page.context().route("**/blobs/**", async (route) => {
    const [, start] = /^bytes (\d+)-/.exec(route.request().headers()["content-range"] ?? "") ?? [];
    if (start !== undefined) starts.push(Number(start));
    if (start !== undefined && isHeld && starts.length > passing) {
      hold();
      await released;
    }
    await route.continue().catch(() => undefined);
  });
  return { starts, held, release };
}

const uploadsOf = (page: Page) => page.getByRole("region", { name: "Uploads" });
const uploadRow = (page: Page, name: string) => uploadsOf(page).getByRole("row", { name });

async function fileIn(directory: string, name: string) {
  const query = new URLSearchParams({ dir: directory, name });
  return (await console.server.ask.v06(`GET /files?${query}`)).items[0];
}

async function assertStored(directory: string, name: string, bytes: Buffer): Promise<void> {
  const file = await fileIn(directory, name);
  assert.equal(file?.["uploaded"], true, `${name} is uploaded`);
  const { json } = await console.server.ask.v06(`GET /files/${file["id"]}/downloadlink`);
  const stored = Buffer.from(await (await fetch((json as { data: string }).data)).arrayBuffer());
  const hash = (data: Buffer) => createHash("sha256").update(data).digest("hex");
  assert.equal(hash(stored), hash(bytes));
}

describe("an upload", () => {
  it("takes many files with their folder, type and asset, and shows them in the list", async () => {
    const page = await console.open({ path: "/files" });
    const files = Array.from({ length: 5 }, (_, i) => ({ name: `m${i}.txt`, buffer: Buffer.from(`m${i}`) }));
    await upload(page, "many", [...files, { name: "none.txt", buffer: Buffer.alloc(0) }]);
    await uploadsOf(page).getByText("6 of 6 uploaded, 100 %").waitFor();
    await fileRow(page, "m4.txt").waitFor();
    await assertStored("many", "m3.txt", Buffer.from("m3"));
    await assertStored("many", "none.txt", Buffer.alloc(0));
    const file = await fileIn("many", "m0.txt");
    assert.deepEqual(file!["assetIds"], [assets.get("Unit 24")]);
    assert.equal(file!["fileType"], "text/plain");
    await page.getByRole("navigation", { name: "Folders" }).getByRole("link", { name: "many" }).waitFor();
    await page.getByRole("button", { name: "Clear the uploaded" }).click();
    await uploadsOf(page).waitFor({ state: "detached" });
    await console.release(page);
  });

  it("is paused, continues where it was, also on other pages", async () => {
    const page = await console.open({ path: "/files" });
    const chunks = await holdChunks(page, 1);
    await upload(page, "big", [{ name: "paused.bin", buffer: big }]);
    await chunks.held;
    await page.getByRole("button", { name: "Pause paused.bin" }).click();
    await uploadRow(page, "paused.bin")
      .getByText(/^Paused, [1-3] MiB of 4 MiB/)
      .waitFor();
    chunks.release();
    await page.getByRole("button", { name: "Continue paused.bin" }).click();
    await page.getByRole("link", { name: "Series" }).click();
    await page.getByText("There are no series yet").waitFor();
    await page.getByRole("link", { name: "Files" }).first().click();
    await uploadRow(page, "paused.bin").getByText("Uploaded, 4 MiB").waitFor();
    assert.equal(chunks.starts.filter((start) => start === 0).length, 1, "the first bytes are sent once");
    await assertStored("big", "paused.bin", big);
    await console.release(page);
  });

  it("continues by itself after a lost connection", async () => {
    const page = await console.open({ path: "/files" });
    const chunks = await holdChunks(page, 1);
    await upload(page, "big", [{ name: "lost.bin", buffer: big }]);
    await chunks.held;
    await page.context().unroute("**/blobs/**");
    await page.context().setOffline(true);
    chunks.release();
    await uploadRow(page, "lost.bin").getByText("Continues when the server is back").waitFor();
    await page.context().setOffline(false);
    await uploadRow(page, "lost.bin").getByText("Uploaded, 4 MiB").waitFor();
    await assertStored("big", "lost.bin", big);
    await console.release(page);
  });

  it("continues after a reload of the page, of which the browser warns", async () => {
    const page = await console.open({ path: "/files" });
    const chunks = await holdChunks(page, 1);
    const dialogs: string[] = [];
    page.on("dialog", (dialog) => {
      dialogs.push(dialog.type());
      void dialog.accept();
    });
    await upload(page, "big", [{ name: "reloaded.bin", buffer: big }]);
    await chunks.held;
    await page.reload();
    assert.deepEqual(dialogs, ["beforeunload"]);
    await uploadRow(page, "reloaded.bin")
      .getByText(/^Choose the file again to continue, [1-3] MiB/)
      .waitFor();
    chunks.release();
    const choose = async (buffer: Buffer) => {
      const [chooser] = await Promise.all([
        page.waitForEvent("filechooser"),
        page.getByRole("button", { name: "Choose reloaded.bin" }).click(),
      ]);
      await chooser.setFiles({ name: "reloaded.bin", mimeType: "text/plain", buffer });
    };
    await choose(Buffer.from("another file"));
    await page.getByText("reloaded.bin has another size. Choose the file again").waitFor();
    await choose(big);
    await uploadRow(page, "reloaded.bin").getByText("Uploaded, 4 MiB").waitFor();
    assert.equal(chunks.starts.filter((start) => start === 0).length, 1, "the first bytes are sent once");
    await assertStored("big", "reloaded.bin", big);
    await console.release(page);
  });

  it("that is cancelled leaves no file, and nothing of it in the browser", async () => {
    const page = await console.open({ path: "/files" });
    const chunks = await holdChunks(page, 1);
    await upload(page, "big", [{ name: "cancelled.bin", buffer: big }]);
    await chunks.held;
    assert.ok(await fileIn("big", "cancelled.bin"));
    await page.getByRole("button", { name: "Cancel cancelled.bin" }).click();
    await fileRow(page, "cancelled.bin").waitFor({ state: "detached" });
    assert.equal(await fileIn("big", "cancelled.bin"), undefined);
    assert.equal(await page.evaluate("Object.keys(sessionStorage).join()"), "");
    chunks.release();
    await console.release(page);
  });

  it("of a name that is taken replaces the content only on request, and keeps the record", async () => {
    await put({ fileName: "manual.txt", directory: "lists", metadata: { revision: "1" } }, "old");
    const page = await console.open({ path: "/files" });
    await upload(page, "lists", [{ name: "manual.txt", buffer: Buffer.from("new") }]);
    await uploadRow(page, "manual.txt").getByText("The folder already has a file of this name.").waitFor();
    await assertStored("lists", "manual.txt", Buffer.from("old"));
    await page.getByRole("button", { name: "Replace manual.txt" }).click();
    await uploadRow(page, "manual.txt").getByText("Uploaded, 3 B").waitFor();
    await assertStored("lists", "manual.txt", Buffer.from("new"));
    const file = await fileIn("lists", "manual.txt");
    assert.equal(file!["id"], ids.get("manual.txt"));
    assert.deepEqual(file!["metadata"], { revision: "1" });
    await console.release(page);
  });

  it("takes files that are dropped on the page, and content for a record without any", async () => {
    const page = await console.open({ path: "/files" });
    await fileRow(page, "later.doc").waitFor();
    const dataTransfer = await page.evaluateHandle(
      `(() => { const all = new DataTransfer(); all.items.add(new File(["dropped"], "dropped.txt"));
        return all; })()`,
    );
    await page.dispatchEvent("body", "dragover", { dataTransfer });
    await page.getByText("Drop the files to upload them").waitFor();
    await page.dispatchEvent("body", "drop", { dataTransfer });
    await page.getByRole("dialog", { name: "Upload a file" }).getByText("dropped.txt").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Upload" }).click();
    await uploadsOf(page).getByText("1 of 1 uploaded").waitFor();
    await page.goto(console.server.baseUrl + pageOf("later.doc"));
    await page.getByText("This file has no content yet").waitFor();
    const [chooser] = await Promise.all([
      page.waitForEvent("filechooser"),
      page.getByRole("button", { name: "Upload the content" }).click(),
    ]);
    await chooser.setFiles({ name: "x.doc", mimeType: "text/plain", buffer: Buffer.from("it is here") });
    await page.getByText("it is here").waitFor();
    await assertStored("sheets", "later.doc", Buffer.from("it is here"));
    // Another person changes the record, and the page does not know it.
    const id = ids.get("later.doc")!;
    const change = { fileName: { set: "renamed.doc" }, source: { set: "ERP" } };
    await console.server.ask.v06(`PATCH /files/${id}`, change);
    const [again] = await Promise.all([
      page.waitForEvent("filechooser"),
      page.getByRole("button", { name: "Replace the content" }).click(),
    ]);
    await again.setFiles({ name: "x.doc", mimeType: "text/plain", buffer: Buffer.from("it is newer") });
    await page.getByText("it is newer").waitFor();
    // A browser reports another choice than the one in the input, so the same file can be chosen again.
    assert.equal(await page.evaluate(`document.querySelector("input[type=file]").value`), "");
    await assertStored("sheets", "renamed.doc", Buffer.from("it is newer"));
    const renamed = await fileIn("sheets", "renamed.doc");
    assert.deepEqual([renamed?.["id"], renamed?.["source"]], [id, "ERP"]);
    assert.equal(await fileIn("sheets", "later.doc"), undefined);
    await console.release(page);
  });
});

describe("rights", () => {
  it("a reader has no way to change files", async () => {
    const page = await console.open({ path: "/files", key: readerKey });
    await fileRow(page, "photo.png").waitFor();
    assert.equal(await page.getByRole("button", { name: "Upload files" }).count(), 0);
    await page.goto(console.server.baseUrl + pageOf("photo.png"));
    await page.getByRole("img", { name: "photo.png" }).waitFor();
    assert.equal(await page.getByRole("button", { name: /Edit|Replace|More actions/ }).count(), 0);
    await console.release(page);
  });

  it("an operator sees the files and folders of the own unit, and adds files to it only", async () => {
    const page = await console.open({ path: "/files", key: operatorKey });
    await fileRow(page, "diagram.svg").waitFor();
    const folders = page.getByRole("navigation", { name: "Folders" });
    await folders.getByRole("link", { name: "pictures" }).waitFor();
    const text = await page.locator("body").innerText();
    for (const hidden of ["photo.png", "run.log", "logs", "sheets", "Unit 23"])
      assert.ok(!text.includes(hidden), `${hidden} is not on the page`);
    await page.keyboard.press("Control+k");
    await page.getByLabel("Find pages, assets, series, events and files").fill("photo");
    await page.getByText("Nothing is called that").waitFor();
    await page.keyboard.press("Escape");
    await page.goto(console.server.baseUrl + pageOf("photo.png"));
    await page.getByRole("alert").waitFor();
    await page.goto(`${console.server.baseUrl}/files`);
    const file = { name: "shift.txt", mimeType: "text/plain", buffer: Buffer.from("shift") };
    await page.locator("input[type=file]").setInputFiles(file);
    const dialog = page.getByRole("dialog");
    assert.equal(await dialog.getByRole("button", { name: "Upload" }).isDisabled(), true);
    await dialog.getByLabel("Assets").fill("Unit");
    await page.getByRole("option", { name: "Unit 24" }).waitFor();
    assert.equal(await page.getByRole("option", { name: "Unit 23" }).count(), 0);
    await page.getByRole("option", { name: "Unit 24" }).click();
    await page.keyboard.press("Tab");
    await dialog.getByRole("button", { name: "Upload" }).click();
    await uploadsOf(page).getByText("1 of 1 uploaded").waitFor();
    await console.release(page);
  });
});

it("the pages of files are accessible, light and dark, wide and narrow", async () => {
  const page = await console.open({ path: "/files" });
  await upload(page, "lists", [{ name: "ranges.csv", buffer: Buffer.from("taken") }]);
  for (const [path, seen] of [
    ["/files", "already has a file"],
    [pageOf("ranges.csv"), "The table shows"],
    [pageOf("run.log"), "These are the first"],
  ] as const) {
    if (path !== "/files") await page.goto(console.server.baseUrl + path);
    await page.getByText(seen).waitFor();
    await assertAccessibleInLooks(page, oppositeLooks, () => page.getByText(seen).waitFor());
  }
  await console.release(page);
});
