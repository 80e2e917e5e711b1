// What an entry in the catalogue of failures is, for the files that list them.

export type Members = Readonly<Record<string, unknown>>;

export interface Entry<Details> {
  readonly status: number;
  /** Statuses that `details.status` can choose instead. */
  readonly otherStatuses?: readonly number[];
  /** One sentence for docs/ERRORS.md: when a caller gets this. */
  readonly when: string;
  readonly message: (details: Details) => string;
  /** Members of the `error` object besides `code` and `message` (docs/reference/common.md#errors). */
  readonly members?: (details: Details) => Members;
}

/** A message stays readable however many things it is about; members of the answer name them all. */
export const firstOf = (all: readonly (string | number)[], separator = ", ") =>
  `${all.slice(0, 10).join(separator)}${all.length > 10 ? `${separator}...` : ""}`;

export const entry = <Details>(one: Entry<Details>): Entry<Details> => one;
