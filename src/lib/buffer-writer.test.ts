// Sheets that answers are written on: what is cut off stays as it was written until it is released.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { BufferPool, BufferWriter, BytesLiteral } from "./buffer-writer.ts";

const sheetBytes = 100_000;
const long = (letter: string) => letter.repeat(20_000);

test("pieces that are cut off keep their bytes, and are used again once they are released", () => {
  const shelf = new BufferPool(sheetBytes, 2);
  const first = new BufferWriter(shelf);
  first.string("a");
  first.string(long("b"));
  const one = first.takeWritten();
  first.string(long("c"));
  const two = first.takeWritten();
  const second = new BufferWriter(shelf);
  second.string(long("d"));
  const three = second.takeWritten();
  assert.equal(one.toString(), `a${long("b")}`);
  assert.equal(two.toString(), long("c"));
  assert.equal(new Set([one, two, three].map(({ buffer }) => buffer)).size, 3);
  first.release();
  first.release();
  const again = [shelf.take(), shelf.take(), shelf.take()];
  assert.deepEqual(
    again.map(({ buffer }) => [one.buffer, two.buffer].indexOf(buffer as ArrayBuffer)),
    [1, 0, -1],
    "each of them once",
  );
  assert.equal(three.toString(), long("d"), "what others have written is left alone");
});

test("a sheet grows as far as it must, with the shelf or without one", () => {
  for (const shelf of [undefined, new BufferPool(sheetBytes, 2)]) {
    const sheet = new BufferWriter(shelf);
    for (const letter of "abcdefghij") sheet.string(long(letter));
    assert.equal(sheet.takeWritten().toString(), [..."abcdefghij"].map(long).join(""));
    sheet.string("next");
    assert.equal(sheet.takeWritten().toString(), "next");
  }
});

test("texts and texts in quotes are those of JSON, whatever letters they have and however long", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 50 }),
    fc.string({ unit: "grapheme-ascii", maxLength: 50 }),
    fc.constantFrom("\ud800", 'a"b', "a\\b", "\u007f", "\n", " ~", "0".repeat(32), "0".repeat(33)),
  );
  fc.assert(
    fc.property(fc.array(text, { maxLength: 9 }), (texts) => {
      const sheet = new BufferWriter();
      for (const one of texts) {
        sheet.string(one.toWellFormed());
        sheet.byte(",".charCodeAt(0));
        sheet.jsonString(one);
      }
      const expected = texts.map((one) => `${one.toWellFormed()},${JSON.stringify(one)}`);
      assert.equal(sheet.takeWritten().toString(), expected.join(""));
    }),
  );
});

test("labels of all lengths are written as they are", () => {
  const text = fc.string({ unit: "grapheme", minLength: 4, maxLength: 40 });
  fc.assert(
    fc.property(text, (text) => {
      const sheet = new BufferWriter();
      sheet.string("<");
      sheet.at = new BytesLiteral(text).write(sheet.view, sheet.at);
      sheet.string(">");
      assert.equal(sheet.takeWritten().toString(), `<${text}>`);
    }),
  );
});
