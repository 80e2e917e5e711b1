// The version of Millrace, from package.json.
import { readFileSync } from "node:fs";
import { parseJson } from "./json.ts";

const file = new URL("../../package.json", import.meta.url);

export const { version } = parseJson(readFileSync(file, "utf8")) as { readonly version: string };
