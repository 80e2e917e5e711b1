// Progress messages are readable on a terminal and in a log, and are not too frequent.
import assert from "node:assert/strict";
import { test } from "node:test";
import { count, duration, Progress } from "./progress.ts";

function shown(isTTY: boolean) {
  const written: string[] = [];
  let nowMs = 0;
  const output = { write: (text: string) => written.push(text), isTTY, columns: 100 };
  const progress = new Progress(output, 1000, { bytes: 0, points: 0 }, () => nowMs);
  return { written, progress, after: (ms: number) => (nowMs += ms) };
}

test("a terminal has a bar with rate and time left, which goes away at the end", () => {
  const { written, progress, after } = shown(true);
  after(2000);
  progress.update({ bytes: 400, points: 8000 });
  progress.update({ bytes: 410, points: 8200 });
  progress.end();
  const bar = `${"█".repeat(12)}${"░".repeat(18)}`;
  assert.deepEqual(written, [`\r${bar}  40 %  8 000 points  4 000 points/s  3 s left\u001b[K`, "\r\u001b[K"]);
});

test("elsewhere there is a plain line every five seconds", () => {
  const { written, progress, after } = shown(false);
  for (let second = 1; second <= 11; second++) {
    after(1000);
    progress.update({ bytes: second * 10, points: second });
  }
  progress.end();
  assert.deepEqual(written, [
    "  5 %  5 points  1 points/s  1 min 35 s left\n",
    " 10 %  10 points  1 points/s  1 min 30 s left\n",
  ]);
});

test("counts and durations are written for people", () => {
  assert.deepEqual([0, 999, 1000, 1234567.4].map(count), ["0", "999", "1 000", "1 234 567"]);
  assert.deepEqual([0.2, 60, 200, 7500].map(duration), ["1 s", "1 min 0 s", "3 min 20 s", "2 h 5 min"]);
});
