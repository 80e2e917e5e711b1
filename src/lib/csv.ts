// CSV as every answer and report writes it (RFC 4180).

/** Bare unless quotes are needed (docs/reference/common.md#csv-for-spreadsheets). */
export const csvCell = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

/** How a text from data is written into a cell, before it is quoted. */
export type CellText = (text: string) => string;

export const asItIs: CellText = (text) => text;

/**
 * With an apostrophe before a text that a spreadsheet would run as a formula. A text that is a number stays
 * as it is.
 */
export const withoutFormula: CellText = (text) =>
  formulaStart.test(text) && !plainNumber.test(text.trim()) ? `'${text}` : text;

/** Spreadsheets skip white space and control characters, and some take the wide forms too. */
const formulaStart = /^[\s\p{Cc}]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/u;
const plainNumber = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
