// Small files that are written whole or not at all, also when the power fails, with a checksum of their
// content.
import { mkdir, open, readFile, rename } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { parseJson } from "./json.ts";

type Content = Readonly<Record<string, number | string>>;

/** Writes the members of `content`, and a checksum of them, as one line of JSON. */
export async function writeChecked(folder: string, name: string, content: Content): Promise<void> {
  const path = `${folder}/${name}`;
  const draft = `${path}.new`;
  const file = await open(draft, "w");
  try {
    await file.writeFile(`${JSON.stringify({ ...content, crc: checksumOf(content) })}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  await syncFolder(folder);
}

/** Reads such a file without a look at its checksum, which other formats may form otherwise. */
export async function readUnchecked(folder: string, name: string): Promise<Content | undefined> {
  try {
    return parseJson(await readFile(`${folder}/${name}`, "utf8")) as Content;
  } catch (why) {
    if (["ENOENT", "ENOTDIR"].includes((why as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw new Error(`${folder}/${name} is damaged: ${(why as Error).message}`);
  }
}

/** Whether the checksum is that of the other members. */
export function isIntact({ crc, ...content }: Content): boolean {
  return crc === checksumOf(content);
}

const checksumOf = (content: Content): number => crc32(JSON.stringify(content));

/** Makes created, renamed and removed names in a folder survive a loss of power. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Makes a folder that survives a loss of power; nothing happens when it is there. */
export async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  await syncFolder(`${path}/..`);
}
