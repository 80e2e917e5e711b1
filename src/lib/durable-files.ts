// Small files with a checksum that are written atomically, also when the power fails.
import { mkdir, open, readFile, rename } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { parseJson } from "./json.ts";

type Content = Readonly<Record<string, number | string>>;

/** Writes `content` and its checksum as one line of JSON. */
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

/** Reads such a file. Does not verify the checksum, because the caller must check the format first. */
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

/** Windows refuses to sync a folder (EPERM). There a power failure may undo the last changes of names. */
export const canSyncFolders = process.platform !== "win32";

/** Syncs a folder, so that created, renamed and removed names survive a power failure. */
export async function syncFolder(path: string): Promise<void> {
  if (!canSyncFolders) return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Creates a folder that survives a power failure, unless it exists. */
export async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  await syncFolder(`${path}/..`);
}
