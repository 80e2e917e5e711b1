// The progress file of an import, beside the data file: an interrupted import resumes from it.
import { createHash } from "node:crypto";
import { constants, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { UsageError } from "../client/command.ts";
import { withOwnFile } from "../client/own-files.ts";
import { parseJson } from "../lib/json.ts";
import { type Boundary, startOfFile } from "./row.ts";

export interface Acknowledged extends Boundary {
  readonly points: number;
  readonly refused: number;
  readonly epochValues: readonly string[];
}

export const nothingYet: Acknowledged = { ...startOfFile, points: 0, refused: 0, epochValues: [] };

const version = 1;

const createNew = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

export class State {
  readonly #file: string;
  readonly #import: string;

  /** `decides` is all that makes an import this one and no other: server, project, columns, times. */
  constructor(file: string, decides: unknown) {
    this.#file = file;
    this.#import = createHash("sha256").update(JSON.stringify(decides)).digest("hex");
  }

  /**
   * The acknowledged part of an earlier run; refuses the note of another import or of a file that has shrunk.
   */
  read(fileBytes: number): Acknowledged {
    const text = contentOf(this.#file);
    if (text === undefined) return nothingYet;
    const found = parseJson(text) as { version: number; import: string; acknowledged: Acknowledged };
    if (found.version !== version || found.import !== this.#import)
      throw new UsageError(
        `${this.#file} notes the progress of another import (other columns, times, encoding, server or ` +
          "project); --restart starts from the beginning, --state names another place",
      );
    if (found.acknowledged.endBytes > fileBytes)
      throw new UsageError(
        `The data file is shorter than ${this.#file} says is loaded; --restart starts from the beginning`,
      );
    return found.acknowledged;
  }

  /** Replaces the note in one step, so that an interruption leaves the old or the new one. */
  write(acknowledged: Acknowledged): void {
    const beside = `${this.#file}.new`;
    try {
      const note = `${JSON.stringify({ version, import: this.#import, acknowledged })}\n`;
      rmSync(beside, { force: true });
      withOwnFile(beside, createNew, (descriptor) => writeFileSync(descriptor, note));
      renameSync(beside, this.#file);
    } catch (problem) {
      throw new UsageError(
        `Progress cannot be noted (--state names another place): ${(problem as Error).message}`,
      );
    }
  }

  remove(): void {
    rmSync(this.#file, { force: true });
  }
}

function contentOf(file: string): string | undefined {
  try {
    return withOwnFile(file, constants.O_RDONLY, (descriptor) => readFileSync(descriptor, "utf8"));
  } catch (problem) {
    if ((problem as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new UsageError(`${file} cannot be read: ${(problem as Error).message}`);
  }
}
