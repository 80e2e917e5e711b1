// The files of the demo: diagrams name assets and series that exist, and data sheets are PDF that readers
// accept.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readDescription } from "../description.ts";
import { demoFiles } from "./files.ts";
import { sheet23 } from "./sheet-23.ts";
import { sheet24 } from "./sheet-24.ts";
import { sheet26 } from "./sheet-26.ts";

const description = readDescription();
const assets = new Set(description.assets.map(({ name }) => name));
const series = new Set(description.series.map(({ name }) => name));
const loops = new Set(description.loops.map(({ tag }) => tag));
const files = demoFiles(description);

test("every tag of a diagram is an asset, a series or a controller, and is drawn on the sheet", () => {
  for (const { equipment, small, instruments, pipes } of [sheet23, sheet24, sheet26]) {
    for (const tag of [...equipment.map((one) => one.tag), ...small.map(([, tag]) => tag)])
      assert.ok(tag === "" || assets.has(tag), `${tag} is an asset`);
    for (const [tag] of instruments) assert.ok(series.has(tag) || loops.has(tag), `${tag} is a series`);
    const places = [
      ...pipes.flatMap(([, ...points]) => points),
      ...small.map(([, , x, y]) => [x, y] as const),
      ...instruments.flatMap(([, x, y, ...connections]) => [[x, y] as const, ...connections]),
    ];
    for (const [x, y] of places) assert.ok(x > 12 && x < 1588 && y > 12 && y < 988, `${x}, ${y}`);
  }
});

test("each pump has a data sheet, whose table of objects is right", () => {
  const sheets = files.filter(({ type }) => type === "application/pdf");
  for (const { tag } of description.pumps)
    assert.ok(
      sheets.some(({ assets: [asset] }) => asset === tag),
      tag,
    );
  for (const { bytes, name } of sheets) {
    const text = Buffer.from(bytes).toString("latin1");
    assert.ok(text.startsWith("%PDF-1.4") && text.endsWith("%%EOF\n"), name);
    const start = Number(/startxref\n(\d+)\n/.exec(text)![1]);
    assert.ok(text.startsWith("xref\n", start));
    const offsets = [...text.slice(start).matchAll(/^(\d{10}) 00000 n $/gm)].map(([, digits]) =>
      Number(digits),
    );
    for (const [at, offset] of offsets.entries()) assert.ok(text.startsWith(`${at + 1} 0 obj`, offset), name);
    const [, length, content] = /\/Length (\d+) >>\nstream\n(.*)\nendstream/s.exec(text)!;
    assert.equal(content!.length, Number(length));
  }
});

test("the files have names of their own, and are linked to assets", () => {
  const names = files.map(({ directory, name }) => `${directory}/${name}`);
  assert.equal(new Set(names).size, names.length);
  for (const { name, assets: linked, bytes } of files) {
    assert.ok(linked.length > 0 && linked.every((asset) => assets.has(asset)), name);
    assert.ok(bytes.length > 300, name);
  }
});
