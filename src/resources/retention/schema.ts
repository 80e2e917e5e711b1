// The table of retention rules.
import type { Stored, Table, TableColumn } from "../../storage/catalog.ts";

/** The series of a rule: one series, those in the subtree of an asset, or all of the project. */
export interface RetentionTarget {
  /** One of these three is present. */
  readonly seriesId?: number;
  readonly assetId?: number;
  readonly wholeProject?: true;
}

/** How long the points of some series are kept. */
export interface RetentionRule extends Stored, RetentionTarget {
  readonly name: string;
  /** Points that are older by this many days are removed, in whole blocks. */
  readonly keepDays: number;
  /** When the rule runs next. */
  readonly nextTime: number;
  /** Whose run it is; 0 if the last one has to end. */
  readonly runToken?: number;
  /** Nothing is removed before: the rule is new, its days changed, or `clock.ts` found the clock wrong. */
  readonly waitsUntil?: number;
  /** The last run; without an end while it lasts, or after it was cut off. */
  readonly lastStartedTime?: number;
  readonly lastEndedTime?: number;
  readonly lastSeries?: number;
  /** Series for which the rule has not counted for a day yet. */
  readonly lastWaiting?: number;
  readonly lastPoints?: number;
  readonly lastBlocks?: number;
  readonly lastError?: string;
  /** By all runs. */
  readonly removedPoints: number;
  readonly createdTime: number;
  /** When a caller changed it. */
  readonly lastUpdatedTime: number;
}

const required = (type: TableColumn["type"]): TableColumn => ({ type, optional: false });
const optional = (type: TableColumn["type"]): TableColumn => ({ type, optional: true });

export const retentionTable: Table<RetentionRule> = {
  name: "retentionrules",
  belongsTo: "project",
  columns: {
    id: required("integer"),
    name: required("text"),
    seriesId: optional("integer"),
    assetId: optional("integer"),
    wholeProject: optional("boolean"),
    keepDays: required("integer"),
    nextTime: required("integer"),
    runToken: optional("integer"),
    waitsUntil: optional("integer"),
    lastStartedTime: optional("integer"),
    lastEndedTime: optional("integer"),
    lastSeries: optional("integer"),
    lastWaiting: optional("integer"),
    lastPoints: optional("integer"),
    lastBlocks: optional("integer"),
    lastError: optional("text"),
    removedPoints: required("integer"),
    createdTime: required("integer"),
    lastUpdatedTime: required("integer"),
  },
  indexes: [["nextTime"]],
  unique: [["seriesId"], ["assetId"], ["wholeProject"]],
  wordsOf: [],
  links: [
    { column: "assetId", to: "assets", onDelete: "remove" },
    { column: "seriesId", to: "time_series", onDelete: "remove" },
  ],
};

/** A series that has come under a rule; its id is that of the series. */
export interface RetainedSeries extends Stored {
  readonly ruleId: number;
  /** Those of the rule then. */
  readonly keepDays: number;
  /** When a run saw it first. */
  readonly since: number;
}

/** Rows of deleted rules stay until another rule counts for their series. */
export const retainedSeriesTable: Table<RetainedSeries> = {
  name: "retained_series",
  belongsTo: "project",
  columns: {
    id: required("integer"),
    ruleId: required("integer"),
    keepDays: required("integer"),
    since: required("integer"),
  },
  indexes: [["ruleId", "id"]],
  unique: [],
  wordsOf: [],
  links: [{ column: "id", to: "time_series", onDelete: "remove" }],
};

/** When a server last looked for due rules of a project; its id is that of the project. */
export interface RetentionClock extends Stored {
  readonly markTime: number;
  /** `Services.catalogPlace` then. */
  readonly place: string;
}

export const retentionClockTable: Table<RetentionClock> = {
  name: "retention_clocks",
  belongsTo: "project",
  columns: { id: required("integer"), markTime: required("integer"), place: required("text") },
  indexes: [],
  unique: [],
  wordsOf: [],
};
