// How much slower this machine computes than the one on which bounds of processor time were set.

/** Objects as in the bodies of requests. */
const items = Array.from({ length: 400 }, (_, at) => ({ id: at, name: `series ${at}`, value: at / 7 }));

/** The processor time, in ms, that the work took on the machine of the bounds. */
const referenceMs = 18;

/**
 * At least 1. Measured when it is needed, because other processes of a busy machine make each computation
 * take more processor time. Many repetitions, as some systems count processor time in steps of 4 ms.
 */
export function slowness(): number {
  const before = process.threadCpuUsage();
  for (let at = 0; at < 150; at++) JSON.parse(JSON.stringify(items));
  const { user, system } = process.threadCpuUsage(before);
  return Math.max(1, (user + system) / 1_000 / referenceMs);
}
