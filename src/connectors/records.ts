// The records of a source: points, events, and rows of raw tables.

/**
 * A series as the source knows it; enough to create it. Points of one series share one object if possible.
 */
export interface SeriesDescription {
  /** Without the prefix of the destination. */
  readonly name: string;
  readonly isString?: boolean;
  readonly isStep?: boolean;
  readonly unit?: string;
  readonly description?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** The names of the assets from below the destination's asset down to that of the series. */
  readonly assetPath?: readonly string[];
}

export interface SourcePoint {
  readonly series: SeriesDescription;
  /** Milliseconds since 1970. */
  readonly timestamp: number;
  /**
   * A finite number, or a string if the series is one of strings. A bigint is an integer that no number
   * holds: it is refused.
   */
  readonly value: number | string | bigint;
}

/** An event. Its `sourceId` makes it one event however often it is sent. */
export interface SourceEvent {
  readonly sourceId: string;
  readonly type: string;
  readonly subtype?: string;
  readonly description?: string;
  readonly startTime: number;
  readonly endTime?: number;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** A row of a raw table. A row with the same key replaces it. */
export interface SourceRow {
  readonly database: string;
  readonly table: string;
  readonly key: string;
  readonly columns: Readonly<Record<string, unknown>>;
}

/** Records that are on disk together, or not at all. */
export interface SourceRecords {
  readonly points?: readonly SourcePoint[];
  readonly events?: readonly SourceEvent[];
  readonly rows?: readonly SourceRow[];
  /** The positions of the source, by name. A source reads them back at its next start. */
  readonly marks?: Readonly<Record<string, string>>;
}
