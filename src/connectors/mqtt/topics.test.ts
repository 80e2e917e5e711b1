// Which topics a filter matches (MQTT 3.1.1, section 4.7).
import assert from "node:assert/strict";
import { test } from "node:test";
import { topicMatcher } from "./topics.ts";

test("a filter matches topics as a broker matches them", () => {
  const cases: readonly (readonly [filter: string, topic: string, isMatch: boolean])[] = [
    ["plant/+/flow", "plant/pump/flow", true],
    ["plant/+/flow", "plant/pump/flow/raw", false],
    ["plant/+", "plant", false],
    ["plant/#", "plant", true],
    ["plant/#", "plant/pump/flow", true],
    ["#", "$SYS/uptime", false],
    ["$SYS/#", "$SYS/uptime", true],
    ["$share/hall/plant/+", "plant/pump", true],
    ["$share/hall/plant/+", "plants/pump", false],
    ["$share/hall/#", "plant/pump", true],
  ];
  for (const [filter, topic, isMatch] of cases)
    assert.equal(topicMatcher(filter)(topic.split("/")), isMatch, `${filter} ${topic}`);
});
