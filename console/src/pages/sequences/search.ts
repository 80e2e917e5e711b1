// The search parameters of the page of a sequence.

export interface SequenceSearch {
  /** The grid starts at the first row with this number or a larger one. */
  readonly from?: string;
  /** The number of the row that is open. */
  readonly row?: string;
}

/** Row numbers have up to 63 bits: they stay text. */
export const isRowNumber = (text: string): boolean => /^\d{1,19}$/.test(text) && BigInt(text) < 2n ** 63n;

const number = (value: unknown): string | undefined => {
  const text = String(value ?? "");
  return isRowNumber(text) ? text : undefined;
};

export const sequenceSearch = ({ from, row }: Record<string, unknown>): SequenceSearch => ({
  ...(number(from) !== undefined && { from: number(from) }),
  ...(number(row) !== undefined && { row: number(row) }),
});
