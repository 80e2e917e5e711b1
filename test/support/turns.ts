// Measures the longest computation of the main thread in one turn of the event loop, in processor time.
import { slowness } from "./machine-speed.ts";

/**
 * Runs `work` while other work runs in this thread; returns the most processor time, in ms, that the
 * thread used between two turns of the event loop, on the machine of the bounds.
 */
export async function longestTurnDuring<Result>(
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly longestMs: number }> {
  let [longest, isOver] = [0, false];
  let before = process.threadCpuUsage();
  const turn = () => {
    const now = process.threadCpuUsage();
    longest = Math.max(longest, now.user + now.system - before.user - before.system);
    before = now;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  try {
    const result = await work();
    return { result, longestMs: longest / 1000 / slowness() };
  } finally {
    isOver = true;
  }
}
