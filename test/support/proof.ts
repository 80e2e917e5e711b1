// The duration of the proofs of the points engine: short in CI, long with PROOF=long; and how a
// run is repeated (docs/proof.md).

export const isLong = process.env["PROOF"] === "long";

/** The seed of this run: PROOF_SEED, else a new one. To be printed, so that a failure can be repeated. */
export const seed = Number(process.env["PROOF_SEED"] ?? Math.floor(Math.random() * 2 ** 31));

/** The first figure in CI, the second in the long mode. */
export const times = (short: number, long: number): number => (isLong ? long : short);

/** Runs of a property; fast-check prints the seed and the path of a failure. */
export const runs = (short: number, long: number) => ({ numRuns: times(short, long), seed });

/** Numbers in [0, 1) with a seed as their only state (mulberry32). */
export function randomFrom(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
