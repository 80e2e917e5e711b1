// Splits a stream of bytes into lines in bounded memory: a line above the bound is an error.

/** A line is longer than the reader allows. */
export class LineTooLong extends Error {
  /** From 1. */
  readonly line: number;
  readonly bytesMax: number;

  constructor(line: number, bytesMax: number) {
    super(`line ${line} is longer than ${bytesMax} bytes`);
    this.line = line;
    this.bytesMax = bytesMax;
  }
}

export interface TextLine {
  readonly text: string;
  /** From 1. */
  readonly line: number;
  /** The bytes of the stream up to and including the line feed. */
  readonly endBytes: number;
}

const lineFeed = 0x0a;

/**
 * Splits at line feeds only, because a JSON string may contain any other line separator. The last line needs
 * no line feed. Throws `LineTooLong`.
 */
export async function* linesOf(
  source: AsyncIterable<Uint8Array>,
  bytesMax: number,
): AsyncGenerator<TextLine> {
  let [line, endBytes, heldBytes] = [1, 0, 0];
  let held: Uint8Array[] = [];
  for await (const chunk of source) {
    for (let start = 0; start < chunk.length; ) {
      const feed = chunk.indexOf(lineFeed, start);
      const end = feed < 0 ? chunk.length : feed;
      held.push(chunk.subarray(start, end));
      heldBytes += end - start;
      if (heldBytes > bytesMax) throw new LineTooLong(line, bytesMax);
      endBytes += end - start;
      start = end;
      if (feed < 0) continue;
      start += 1;
      endBytes += 1;
      yield { text: Buffer.concat(held).toString(), line, endBytes };
      [line, held, heldBytes] = [line + 1, [], 0];
    }
  }
  if (heldBytes > 0) yield { text: Buffer.concat(held).toString(), line, endBytes };
}

/** Passes the chunks through. Throws `LineTooLong` before the chunk in which a line exceeds the bound. */
export async function* withLinesBounded<Chunk extends Uint8Array>(
  source: AsyncIterable<Chunk>,
  bytesMax: number,
): AsyncGenerator<Chunk> {
  let [line, lineBytes] = [1, 0];
  for await (const chunk of source) {
    for (let start = 0; start <= chunk.length; ) {
      const feed = chunk.indexOf(lineFeed, start);
      lineBytes += (feed < 0 ? chunk.length : feed) - start;
      if (lineBytes > bytesMax) throw new LineTooLong(line, bytesMax);
      if (feed < 0) break;
      [line, lineBytes, start] = [line + 1, 0, feed + 1];
    }
    yield chunk;
  }
}
