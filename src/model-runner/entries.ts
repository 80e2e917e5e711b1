// Encodes and decodes the stream of entries between the server and the process of a model.
//
// An entry is the length of its name (2 bytes), its name in UTF-8, chunks, and an empty chunk as its end.
// A chunk is its length (4 bytes) and its bytes. Numbers are big-endian. The stream ends after an entry.
// The process may be hostile: this file checks the form of its entries, the readers check the rest.
import { limits } from "../limits.ts";

/** The name of an artifact with its folder. */
const nameBytesMax = limits.modelArtifactNameBytesMax + 16;

/** A named stream of bytes. */
export interface RunnerEntry {
  readonly name: string;
  /** The reader must read them to the end before it reads the next entry. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** An entry to send. */
export interface OutgoingEntry {
  readonly name: string;
  /** Called just before the bytes are read: a reader that stops earlier leaves no file open. */
  readonly open: () => Promise<AsyncIterable<Uint8Array> | readonly Uint8Array[]>;
}

/** The process sent bytes in another format, or an entry that the reader refuses. */
export class BadEntry extends Error {}

export async function* encodeEntries(entries: Iterable<OutgoingEntry>): AsyncGenerator<Uint8Array> {
  for (const { name, open } of entries) {
    const encoded = Buffer.from(name);
    yield uint16(encoded.length);
    yield encoded;
    for await (const chunk of await open())
      for (let at = 0; at < chunk.length; at += limits.modelChunkBytesMax) {
        const part = chunk.subarray(at, at + limits.modelChunkBytesMax);
        yield uint32(part.length);
        yield part;
      }
    yield uint32(0);
  }
}

/**
 * Decodes entries. Throws `BadEntry` for a stream in another format, and for one that ends within an entry.
 */
export async function* decodeEntries(source: AsyncIterable<Uint8Array>): AsyncGenerator<RunnerEntry> {
  const input = new Input(source);
  while (await input.hasMore()) {
    const length = (await input.take(2)).readUInt16BE();
    if (length === 0 || length > nameBytesMax) throw new BadEntry(`The name of an entry has ${length} bytes`);
    const name = nameIn(await input.take(length));
    let isRead = false;
    const bytes = async function* () {
      for (;;) {
        const size = (await input.take(4)).readUInt32BE();
        if (size === 0) break;
        if (size > limits.modelChunkBytesMax) throw new BadEntry(`A chunk of ${name} has ${size} bytes`);
        yield await input.take(size);
      }
      isRead = true;
    };
    yield { name, bytes: bytes() };
    if (!isRead) throw new BadEntry(`${name} was not read to its end`);
  }
}

function nameIn(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new BadEntry("The name of an entry is not UTF-8");
  }
}

/** Reads the stream in the lengths that the decoder needs. */
class Input {
  readonly #source: AsyncIterator<Uint8Array>;
  #pending: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async hasMore(): Promise<boolean> {
    return this.#pending.length > 0 || (await this.#fill());
  }

  async take(count: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let missing = count; missing > 0; ) {
      if (!(await this.hasMore())) throw new BadEntry("The process ended within an entry");
      const part = this.#pending.subarray(0, missing);
      this.#pending = this.#pending.subarray(part.length);
      missing -= part.length;
      parts.push(part);
    }
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  }

  async #fill(): Promise<boolean> {
    const { done, value } = await this.#source.next();
    if (done) return false;
    this.#pending = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    return this.#pending.length > 0 || this.#fill();
  }
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
