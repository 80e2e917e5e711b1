// Attempts are counted by network, recover with time, and never lock out a valid credential.
import assert from "node:assert/strict";
import { test } from "node:test";
import { realSystem } from "../lib/system.ts";
import { Throttle } from "./throttle.ts";

function throttleOf(perMinute: number) {
  let nowMs = 0;
  const throttle = new Throttle(perMinute, { ...realSystem, monotonicMs: () => nowMs });
  const waitSeconds = (address: string, credential = "new"): number => {
    try {
      throttle.refuseFailing(address, credential);
      return 0;
    } catch (problem) {
      return (problem as { details: { retryAfterSeconds: number } }).details.retryAfterSeconds;
    }
  };
  return { throttle, waitSeconds, pass: (ms: number) => (nowMs += ms) };
}

test("a whole network of IPv6 counts as one address, another one and IPv4 do not", () => {
  const { throttle, waitSeconds } = throttleOf(1);
  throttle.failed("2001:db8:1:2::5", "a");
  for (const same of ["2001:db8:1:2:ffff:1:2:3", "2001:db8:1:2::"]) assert.equal(waitSeconds(same), 60, same);
  for (const other of ["2001:db8:1:3::5", "2001:db8::1:2", "10.0.0.1", "::ffff:10.0.0.1", "::1"])
    assert.equal(waitSeconds(other), 0, other);
});

test("what was taken comes back with time, up to the full measure", () => {
  const { throttle, waitSeconds, pass } = throttleOf(2);
  throttle.failed("10.0.0.1", "a");
  assert.equal(waitSeconds("10.0.0.1"), 0);
  throttle.failed("10.0.0.1", "b");
  assert.equal(waitSeconds("10.0.0.1"), 30);
  pass(15_000);
  assert.equal(waitSeconds("10.0.0.1"), 15);
  pass(3_600_000);
  throttle.failed("10.0.0.1", "c");
  throttle.failed("10.0.0.1", "d");
  assert.equal(waitSeconds("10.0.0.1"), 30);
});

test("a credential that was good is looked at until it fails itself", () => {
  const { throttle, waitSeconds } = throttleOf(1);
  throttle.succeeded("good");
  throttle.failed("10.0.0.1", "guess");
  assert.equal(waitSeconds("10.0.0.1", "good"), 0);
  assert.equal(waitSeconds("10.0.0.1", "guess"), 60);
  throttle.failed("10.0.0.1", "good");
  assert.equal(waitSeconds("10.0.0.1", "good"), 60);
});
