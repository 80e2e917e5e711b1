// The program that runs now, for processes that it starts.
import { fileURLToPath } from "node:url";

/** The program that runs the server: absolute paths. */
export interface Program {
  readonly node: string;
  readonly main: string;
}

export const thisProgram: Program = {
  node: process.execPath,
  main: fileURLToPath(
    new URL(import.meta.url.endsWith(".ts") ? "../start.js" : "../main.js", import.meta.url),
  ),
};
