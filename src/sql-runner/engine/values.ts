// The arguments and results of functions.

/** An argument. Integers beyond 2^53 are not passed to functions. */
export type Argument = string | number | null;

/** SQLite has a number as a real, and a bigint as an integer. */
export type Result = string | number | bigint | null;
