// A computation for tests: compares `characters` in each step, without end or until it returns after some
// steps.
import type { Computation } from "../../src/compute/computation.ts";

export type Endless = Computation<{ readonly characters: number }, { readonly steps: number }, string>;

export const computation: Endless = ({ characters }) =>
  function* ({ steps }) {
    for (let step = 0; step < steps; step++) {
      let sum = 0;
      for (let at = 0; at < 1_000_000; at++) sum += Math.sqrt(at);
      if (sum < 0) return "never";
      yield characters;
    }
    return "done";
  };
