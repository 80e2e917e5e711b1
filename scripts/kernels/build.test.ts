// The compiled kernels beside their sources.
import assert from "node:assert/strict";
import { test } from "node:test";
import { kernelsSource as lineKernelSource } from "../../src/influx/line-kernel-binary.ts";
import { kernelsSource as rowKernelSource } from "../../src/lib/number-rows-binary.ts";
import * as inserts from "../../src/resources/datapoints/inserts/insert-kernel-binary.ts";
import { kernelsSource } from "../../src/storage/kernels-binary.ts";
import { sourceHash } from "./build.ts";

test("the compiled kernels are those of their sources", () => {
  const hint = "npm run kernels compiles them";
  assert.equal(kernelsSource, sourceHash("kernels.ts"), hint);
  assert.equal(inserts.kernelsSource, sourceHash("inserts.ts"), hint);
  assert.equal(lineKernelSource, sourceHash("lines.ts"), hint);
  assert.equal(rowKernelSource, sourceHash("rows.ts"), hint);
});
