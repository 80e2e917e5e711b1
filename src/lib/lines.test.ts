// Lines are found across chunk borders, and a line over the bound ends the reading with its number.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LineTooLong, linesOf, withLinesBounded } from "./lines.ts";

/** The text in chunks of `size` bytes. */
async function* chunked(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test("lines, their numbers and their ends do not depend on the chunks", async () => {
  const text = 'a\n\n{"b":"ä\u2028\u2029\rc"}\r\nlast';
  for (const size of [1, 2, 3, 5, 100]) {
    assert.deepEqual(await Array.fromAsync(linesOf(chunked(text, size), 100)), [
      { text: "a", line: 1, endBytes: 2 },
      { text: "", line: 2, endBytes: 3 },
      { text: '{"b":"ä\u2028\u2029\rc"}\r', line: 3, endBytes: 23 },
      { text: "last", line: 4, endBytes: 27 },
    ]);
    assert.equal(
      Buffer.concat(await Array.fromAsync(withLinesBounded(chunked(text, size), 19))).toString(),
      text,
    );
  }
});

test("a line of the bound passes, one of a byte more is refused before it is all read", async () => {
  const bound = 10;
  for (const size of [1, 3, 7, 1_000]) {
    const passes = `x\n${"y".repeat(bound)}\nz`;
    assert.equal((await Array.fromAsync(linesOf(chunked(passes, size), bound))).length, 3);
    assert.equal(
      Buffer.concat(await Array.fromAsync(withLinesBounded(chunked(passes, size), bound))).length,
      14,
    );
    const tooLong = (problem: unknown) =>
      problem instanceof LineTooLong && problem.message === "line 2 is longer than 10 bytes";
    let read = 0;
    const endless = async function* () {
      for await (const chunk of chunked(`x\n${"y".repeat(100_000)}`, size)) {
        read += chunk.length;
        yield chunk;
      }
    };
    await assert.rejects(Array.fromAsync(linesOf(endless(), bound)), tooLong);
    assert.ok(read <= 13 + size, `${read}`);
    await assert.rejects(Array.fromAsync(withLinesBounded(endless(), bound)), tooLong);
  }
});
