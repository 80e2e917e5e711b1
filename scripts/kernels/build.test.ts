// The compiled kernels beside their source.
import assert from "node:assert/strict";
import { test } from "node:test";
import { kernelsSource } from "../../src/storage/embedded-points/codec/kernels-binary.ts";
import { sourceHash } from "./build.ts";

test("the compiled kernels are those of their source", () => {
  assert.equal(kernelsSource, sourceHash(), "npm run kernels compiles them");
});
