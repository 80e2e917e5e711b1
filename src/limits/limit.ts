// One limit, with its unit and its meaning for docs/LIMITS.md.

export interface Limit {
  readonly value: number;
  readonly unit: string;
  /** One sentence: the bounded quantity, and the behaviour beyond the bound. */
  readonly meaning: string;
}

export const limit = (value: number, unit: string, meaning: string): Limit => ({ value, unit, meaning });
