// Collects JSON lines of a section and writes them as entries.
import { entryBytes } from "./format.ts";
import { type Exporting, Stopped } from "./section.ts";

export class JsonLines {
  readonly #exporting: Exporting;
  readonly #section: string;
  #lines: string[] = [];
  #length = 0;

  constructor(exporting: Exporting, section: string) {
    this.#exporting = exporting;
    this.#section = section;
  }

  async add(line: string): Promise<void> {
    this.#lines.push(line);
    this.#length += line.length + 1;
    if (this.#length >= entryBytes) await this.flush();
  }

  /** Writes the collected lines as an entry. */
  async flush(): Promise<void> {
    if (this.#lines.length === 0) return;
    const { writer, progress, stop } = this.#exporting;
    if (stop.aborted) throw new Stopped();
    await writer.add(this.#section, Buffer.from(`${this.#lines.join("\n")}\n`), this.#lines.length);
    progress(this.#section, this.#lines.length);
    this.#lines = [];
    this.#length = 0;
  }
}
