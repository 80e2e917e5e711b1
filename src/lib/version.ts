// The product's own version, as package.json says.
import { readFileSync } from "node:fs";
import { parseJson } from "./json.ts";

const file = new URL("../../package.json", import.meta.url);

export const { version } = parseJson(readFileSync(file, "utf8")) as { readonly version: string };
