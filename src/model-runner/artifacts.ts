// Receives the artifacts that the process of a training sends, and checks each before it is stored.
import { limits } from "../limits.ts";
import { BadEntry, type RunnerEntry } from "./entries.ts";
import { isArtifactName, type Training } from "./model-runner.ts";

export class ReceivedArtifacts {
  readonly #keep: Training["keep"];
  readonly #files = new Set<string>();
  readonly #folders = new Set<string>();
  #bytes = 0;

  constructor({ keep }: Pick<Training, "keep">) {
    this.#keep = keep;
  }

  /** Throws `BadEntry` for an invalid name and for more than the bounds allow. */
  async receive({ name, bytes }: RunnerEntry): Promise<void> {
    if (!isArtifactName(name)) throw new BadEntry(`No artifact can have the name ${JSON.stringify(name)}`);
    const folders = foldersOf(name);
    const isTaken = this.#folders.has(name) || [name, ...folders].some((one) => this.#files.has(one));
    if (isTaken) throw new BadEntry(`The artifact ${name} has the path of another artifact`);
    this.#files.add(name);
    for (const folder of folders) this.#folders.add(folder);
    if (this.#files.size > limits.modelArtifactsMax)
      throw new BadEntry(`There are more than ${limits.modelArtifactsMax} artifacts`);
    await this.#keep({ name, bytes: this.#bounded({ name, bytes }) });
  }

  async *#bounded({ name, bytes }: RunnerEntry): AsyncGenerator<Uint8Array> {
    let length = 0;
    for await (const chunk of bytes) {
      length += chunk.length;
      this.#bytes += chunk.length;
      if (length > limits.modelFileBytesMax)
        throw new BadEntry(`The artifact ${name} has more than ${limits.modelFileBytesMax} bytes`);
      if (this.#bytes > limits.modelDiskBytesMax)
        throw new BadEntry(`The artifacts have more than ${limits.modelDiskBytesMax} bytes in all`);
      yield chunk;
    }
  }
}

/** The folders of a path: `a` and `a/b` of `a/b/c`. */
const foldersOf = (name: string): string[] => {
  const parts = name.split("/");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
};
