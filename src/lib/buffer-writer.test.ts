// Buffer writers of responses: a chunk keeps its bytes until the response releases it.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { BufferPool } from "./buffer-pool.ts";
import { BufferWriter, BytesLiteral, withWriter } from "./buffer-writer.ts";

const bytesMin = 2 ** 17;
const openPool = () => new BufferPool({ bytesMin, idleBytesMax: 2 * bytesMin });
const long = (letter: string) => letter.repeat(20_000);

test("chunks keep their bytes until they are released, and their memory is used again", () => {
  const pool = openPool();
  const first = new BufferWriter(pool);
  first.string("a");
  first.string(long("b"));
  const one = first.takeWritten();
  first.string(long("c"));
  const two = first.takeWritten();
  const second = new BufferWriter(pool);
  second.string(long("d"));
  const three = second.takeWritten();
  assert.equal(one.toString(), `a${long("b")}`);
  assert.equal(two.toString(), long("c"));
  assert.equal(new Set([one, two, three].map(({ buffer }) => buffer)).size, 3);
  first.release();
  first.release();
  const again = [1, 2, 3].map(() => pool.take(bytesMin));
  assert.deepEqual(
    again.map(({ buffer }) => [one.buffer, two.buffer].indexOf(buffer as ArrayBuffer)),
    [1, 0, -1],
    "each of them once",
  );
  assert.equal(three.toString(), long("d"), "the bytes of other writers are unchanged");
});

test("the second chunk of a long response takes one buffer and copies nothing", () => {
  const pool = new BufferPool({ bytesMin, idleBytesMax: 2 * bytesMin, shortBytes: bytesMin / 2 });
  const writer = new BufferWriter(pool);
  writer.string(long("a"));
  assert.equal(writer.bytes.length, bytesMin / 2, "a response may be short");
  writer.string(long("b"));
  assert.equal(writer.bytes.length, bytesMin);
  writer.takeWritten();
  writer.string(long("c"));
  const { buffer } = writer.bytes;
  writer.string(long("d"));
  assert.equal(writer.takeWritten().toString(), long("c") + long("d"));
  assert.equal(buffer.byteLength, bytesMin);
});

test("after a chunk of long strings, the next one takes a buffer of the usual size", () => {
  const writer = new BufferWriter(openPool());
  writer.string(long("a").repeat(8));
  assert.equal(writer.bytes.length, 4 * bytesMin);
  writer.takeWritten();
  writer.string(long("b"));
  assert.equal(writer.bytes.length, bytesMin);
});

test("a write that fails returns all memory of its writer, what it has not finished included", async () => {
  const pool = openPool();
  const used: ArrayBufferLike[] = [];
  const failing = withWriter(pool, async (writer) => {
    writer.string(long("a"));
    used.push(writer.takeWritten().buffer);
    writer.string(long("b"));
    used.push(writer.bytes.buffer);
    throw new Error("store gone");
  });
  await assert.rejects(failing, /store gone/);
  const again = [1, 2, 3].map(() => pool.take(bytesMin).buffer);
  assert.deepEqual(new Set(again.slice(0, 2)), new Set(used));
  assert.equal(used.includes(again[2]!), false, "each once");
});

test("a released writer can still be written to, in memory of its own", () => {
  const pool = openPool();
  const writer = new BufferWriter(pool);
  writer.string(long("a"));
  const { buffer } = writer.bytes;
  writer.release();
  const other = pool.take(bytesMin);
  assert.equal(other.buffer, buffer);
  writer.string(long("b"));
  assert.notEqual(writer.bytes.buffer, buffer);
});

test("short chunks, whose memory is not of the pool, never get into it", () => {
  const pool = new BufferPool({ bytesMin: 8192, idleBytesMax: 2 ** 20 });
  const writer = new BufferWriter(pool);
  writer.string("short");
  const short = writer.takeWritten();
  writer.release();
  assert.notEqual(pool.take(8192).buffer, short.buffer);
});

test("a buffer grows as far as necessary, with a pool or without", () => {
  for (const pool of [undefined, openPool()]) {
    const writer = new BufferWriter(pool);
    for (const letter of "abcdefghij") writer.string(long(letter));
    assert.equal(writer.takeWritten().toString(), [..."abcdefghij"].map(long).join(""));
    writer.string("next");
    assert.equal(writer.takeWritten().toString(), "next");
  }
});

test("strings and JSON strings are written correctly, with any characters and of any length", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 50 }),
    fc.string({ unit: "grapheme-ascii", maxLength: 50 }),
    fc.constantFrom("\ud800", 'a"b', "a\\b", "\u007f", "\n", " ~", "0".repeat(32), "0".repeat(33)),
  );
  fc.assert(
    fc.property(fc.array(text, { maxLength: 9 }), (strings) => {
      const writer = new BufferWriter();
      for (const one of strings) {
        writer.string(one.toWellFormed());
        writer.byte(",".charCodeAt(0));
        writer.jsonString(one);
      }
      const expected = strings.map((one) => `${one.toWellFormed()},${JSON.stringify(one)}`);
      assert.equal(writer.takeWritten().toString(), expected.join(""));
    }),
  );
});

test("literals of all lengths are written unchanged", () => {
  const text = fc.string({ unit: "grapheme", minLength: 4, maxLength: 40 });
  fc.assert(
    fc.property(text, (text) => {
      const writer = new BufferWriter();
      writer.string("<");
      writer.at = new BytesLiteral(text).write(writer.view, writer.at);
      writer.string(">");
      assert.equal(writer.takeWritten().toString(), `<${text}>`);
    }),
  );
});
