// Combines summaries of parts of blocks and of the head into one summary for each bucket.
import { combineSummaries, type Summary } from "../summary.ts";
import type { BlockSummary, BucketGrid, BucketSummary, PartSummary } from "./bucket-cache.ts";

/** Called for each bucket; of a complete one with the start of the next bucket that has points. */
type OnBucket = (bucket: BucketSummary, nextStartMs: number | undefined) => void;

/** Combines the summaries of consecutive parts into one summary for each bucket. */
export class BucketSummarizer {
  readonly #grid: BucketGrid;
  readonly #onBucket: OnBucket;
  /** The open bucket: its start, its summary so far, and whether that includes all of its points. */
  #startMs = Number.NaN;
  #summary: Summary | undefined;
  #blockSummaries: BlockSummary[] = [];
  #isComplete = true;

  constructor(grid: BucketGrid, onBucket: OnBucket) {
    this.#grid = grid;
    this.#onBucket = onBucket;
  }

  /** Adds the next points, all of one bucket. */
  add(part: PartSummary): void {
    const { summary } = part;
    const startMs = this.#grid.bucketStart(summary.firstMs);
    if (startMs !== this.#startMs) this.#closeAndOpen(startMs, true);
    this.#summary = this.#summary === undefined ? summary : combineSummaries(this.#summary, summary);
    if (isBlockSummary(part)) this.#blockSummaries.push(part);
  }

  /**
   * The next points are aggregated elsewhere, without a summary. So the buckets of the first and of the last
   * of them are not complete, and cannot be cached.
   */
  skip(firstMs: number, lastMs: number): void {
    const startMs = this.#grid.bucketStart(firstMs);
    if (startMs === this.#startMs) this.#isComplete = false;
    this.#closeAndOpen(startMs, false);
    this.#startMs = this.#grid.bucketStart(lastMs);
  }

  end(endMs: number): void {
    this.#closeAndOpen(endMs, true);
  }

  /** Reports the open bucket, then opens the next one. */
  #closeAndOpen(startMs: number, isComplete: boolean): void {
    const summary = this.#summary;
    if (summary !== undefined)
      this.#onBucket(
        { summary, blockSummaries: this.#blockSummaries },
        this.#isComplete ? startMs : undefined,
      );
    this.#summary = undefined;
    this.#blockSummaries = [];
    this.#startMs = startMs;
    this.#isComplete = isComplete;
  }
}

const isBlockSummary = (part: PartSummary): part is BlockSummary => part.blockId !== undefined;
