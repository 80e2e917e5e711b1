// Tags in drawings over REST: found with their places in SVG and PDF, reviewed and remembered; hostile files
// are bounded.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { deflateSync } from "node:zlib";
import { type Item, idsOf, startTestServer, type TestServer } from "../../../test/support/server.ts";
import { PdfPage } from "../../demo/documents/pdf.ts";
import { limits } from "../../limits.ts";
import type { Box } from "./schema.ts";

let server: TestServer;
let pump: number;
let tank: number;
let loop: number;
before(async () => {
  server = await startTestServer();
  const items = ["23-P-1012A", "23-T-1010", "TC-1103"].map((name) => ({ name }));
  [pump, tank, loop] = idsOf(await server.ask("POST /assets", { items })) as [number, number, number];
});
after(() => server.close());

const ask: TestServer["ask"]["v06"] = (...request) => server.ask.v06(...request);

async function uploaded(fileName: string, body: string | Uint8Array, fileId?: number): Promise<number> {
  const path = `POST /files/initupload?overwrite=${fileId !== undefined}`;
  const { json } = await server.ask(path, { fileName });
  const { data } = json as { data: { fileId: number; uploadURL: string } };
  const put = await fetch(data.uploadURL, { method: "PUT", body: Buffer.from(body) });
  assert.equal(put.status, 200);
  return data.fileId;
}

const compute = async (fileId: number, more: object = {}) =>
  ask("POST /suggestions/drawings", { fileId, ...more });
const placed = async (fileId: number) => (await ask(`GET /suggestions?fileId=${fileId}`)).items;
const near = (got: unknown, [x, y, width, height]: readonly [number, number, number, number]) => {
  const box = got as Box;
  for (const [is, wanted] of [
    [box.x, x],
    [box.y, y],
    [box.width, width],
    [box.height, height],
  ] as const)
    assert.ok(Math.abs(is - wanted) < 0.02, `${JSON.stringify(box)} is near ${[x, y, width, height]}`);
};

