// Measures the noise of the machine: the times of a constant computation. A shared processor is unavailable
// for milliseconds at a time, which no server can compensate.
import { type Figures, percentile } from "./workloads.ts";

const warmUps = 200;
const measuredMs = 3_000;

/** Takes about a millisecond. */
function compute(): number {
  let state = 1;
  for (let i = 0; i < 1_000_000; i++) state = (state * 31 + i) | 0;
  return state;
}

/** Of a computation that runs alone, over and over. */
export function measureMachine(): Figures {
  for (let i = 0; i < warmUps; i++) compute();
  const times: number[] = [];
  for (const untilMs = performance.now() + measuredMs; performance.now() < untilMs; ) {
    const started = performance.now();
    compute();
    times.push(performance.now() - started);
  }
  return { machineUsual: percentile(times, 0.5), machineRare: percentile(times, 0.99) };
}
