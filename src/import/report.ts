// The list of refused cells: every one in a CSV file, the first few on the screen.
import { appendFileSync, constants, rmSync } from "node:fs";
import { withOwnFile } from "../client/own-files.ts";
import { csvCell } from "../lib/csv.ts";
import { limits } from "../limits.ts";
import type { Refusal } from "./batches.ts";

const append = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;

export class Report {
  readonly #file: string;
  readonly #shown: Refusal[] = [];
  #count: number;

  /**
   * `before` is the number of records that an earlier, interrupted run has listed; 0 starts an empty file.
   */
  constructor(file: string, before: number) {
    this.#file = file;
    this.#count = before;
    if (before === 0) rmSync(file, { force: true });
  }

  get count(): number {
    return this.#count;
  }

  add(refused: readonly Refusal[]): void {
    if (refused.length === 0) return;
    const head = this.#count === 0 ? "line,column,value,reason\n" : "";
    const rows = head + refused.map(rowOf).join("");
    withOwnFile(this.#file, append, (descriptor) => appendFileSync(descriptor, rows));
    this.#count += refused.length;
    this.#shown.push(...refused.slice(0, limits.importRefusedShownMax - this.#shown.length));
  }

  /** The lines for the user at the end; none when nothing was refused. */
  summary(): string[] {
    if (this.#count === 0) return [];
    const shown = this.#shown.map(shownRefusal);
    const listed = `${this.#count} refused; all of them are listed in ${this.#file}`;
    return [listed, ...shown, ...(this.#count > shown.length ? ["  ..."] : [])];
  }
}

/** A line as a whole has neither a column nor a value. */
function shownRefusal({ line, column, value, reason }: Refusal): string {
  if (!column && !value) return `  line ${line}: ${reason}`;
  return `  line ${line}${column && `, ${column}`}: ${JSON.stringify(value)} is ${reason}`;
}

const rowOf = ({ line, column, value, reason }: Refusal): string =>
  `${[String(line), column, value, reason].map(csvCell).join(",")}\n`;