const svg = (content: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 500">${content}</svg>`;

test("tags of an SVG are found where they are drawn, under transforms and in bubbles", async () => {
  const file = await uploaded(
    "plan.svg",
    svg(`
      <text x="100" y="100" font-size="20">23-P-1012A</text>
      <g transform="translate(500 250) scale(2)" style="font-size: 10px; text-anchor: middle">
        <text>feed <tspan>23_T_1010</tspan></text></g>
      <text x="800" y="100" font-size="20" text-anchor="middle">TC</text>
      <text x="800" y="122" font-size="20" text-anchor="middle">1103</text>
      <text x="600" y="400" transform="rotate(-90 600 400)" font-size="20">23-P-1012A</text>
      <title>23-T-1010</title><defs><text x="1" y="1">23-T-1010</text></defs>`),
  );
  const { json } = await compute(file);
  assert.deepEqual(json, { data: { examined: 5, matched: 4, proposed: 4 } });
  const found = await placed(file);
  const of = (assetId: number) => found.filter((one) => one["assetId"] === assetId);
  const [level, upright] = of(pump);
  near(level!["box"], [0.1, 0.166, 0.12, 0.044]);
  near(upright!["box"], [0.583, 0.56, 0.022, 0.24]);
  assert.deepEqual(
    [of(tank)[0]!["tag"], of(loop)[0]!["tag"], level!["score"], level!["page"], level!["state"]],
    ["23_T_1010", "TC-1103", 0, 1, "OPEN"],
  );
  near(of(tank)[0]!["box"], [0.485, 0.466, 0.108, 0.044]);
  near(of(loop)[0]!["box"], [0.776, 0.166, 0.048, 0.088]);
  assert.deepEqual((await compute(file)).json, { data: { examined: 5, matched: 4, proposed: 0 } });
  assert.deepEqual(await placed(file), found);
});

test("tags of a PDF are found on their pages", async () => {
  const page = new PdfPage();
  page.text("Pump 23-P-1012A of 23-T-1010", [100, 421], { size: 12 });
  const file = await uploaded("sheet.pdf", page.bytes("sheet"));
  assert.deepEqual((await compute(file)).json, { data: { examined: 3, matched: 2, proposed: 2 } });
  const [first, second] = await placed(file);
  assert.deepEqual([first!["assetId"], second!["assetId"], first!["page"]], [pump, tank, 1]);
  const [one, two] = [first!["box"] as Box, second!["box"] as Box];
  assert.ok(one.x > 0.17 && one.x + one.width < two.x && Math.abs(one.y - 0.49) < 0.01, JSON.stringify(one));
});

test("a review is remembered, also for a drawing that is replaced", async () => {
  const file = await uploaded(
    "moved.svg",
    svg('<text x="10" y="50">23-P-1012A</text><text x="10" y="90">23-T-1010</text>'),
  );
  await compute(file);
  const [ofPump, ofTank] = idsOf(await ask(`GET /suggestions?fileId=${file}`));
  await ask("POST /suggestions/accept", { items: [ofPump] });
  await ask("POST /suggestions/reject", { items: [ofTank] });
  assert.deepEqual((await ask(`GET /files/${file}`)).items[0]!["assetIds"], [pump]);
  await uploaded(
    "moved.svg",
    svg('<text x="500" y="50">23P1012A</text><text x="10" y="90">23-T-1010</text>'),
    file,
  );
  assert.deepEqual((await compute(file)).json, { data: { examined: 2, matched: 1, proposed: 0 } });
  const states = (await placed(file)).map(({ assetId, state }) => [assetId, state]);
  assert.deepEqual(states, [
    [pump, "ACCEPTED"],
    [tank, "REJECTED"],
  ]);
  const [moved] = await placed(file);
  assert.equal((moved!["box"] as Box).x, 0.5);
});

test("tags that are looked for again keep what was accepted, and each rejected place", async () => {
  const text = (y: number, tag: string) => `<text x="10" y="${y}">${tag}</text>`;
  const drawn = svg(text(50, "23-P-1012A") + text(90, "23-P-1012A") + text(130, "23-T-1011"));
  const file = await uploaded("again.svg", drawn);
  await compute(file, { scoreMax: 1 });
  const found = await placed(file);
  const [first, second, near1] = idsOf({ items: found } as never) as [number, number, number];
  assert.equal(found[2]!["score"], 1);
  await ask("POST /suggestions/accept", { items: [first, near1] });
  await ask("POST /suggestions/reject", { items: [second] });
  // Of another program: at a place where no text is.
  const box = { x: 0.5, y: 0.5, width: 0.1, height: 0.1 };
  const item = { fileId: file, page: 1, box, assetId: loop, tag: "LOOP", score: 0, state: "ACCEPTED" };
  const [other] = idsOf(await ask("POST /suggestions", { items: [item] }));
  const states = async () => (await placed(file)).map(({ id, state, box }) => [id, state, box]);
  const before = await states();
  assert.deepEqual(
    before.map(([id, state]) => [id, state]),
    [
      [first, "ACCEPTED"],
      [second, "REJECTED"],
      [near1, "ACCEPTED"],
      [other, "ACCEPTED"],
    ],
  );
  for (const scoreMax of [0, 1]) {
    await compute(file, { scoreMax });
    assert.deepEqual(await states(), before, `with the score ${scoreMax}`);
  }
});

test("files that are no drawing are refused, and say why", async () => {
  const refused = async (file: number): Promise<[number, string]> => {
    const { status, error } = await compute(file);
    return [status, error!.message];
  };
  assert.deepEqual(await refused(5), [404, "No such ids: 5"]);
  assert.match(
    (await refused(await uploaded("notes.txt", "23-P-1012A")))[1],
    /^notes\.txt is neither SVG nor PDF/,
  );
  const table: [name: string, bytes: string, problem: string][] = [
    ["a.svg", "<html/>", "it is no SVG"],
    ["b.svg", "<svg><text>23-P-1012A</svg>", "it is not well-formed XML"],
    ["c.pdf", "23-P-1012A", "it is no readable PDF"],
    ["d.svg", "<svg>".repeat(limits.drawingDepthMax + 1), "its elements are nested too deep"],
    [
      "e.svg",
      svg(`<text x="1">A1</text>`.repeat(limits.drawingTagsMax + 1)),
      `it has more than ${limits.drawingTagsMax} strings like tags`,
    ],
  ];
  for (const [name, bytes, problem] of table)
    assert.deepEqual(await refused(await uploaded(name, bytes)), [
      400,
      `${name} cannot be read as a drawing: ${problem}`,
    ]);
  const large = await uploaded("large.svg", Buffer.alloc(limits.drawingBytesMax + 1, " "));
  assert.equal((await compute(large)).status, 413);
  const { json } = await server.ask("POST /files/initupload", { fileName: "empty.svg" });
  assert.equal((await compute((json as { data: { fileId: number } }).data.fileId)).status, 400);
});

test("entities and compressed content that grow do not take the server with them", async () => {
  const entities = Array.from({ length: 30 }, (_, at) => `<!ENTITY e${at + 1} "&e${at};&e${at};">`).join("");
  const laughs = `<!DOCTYPE svg [<!ENTITY e0 "23-P-1012A">${entities}]><svg><text>&e30;</text></svg>`;
  const file = await uploaded("laughs.svg", laughs);
  const { status } = await compute(file);
  assert.ok(status === 200 || status === 400);
  assert.deepEqual(await placed(file), []);
  // A few kilobytes become 600 MB of operators.
  const layer = deflateSync(deflateSync(Buffer.alloc(600 * 2 ** 20, "0 0 m "), { level: 1 }));
  const bomb = pdfWith(layer);
  const startedMs = Date.now();
  const hostile = await compute(await uploaded("bomb.pdf", bomb));
  assert.ok([200, 400].includes(hostile.status), hostile.text);
  assert.ok(Date.now() - startedMs < 10 * limits.drawingMsMax);
  assert.equal((await ask("GET /assets?limit=1")).status, 200);
});

/** A page whose content is compressed twice. */
function pdfWith(content: Buffer): Buffer {
  const head =
    "%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n" +
    "2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n" +
    "3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] /Contents 4 0 R >>\nendobj\n" +
    `4 0 obj\n<< /Length ${content.length} /Filter [/FlateDecode /FlateDecode] >>\nstream\n`;
  const tail = "\nendstream\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n";
  return Buffer.concat([Buffer.from(head), content, Buffer.from(tail)]);
}

test("tags are found with the rights of the caller", async () => {
  const file = await uploaded(
    "rights.svg",
    svg('<text x="10" y="50">23-P-1012A</text><text x="10" y="90">23-T-1010</text>'),
  );
  const all = { all: {} };
  const within = { assetIdScope: { subtreeIds: [String(pump)] } };
  const capabilities = [
    { suggestionsAcl: { actions: ["READ", "WRITE"], scope: all } },
    { filesAcl: { actions: ["READ"], scope: all } },
    { assetsAcl: { actions: ["READ"], scope: within } },
  ];
  const made = async (list: string, item: object): Promise<Item> =>
    (await ask(`POST /${list}`, { items: [item] })).items[0]!;
  const group = await made("groups", { name: "limited", capabilities });
  const user = await made("users", { uniqueName: "limited", groups: [group["id"]] });
  const key = { "api-key": (await made("apikeys", { userId: user["id"] }))["value"] as string };
  const { json } = await ask("POST /suggestions/drawings", { fileId: file }, key);
  assert.deepEqual(json, { data: { examined: 2, matched: 1, proposed: 1 } });
  assert.deepEqual((await compute(file)).json, { data: { examined: 2, matched: 2, proposed: 1 } });
  const seen = (await ask(`GET /suggestions?fileId=${file}`, undefined, key)).items;
  assert.deepEqual(
    seen.map(({ assetId }) => assetId),
    [pump],
  );
  const refused = await ask(
    "POST /suggestions/accept",
    { items: idsOf(await ask(`GET /suggestions?fileId=${file}`, undefined, key)) },
    key,
  );
  assert.deepEqual([refused.status, (refused.error as Item)["message"]], [403, refused.error!.message]);
});
