// The blocks of a transaction that are not in the file yet. They are written together, in the order that
// fills its pages best.
//
// SQLite stores a row of the table `data` as one part in a leaf, which other rows share, and the rest in
// pages of its own that are full. A new row goes to the last leaf, or to a new one where it does not fit. In
// the order of the series, two fifths of the leaves stay empty, which is 5 % of all bytes; in this order 1 to
// 2 %.
import { freeChunk } from "../../lib/free-memory.ts";
import type { ValueKind } from "../point-columns.ts";
import type { SeriesId } from "../points.ts";
import type { Summary } from "../summary.ts";
import type { PointSetKey } from "./block-row.ts";

export interface WaitingBlock {
  readonly series: SeriesId;
  readonly kind: ValueKind;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly count: number;
  readonly bytes: Uint8Array;
  readonly summaries: readonly Summary[];
  readonly blockChecksum: number;
}

/** With more blocks to choose from, the leaves get hardly fuller. */
const blocksMax = 64;
/** Blocks of strings may have hundreds of kilobytes each. */
const bytesMax = 2 ** 20;

export class WaitingBlocks {
  readonly #pages: LeafPages;
  #blocks: WaitingBlock[] = [];
  #bytes = 0;

  constructor(pageBytes: number) {
    this.#pages = new LeafPages(pageBytes);
  }

  add(block: WaitingBlock): void {
    this.#blocks.push(block);
    this.#bytes += block.bytes.length;
  }

  get isFull(): boolean {
    return this.#blocks.length >= blocksMax || this.#bytes >= bytesMax;
  }

  hasBlockOf({ series, kind }: PointSetKey): boolean {
    return this.#blocks.some((block) => block.series === series && block.kind === kind);
  }

  /** Writes the bytes of all blocks, each of which gets an id, and then their rows in the order of `add`. */
  write(
    insertBytes: (bytes: Uint8Array) => number,
    insertRow: (block: WaitingBlock, id: number) => void,
  ): void {
    const blocks = this.#takeAll();
    if (blocks.length === 0) return;
    const ids = new Array<number>(blocks.length);
    for (const index of this.#pages.order(blocks.map(({ bytes }) => bytes.length))) {
      const { bytes } = blocks[index]!;
      ids[index] = insertBytes(bytes);
      freeChunk(bytes);
    }
    for (const [index, block] of blocks.entries()) insertRow(block, ids[index]!);
  }

  /** After a rollback. */
  forget(): void {
    this.#takeAll();
    this.#pages.forget();
  }

  #takeAll(): WaitingBlock[] {
    const blocks = this.#blocks;
    this.#blocks = [];
    this.#bytes = 0;
    return blocks;
  }
}

/** Of a leaf: its header. */
const leafHeaderBytes = 8;
/** Of a row in a leaf: two lengths, the id, the first page of the rest, and the place in the leaf. */
const rowBytes = 12;
/** The header of the record in a row. */
const recordHeaderBytes = 4;

/**
 * The leaves of the table `data` as they grow (https://sqlite.org/fileformat2.html#b_tree_pages). An error in
 * the estimate only leaves more space empty.
 */
export class LeafPages {
  readonly #pageBytes: number;
  #free = 0;

  constructor(pageBytes: number) {
    this.#pageBytes = pageBytes;
  }

  /**
   * The order in which to insert blobs of these lengths: the largest part that fits is the next one. Small
   * ones keep their order.
   */
  order(lengths: readonly number[]): number[] {
    const sizes = lengths.map((length) => Math.max(this.bytesOf(length), this.#pageBytes / 8));
    const waiting = [...sizes.keys()].sort((one, other) => sizes[other]! - sizes[one]!);
    const order: number[] = [];
    while (waiting.length > 0) {
      const fitting = waiting.findIndex((index) => sizes[index]! <= this.#free);
      if (fitting < 0) this.#free = this.#pageBytes - leafHeaderBytes;
      const [next] = waiting.splice(Math.max(0, fitting), 1);
      this.#free -= sizes[next!]!;
      order.push(next!);
    }
    return order;
  }

  forget(): void {
    this.#free = 0;
  }

  /** The bytes of a leaf that a row with a blob of this length fills. */
  bytesOf(length: number): number {
    const record = recordHeaderBytes + length;
    const most = this.#pageBytes - 35;
    if (record <= most) return record + rowBytes;
    const least = Math.floor(((this.#pageBytes - 12) * 32) / 255) - 23;
    const local = least + ((record - least) % (this.#pageBytes - 4));
    return (local <= most ? local : least) + rowBytes;
  }
}
