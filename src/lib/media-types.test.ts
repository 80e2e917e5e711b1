// Which content types and encodings a request accepts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { acceptsEncoding, prefersToJson } from "./media-types.ts";

test("a type is preferred to JSON where the header names it with no lower quality", () => {
  const type = "application/protobuf";
  for (const header of [
    type,
    "Application/Protobuf",
    `application/json, ${type}`,
    `${type};q=0.5, application/json;q=0.5`,
    `${type};q=0.9, */*;q=0.8`,
    `application/json;q=0, */*, ${type};q=0.1`,
  ])
    assert.ok(prefersToJson(type, header), header);
  for (const header of [
    undefined,
    "*/*",
    "application/json",
    `${type};q=0`,
    `${type};q=0.0`,
    `${type};q=0.9, application/json`,
    `${type};q=0.5, */*`,
    `${type}+xml`,
  ])
    assert.equal(prefersToJson(type, header), false, `${header}`);
});

test("an encoding of quality 0 is not accepted", () => {
  for (const header of ["gzip", "br, gzip;q=0.5", "GZIP"]) assert.ok(acceptsEncoding("gzip", header), header);
  for (const header of [undefined, "br", "gzip;q=0", "gzip; q=0.000", "x-gzip"])
    assert.equal(acceptsEncoding("gzip", header), false, `${header}`);
});
