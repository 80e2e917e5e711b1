// The files that the code of a training has left, read as what they may be: written to do harm.
import { constants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { limits } from "../limits.ts";
import type { Training } from "./model-runner.ts";

/** Hands each file of the folder to the task; answers what is wrong when it holds what is no artifact. */
export async function keepArtifacts(folder: string, { keep }: Training): Promise<string | undefined> {
  const names: string[] = [];
  const problem = await collect(folder, "", names);
  if (problem !== undefined) return problem;
  for (const name of names) {
    // Never through a link, which would lead out of the folder.
    await using file = await open(join(folder, name), constants.O_RDONLY | constants.O_NOFOLLOW);
    const { size } = await file.stat();
    if (size > limits.modelFileBytesMax)
      return `The artifact ${name} has more than ${limits.modelFileBytesMax} bytes`;
    await keep({ name, bytes: file.createReadStream({ autoClose: false }) });
  }
  return undefined;
}

async function collect(folder: string, prefix: string, names: string[]): Promise<string | undefined> {
  for (const entry of await readdir(join(folder, prefix), { withFileTypes: true })) {
    const name = prefix + entry.name;
    if (entry.isDirectory()) {
      const problem = await collect(folder, `${name}/`, names);
      if (problem !== undefined) return problem;
    } else if (entry.isFile()) names.push(name);
    else return `The artifact ${name} is neither a file nor a folder`;
    if (names.length > limits.modelArtifactsMax)
      return `There are more than ${limits.modelArtifactsMax} artifacts`;
  }
  return undefined;
}
