// One line of a chart: its name, its style and its data.
import type { NumberColumns, TextColumns } from "./columns.ts";

interface LineLook {
  /** Unique in the chart. */
  readonly key: string;
  readonly label: string;
  readonly color: string;
  /** Thinner and dashed: a line to compare with. */
  readonly isDashed?: boolean;
}

export interface NumberLine extends LineLook {
  readonly kind: "numbers";
  /** The unit; lines of one unit share an axis. */
  readonly axis: string;
  readonly isStep: boolean;
  /** Points further apart than this are not connected. */
  readonly gapMs: number;
  readonly columns: NumberColumns | undefined;
}

/** A string series, which is drawn as a lane of bands below the lines. */
export interface TextLine extends LineLook {
  readonly kind: "texts";
  readonly columns: TextColumns | undefined;
}

export type ChartLine = NumberLine | TextLine;

/** A time span that is shaded across the chart. */
export interface ChartBand {
  readonly key: string;
  /** Bands of one lane have one strip at the top of the chart. */
  readonly lane: string;
  readonly label: string;
  readonly startMs: number;
  /** Absent while it lasts. */
  readonly endMs: number | undefined;
  readonly color: string;
}

export type ValueRange = readonly [low: number, high: number];
