// The names of series from topics. A topic without a level of the template is refused: several would share
// one series.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { SourceRecords } from "../records.ts";
import { plainReader } from "./plain-messages.ts";
import { SparkplugNodes } from "./sparkplug.ts";

const payload = new TextEncoder().encode("21.5");

test("the name of a series has levels of the topic, from both ends", () => {
  const read = plainReader({ series: "{2}.{-1} of {topic}" });
  const records = read(["plant", "pump", "flow"], payload, 1) as SourceRecords;
  assert.equal(records.points![0]!.series.name, "pump.flow of plant/pump/flow");
});

test("a topic without a level that the name has is refused", () => {
  for (const series of ["x.{3}", "{-3}"])
    assert.throws(() => plainReader({ series })(["plant", "pump"], payload, 1), /fewer than 3 levels/);
});

test("a name that no topic has a value for is refused at the start", () => {
  for (const series of ["{0}", "{tag}", "{1.5}", "{topics}"])
    assert.throws(() => plainReader({ series }), /known are \{topic\} and its levels/);
  const refusal = /has \{metrc\}, and no value of this name; known are \{group\}, \{node\}/;
  assert.throws(() => new SparkplugNodes("{node}/{metrc}"), refusal);
});
