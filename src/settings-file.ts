// Reads the file `millrace.env`: one NAME=value a line.
import { existsSync, readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { StartRefused } from "./data-folder.ts";

/** The settings in the file, none if there is no file. Throws `StartRefused` if one would be skipped. */
export function settingsIn(file: string): Readonly<Record<string, string | undefined>> {
  if (!existsSync(file)) return {};
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file)); // Without a byte order mark.
  } catch (problem) {
    const why = problem instanceof TypeError ? "it is not UTF-8" : (problem as Error).message;
    throw new StartRefused(`Cannot read the settings in ${file}: ${why}`);
  }
  // parseEnv skips such a line.
  const [, without] = /^[ \t]*(?:export[ \t]+)?(MILLRACE_\w*)\b(?![ \t]*=)/m.exec(text) ?? [];
  if (without) throw new StartRefused(`${file} needs ${without}=value, but has no = after ${without}`);
  return parseEnv(text);
}
