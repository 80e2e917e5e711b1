// Blocks of format version 1 as they were first written: they open for ever.
import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import { decodeBlock } from "./block.ts";

const everySecond = (count: number) =>
  Float64Array.from({ length: count }, (_, index) => -1000 + index * 1000);

const written = [
  {
    codecs: "regular times, constant",
    block: "TogIpQEAAAADAAAAAAAAAABAj8AAAAAAAECPQAAAAAAIAAAAAAAAAAAAHkA=",
    points: { times: everySecond(3), values: Float64Array.of(7.5, 7.5, 7.5) },
  },
  {
    codecs: "differences of times, decimal",
    block: "fyzSlQEBAQAFAAAAAAAAAAAAFMAAAAAAioQuQQ8AAAASAAAAAgAKFe+IejZCT47QAwAAAgAC+gHdAhHtBYQDAAB0HAYA",
    points: {
      times: Float64Array.of(-5, 0, 3, 1000000, 1000005),
      values: Float64Array.of(1.25, -0.5, 3, 2.75, 1000),
    },
  },
  {
    codecs: "decimal with a value aside",
    block: "h4C5HgEAAQAQAAAAAAAAAABAj8AAAAAAAFjLQAAAAAAUAAAAAQEFAAAAAAAAAIACAAICARVTVQU=",
    points: {
      times: everySecond(16),
      values: Float64Array.from({ length: 16 }, (_, index) => (index === 5 ? -0 : index / 10)),
    },
  },
  {
    codecs: "xor",
    block: "BsbxCwEAAgAGAAAAAAAAAABAj8AAAAAAAECvQAAAAAAcAAAAVVVVVVVV1T9Wwf2ij+M4juM4bsdxHMdxHBcAAA==",
    points: { times: everySecond(6), values: Float64Array.of(1 / 3, 1 / 3, 2 / 3, 1 / 3, 1 / 7, 1 / 3) },
  },
  {
    codecs: "raw",
    block: "yKE+OgEAAwACAAAAAAAAAABAj8AAAAAAAAAAAAAAAAAQAAAAVVVVVVVV1T+SJEmSJEnCvw==",
    points: { times: everySecond(2), values: Float64Array.of(1 / 3, -1 / 7) },
  },
  {
    codecs: "raw through zstd",
    block:
      "MhS+qgEAhAAoAAAAAAAAAABAj8AAAAAAAI7iQAAAAAAlAAAAQAEAACi1L/1gQAC9AABQVQCaVZnV0MnFPwQAcKUISBIC6v5xRA==",
    points: {
      times: everySecond(40),
      values: Float64Array.from({ length: 40 }, (_, index) => 1 / ((index % 4) + 3)),
    },
  },
  {
    codecs: "strings",
    block: "NaGUOAEAEAADAAAAAAAAAABAj8AAAAAAAECPQAAAAAAYAAAAAAIAAAAAAQQCAAAAAAEAAgAAAG9ub2Zm",
    points: { times: everySecond(3), values: ["on", "off", "on"] },
  },
  {
    codecs: "strings in UTF-16",
    block: "l4GfHAEAEAACAAAAAAAAAABAj8AAAAAAAAAAAAAAAAAQAAAAAQIAAAAAAAQBAAACANjlAA==",
    points: { times: everySecond(2), values: ["\ud800", "å"] },
  },
];

for (const { codecs, block, points } of written) {
  test(`a block of version 1 opens: ${codecs}`, () => {
    assert.deepEqual(decodeBlock(Buffer.from(block, "base64")), points);
  });
}

test("a block made by hand after FORMAT.md opens: planes", () => {
  const bytes = Buffer.alloc(36 + 16);
  bytes.set([1, 0, 4, 0], 4);
  bytes.writeUInt32LE(2, 8);
  bytes.writeDoubleLE(-1000, 12);
  bytes.writeDoubleLE(500, 20);
  bytes.writeUInt32LE(16, 32);
  // The doubles 1 and -2 are 3ff0000000000000 and c000000000000000.
  bytes.set([0xf0, 0x00, 0x3f, 0xc0], 36 + 12);
  bytes.writeUInt32LE(crc32(bytes.subarray(4)), 0);
  assert.deepEqual(decodeBlock(bytes), {
    times: Float64Array.of(-1000, 500),
    values: Float64Array.of(1, -2),
  });
});
