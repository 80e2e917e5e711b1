// How many front threads a server has by default.

const countMax = 7;

/** The main thread and the shards have two cores for themselves: on two, front threads slow writes down. */
export const defaultCount = (cores: number): number => Math.max(0, Math.min(cores - 2, countMax));
