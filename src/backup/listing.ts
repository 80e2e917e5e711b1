// The listing of a backup: its files with the names of their chunks, as lines of JSON, themselves in the
// pool.
//
// A file with many chunks has several lines, so that no line is long.
import { parseJson } from "../lib/json.ts";
import { chunkBytes, type Pool } from "./pool.ts";

/** A file of the data folder, or some consecutive chunks of a large one. */
export interface ListedPart {
  /** Relative to the data folder. */
  readonly path: string;
  /** Of the whole file. */
  readonly bytes: number;
  readonly chunks: readonly string[];
}

const chunksOfLineMax = 1000;

export class ListingWriter {
  readonly #pool: Pool;
  readonly #names: string[] = [];
  #lines: Buffer[] = [];
  #lineBytes = 0;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async add(file: ListedPart): Promise<void> {
    const { path, bytes, chunks } = file;
    for (let at = 0; at === 0 || at < chunks.length; at += chunksOfLineMax) {
      const part: ListedPart = { path, bytes, chunks: chunks.slice(at, at + chunksOfLineMax) };
      const line = Buffer.from(`${JSON.stringify(part)}\n`);
      this.#lines.push(line);
      this.#lineBytes += line.length;
      if (this.#lineBytes >= chunkBytes) await this.#flush(chunkBytes);
    }
  }

  /** Returns the names of the chunks of the listing. */
  async end(): Promise<readonly string[]> {
    await this.#flush(1);
    return this.#names;
  }

  /** Stores chunks until fewer bytes than `bytesMin` are left. */
  async #flush(bytesMin: number): Promise<void> {
    let rest = Buffer.concat(this.#lines);
    for (; rest.length >= bytesMin; rest = rest.subarray(chunkBytes))
      this.#names.push(await this.#pool.add(rest.subarray(0, chunkBytes)));
    this.#lines = [Buffer.from(rest)];
    this.#lineBytes = rest.length;
  }
}

/** Reads the listing chunk by chunk. Throws `DamagedChunk`. */
export async function* readListing(pool: Pool, names: readonly string[]): AsyncGenerator<ListedPart> {
  let rest = Buffer.alloc(0);
  for (const read of pool.readAhead(names)) {
    const bytes = Buffer.concat([rest, await read]);
    let start = 0;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
      yield parseJson(bytes.toString("utf8", start, end)) as ListedPart;
      start = end + 1;
    }
    rest = Buffer.from(bytes.subarray(start));
  }
}

/** The files of a listing, whole. */
export async function* filesOf(parts: AsyncIterable<ListedPart>): AsyncGenerator<ListedPart> {
  let file: (ListedPart & { readonly chunks: string[] }) | undefined;
  for await (const part of parts) {
    if (file?.path === part.path) {
      file.chunks.push(...part.chunks);
      continue;
    }
    if (file) yield file;
    file = { ...part, chunks: [...part.chunks] };
  }
  if (file) yield file;
}
