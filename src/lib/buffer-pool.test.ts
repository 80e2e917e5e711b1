// A buffer pool reuses memory, and idle memory stays below its bound.
import assert from "node:assert/strict";
import { test } from "node:test";
import { BufferPool } from "./buffer-pool.ts";

const kib = 1024;

test("a buffer of the same size class is used again, one of another class is not", () => {
  const pool = new BufferPool({ bytesMin: 4 * kib, idleBytesMax: 64 * kib });
  const first = pool.take(5 * kib);
  assert.equal(first.length, 8 * kib);
  pool.putBack(first.subarray(0, 5 * kib));
  assert.notEqual(pool.take(9 * kib).buffer, first.buffer);
  assert.notEqual(pool.take(1).buffer, first.buffer);
  assert.equal(pool.take(8 * kib).buffer, first.buffer);
  assert.notEqual(pool.take(8 * kib).buffer, first.buffer, "it has one user at a time");
});

test("idle buffers beyond the bound are dropped, those of the size used longest ago first", () => {
  const pool = new BufferPool({ bytesMin: kib, idleBytesMax: 16 * kib });
  const small = Array.from({ length: 16 }, () => pool.take(kib));
  const large = pool.take(8 * kib);
  for (const one of small) pool.putBack(one);
  pool.putBack(large);
  assert.equal(pool.take(8 * kib).buffer, large.buffer);
  const idle = new Set(small.map(({ buffer }) => buffer));
  const again = Array.from({ length: 16 }, () => pool.take(kib));
  assert.equal(again.filter(({ buffer }) => idle.has(buffer)).length, 8, "half of them made room");
});

test("a buffer larger than the bound is dropped and no other one for it", () => {
  const pool = new BufferPool({ bytesMin: kib, idleBytesMax: 16 * kib });
  const small = pool.take(kib);
  pool.putBack(small);
  pool.putBack(pool.take(32 * kib));
  assert.equal(pool.take(kib).buffer, small.buffer);
});

test("short buffers have a size of their own", () => {
  const pool = new BufferPool({ bytesMin: 16 * kib, idleBytesMax: 64 * kib, shortBytes: 4 * kib });
  const short = pool.take(10);
  assert.equal(short.buffer.byteLength, 4 * kib);
  pool.putBack(short);
  assert.equal(pool.take(4 * kib).buffer, short.buffer);
  assert.equal(pool.take(4 * kib + 1).buffer.byteLength, 16 * kib);
});
