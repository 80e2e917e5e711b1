// The type of the entries in the catalogue of failures.

export type ErrorMembers = Readonly<Record<string, unknown>>;

export interface ErrorEntry<Details> {
  readonly status: number;
  /** Other statuses that `details.status` can select. */
  readonly otherStatuses?: readonly number[];
  /** A sentence for docs/ERRORS.md: when a caller gets this error. */
  readonly when: string;
  readonly message: (details: Details) => string;
  /** Members of the `error` object besides `code` and `message` (docs/reference/common.md#errors). */
  readonly members?: (details: Details) => ErrorMembers;
}

/** The first ten, so that messages stay short; the members of the response list all. */
export const firstOf = (all: readonly (string | number)[], separator = ", ") =>
  `${all.slice(0, 10).join(separator)}${all.length > 10 ? `${separator}...` : ""}`;

export const entry = <Details>(one: ErrorEntry<Details>): ErrorEntry<Details> => one;
