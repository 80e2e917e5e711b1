// Writes an archive: entries as they come, packed on the way to disk; under its name only once it is whole.
import { createWriteStream, existsSync, rmSync } from "node:fs";
import { rename } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createGzip, createZstdCompress } from "node:zlib";
import { createTarPacker } from "modern-tar";
import { UsageError } from "../client/command.ts";
import { invariant } from "../lib/invariant.ts";
import {
  type ArchiveHeader,
  type ArchiveManifest,
  formatName,
  formatVersion,
  headName,
  manifestName,
  type SectionFormat,
  Tally,
} from "./format.ts";

export class ArchiveWriter {
  readonly #file: string;
  readonly #partial: string;
  readonly #head: ArchiveHeader;
  readonly #tar = createTarPacker();
  readonly #written: Promise<void>;
  readonly #sections: ReadonlyMap<string, { readonly section: SectionFormat; readonly tally: Tally }>;

  /** Refuses to replace a file, and a folder that does not exist. */
  constructor(file: string, project: string, sections: readonly SectionFormat[]) {
    if (existsSync(file)) throw new UsageError(`${file} exists already; name another file, or remove it`);
    const folder = dirname(resolve(file));
    if (!existsSync(folder))
      throw new UsageError(`There is no folder ${folder}; make it, or name another file`);
    this.#file = file;
    this.#sections = new Map(sections.map((section) => [section.name, { section, tally: new Tally() }]));
    this.#partial = `${file}.partial`;
    this.#head = { format: formatName, version: formatVersion, project, exportedTime: Date.now() };
    const packed = file.endsWith(".gz")
      ? createGzip()
      : createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } });
    // An earlier export may have left it, or another user who can write to the folder: never written through.
    rmSync(this.#partial, { force: true });
    const target = createWriteStream(this.#partial, { flags: "wx", mode: 0o600, flush: true });
    this.#written = pipeline(Readable.fromWeb(this.#tar.readable), packed, target);
    this.#written.catch(() => {}); // It is raised where the next entry is written.
  }

  async begin(): Promise<void> {
    await this.#entry(headName, jsonBytes(this.#head));
  }

  /** One more entry of a section, with this many records. */
  async add(name: string, bytes: Uint8Array, records: number): Promise<void> {
    const { section, tally } = this.#sectionOf(name);
    const number = tally.beginEntry(records);
    tally.add(bytes);
    const { extension = "jsonl" } = section;
    await this.#entry(`${name}/${String(number).padStart(6, "0")}.${extension}`, bytes);
  }

  /**
   * As `add`, one record in an entry of its own name, of exactly `size` bytes that are never all in memory.
   */
  async addStream(
    section: string,
    { name, size }: { readonly name: string; readonly size: number },
    bytes: AsyncIterable<Uint8Array>,
  ): Promise<void> {
    const { tally } = this.#sectionOf(section);
    tally.beginEntry(1);
    const sink = this.#tar.controller.add({ ...header(`${section}/${name}`), size }).getWriter();
    for await (const chunk of bytes) {
      tally.add(chunk);
      await this.#orFailure(sink.write(chunk));
    }
    await this.#orFailure(sink.close());
  }

  /** Writes the manifest and gives the file its name, once all of it is on disk. */
  async finish(): Promise<ArchiveManifest> {
    const done = [...this.#sections].map(([name, { tally }]) => tally.finish(name));
    const manifest: ArchiveManifest = { ...this.#head, finishedTime: Date.now(), sections: done };
    await this.#entry(manifestName, jsonBytes(manifest));
    this.#tar.controller.finalize();
    await this.#written;
    await rename(this.#partial, this.#file);
    return manifest;
  }

  /** Removes the unfinished archive; does nothing when it is finished. */
  async abandon(): Promise<void> {
    this.#tar.controller.error(new Error("The export ended early"));
    await this.#written.catch(() => {});
    rmSync(this.#partial, { force: true });
  }

  #sectionOf(name: string) {
    const found = this.#sections.get(name);
    invariant(found !== undefined, `${name} is a section of archives`);
    return found;
  }

  async #entry(name: string, bytes: Uint8Array): Promise<void> {
    const sink = this.#tar.controller.add({ ...header(name), size: bytes.length }).getWriter();
    await this.#orFailure(sink.write(bytes));
    await this.#orFailure(sink.close());
  }

  /**
   * Rejects when a write fails, on a full disk for example, so that no caller waits for space in the stream
   * forever.
   */
  #orFailure(written: Promise<void>): Promise<void> {
    written.catch(() => {});
    return Promise.race([written, this.#written.then(() => written)]).catch((problem: Error) => {
      throw new UsageError(`${this.#partial} cannot be written: ${problem.message}`);
    });
  }
}

const header = (name: string) => ({ name, mode: 0o644, mtime: new Date(0) });

const jsonBytes = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`);
