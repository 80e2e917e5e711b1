// Text in each encoding becomes UTF-8 at any chunk borders, with the offsets of the file.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { encoded } from "../../test/support/encoded.ts";
import { temporaryFolder } from "../../test/support/folder.ts";
import { type Encoding, TextFile, UnreadableFile } from "./text-file.ts";

const folder = temporaryFolder();

function fileOf(bytes: Uint8Array): string {
  const file = join(folder, "data");
  writeFileSync(file, bytes);
  return file;
}

/** A stream of a file has chunks of 64 KiB. */
const chunkBytes = 2 ** 16;

const alphabets: Readonly<Record<Exclude<Encoding, "utf-16">, string>> = {
  latin1: "aéÿ\n",
  "windows-1252": "a€œé\n",
  "utf-8": "aé漢😀\n",
  "utf-16le": "aé漢😀\n",
  "utf-16be": "aé漢😀\n",
};

for (const [encoding, alphabet] of Object.entries(alphabets) as [Exclude<Encoding, "utf-16">, string][])
  test(`${encoding} is read across the borders of chunks`, async () => {
    for (const before of ["", "a", "aa", "aaa"]) {
      const text = before + alphabet.repeat((3 * chunkBytes) / alphabet.length);
      const file = fileOf(encoded(text, encoding));
      const reader = new TextFile(file, encoding);
      const read = Buffer.concat(await Array.fromAsync(reader.chunks()));
      assert.ok(read.equals(Buffer.from(text)), `${before} ${encoding}`);
      for (let at = 9_999; at < text.length; at += 9_999) {
        const part = text.slice(0, at);
        if (!part.isWellFormed()) continue;
        assert.equal(reader.offsetOf(Buffer.byteLength(part)), encoded(part, encoding).length);
      }
    }
  });

test("a part of a file begins at an offset, and its offsets are those of the file", async () => {
  for (const encoding of ["utf-16", "utf-16be"] as const) {
    const bytes = encoded("\ufeffé1\n😀2\n", "utf-16be");
    const reader = new TextFile(fileOf(bytes), encoding, 8);
    assert.equal(Buffer.concat(await Array.fromAsync(reader.chunks())).toString(), "😀2\n");
    assert.equal(reader.offsetOf(Buffer.byteLength("😀2\n")), bytes.length);
  }
});

const readError = async (bytes: Uint8Array, encoding: Encoding): Promise<string> => {
  try {
    await Array.fromAsync(new TextFile(fileOf(bytes), encoding).chunks());
    return "none";
  } catch (problem) {
    assert.ok(problem instanceof UnreadableFile, String(problem));
    return problem.message.replace(folder, "");
  }
};

test("the first byte that is not valid is named by its offset, in any chunk and at the end", async () => {
  const cases: readonly (readonly [Encoding, Uint8Array])[] = [
    ["utf-8", Buffer.from([0xe9])],
    ["utf-8", Buffer.from([0xed, 0xa0, 0x80])],
    ["utf-8", Buffer.from([0xf0, 0x9f, 0x98])],
    ["latin1", Buffer.from([0x80])],
    ["windows-1252", Buffer.from([0x81])],
    ["windows-1252", Buffer.from([0x9d])],
    ["utf-16le", Buffer.from([0x00, 0xdc])],
    ["utf-16le", Buffer.from([0x00, 0xd8])],
    ["utf-16le", Buffer.from([0x41])],
    ["utf-16le", Buffer.from([0x00, 0xd8, 0x41])],
    ["utf-16be", Buffer.from([0xd8, 0x00])],
    ["utf-16be", Buffer.from([0x00])],
  ];
  for (const [encoding, wrong] of cases)
    for (const count of [0, 3, chunkBytes / 2 - 1, chunkBytes / 2, chunkBytes, 100_001]) {
      const good = encoded("a".repeat(count), encoding as "utf-8");
      const rest = wrong.length % 2 === 0 || !encoding.startsWith("utf-16") ? ["", "bcd"] : [""];
      for (const more of rest) {
        const bytes = Buffer.concat([good, wrong, encoded(more, encoding as "utf-8")]);
        const expected = `/data is not ${encoding} at byte ${good.length} (from 0)`;
        const message = await readError(bytes, encoding);
        assert.ok(message.startsWith(expected), `${message}, not ${expected}`);
      }
    }
});

test("each byte of a single-byte encoding is its character, or refused", async () => {
  const refused: Record<string, number[]> = { latin1: [], "windows-1252": [] };
  for (const encoding of ["latin1", "windows-1252"] as const)
    for (let byte = 0; byte < 256; byte++) {
      const chunks = Array.fromAsync(new TextFile(fileOf(Buffer.from([byte])), encoding).chunks());
      const text = await chunks.then(
        (read) => Buffer.concat(read).toString(),
        () => undefined,
      );
      if (text === undefined) refused[encoding]!.push(byte);
      else assert.deepEqual([...encoded(text, encoding)], [byte]);
    }
  assert.deepEqual(refused, {
    latin1: Array.from({ length: 32 }, (_, index) => 0x80 + index),
    "windows-1252": [0x81, 0x8d, 0x8f, 0x90, 0x9d],
  });
});

test("a byte order mark says which UTF-16 it is, and must not contradict", async () => {
  for (const encoding of ["utf-16le", "utf-16be"] as const) {
    const reader = new TextFile(fileOf(encoded("\ufeffé", encoding)), "utf-16");
    assert.equal(Buffer.concat(await Array.fromAsync(reader.chunks())).toString(), "\ufeffé");
  }
  const none = await readError(encoded("é", "utf-16le"), "utf-16");
  assert.equal(none, "/data has no byte order mark; --encoding is utf-16le or utf-16be");
  const contradictions: readonly (readonly ["utf-8" | "utf-16le" | "utf-16be", Encoding])[] = [
    ["utf-16le", "utf-8"],
    ["utf-16le", "utf-16be"],
    ["utf-16be", "latin1"],
    ["utf-8", "windows-1252"],
    ["utf-8", "utf-16"],
  ];
  for (const [written, said] of contradictions) {
    const message = await readError(encoded("\ufeffa", written), said);
    assert.equal(message, `/data begins with the byte order mark of ${written}, not ${said}`);
  }
});
