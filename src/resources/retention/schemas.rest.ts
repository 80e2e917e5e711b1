// JSON schemas of retention rules.
import { type Static, Type } from "typebox";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { cursorParameter } from "../../rest/envelope.ts";
import {
  bulk,
  changed,
  changeObject,
  changeOfRequired,
  idField,
  itemsBody,
  json,
  nameField,
} from "../../rest/fields.ts";
import { integer, pageSize } from "../../rest/parameters.ts";
import type { RetentionPreview, SeriesPreview } from "./preview.ts";
import type { NewRetentionRule, RetentionChange, RetentionTarget, ShownRule } from "./retention.ts";

const target = {
  seriesId: Type.Optional(idField("The series; absent for other targets")),
  assetId: Type.Optional(idField("The asset with whose subtree series are linked; absent for other targets")),
  wholeProject: Type.Optional(
    Type.Literal(true, { description: "All series of the project; absent for other targets" }),
  ),
};

const name = nameField("The name, for people");
const keepDays = Type.Integer({
  description: "Points that are older than this many days of 24 hours are removed, in whole blocks",
  minimum: 1,
  maximum: limits.retentionDaysMax,
});

const newRule = Type.Object({ name, ...target, keepDays }, { title: "NewRetentionRule" });
export const newRules = json(itemsBody(newRule, { min: 1 }), bulk);

const ruleChange = changeObject(
  {
    id: idField("Which retention rule"),
    name: changeOfRequired(name),
    keepDays: changeOfRequired(keepDays),
  },
  { title: "RetentionRuleChange" },
);
export const ruleChanges = json(itemsBody(ruleChange, { min: 1 }), bulk);

const count = (description: string) => Type.Integer({ description, minimum: 0 });

/** Absent for a subtree or the project, unless the caller may read all series. */
const hidden = (description: string) =>
  Type.Optional(count(`${description}. Absent if the caller may not read all series of the project`));

const lastRun = Type.Object(
  {
    startedTime: Type.Integer(),
    endedTime: Type.Optional(
      Type.Integer({ description: "Absent while the run lasts, and after a run that was cut off" }),
    ),
    series: hidden("Series that lost points"),
    waiting: hidden("Series that lost none, because the rule has not counted for them for a day"),
    points: hidden("Points that were removed; one that was overwritten may count twice"),
    blocks: hidden("Blocks that were removed; days with points if datapoints are in ClickHouse"),
    errorMessage: Type.Optional(
      Type.String({
        description: "How many series failed, and why the first one did, or why the run ended early",
      }),
    ),
  },
  { description: "The last run, with what it has removed so far" },
);

export const ruleSchema = Type.Object(
  {
    id: Type.Integer(),
    name,
    ...target,
    keepDays,
    nextTime: Type.Integer({
      description: "When the rule runs next. It removes points of series for which it has counted for a day",
    }),
    waitsUntil: Type.Optional(
      Type.Integer({
        description:
          "The rule removes nothing before: it is new, its days changed, the clock of a server was set, " +
          "all servers were off for two hours, or the data was restored",
      }),
    ),
    lastRun: Type.Optional(lastRun),
    removedPoints: hidden("Points that all runs have removed"),
    createdTime: Type.Integer(),
    lastUpdatedTime: Type.Integer(),
  },
  { title: "RetentionRule" },
);

export const listQuery = {
  seriesId: integer("The rule of exactly this series", { min: 1 }),
  assetId: integer("The rule of exactly this asset", { min: 1 }),
  cursor: cursorParameter,
  limit: pageSize({ byDefault: limits.assetsListDefault, max: limits.listItemsMax }),
};

const toPreview = Type.Object(
  {
    ...target,
    keepDays,
    limit: Type.Optional(
      Type.Integer({
        description: "How many series the request counts; default the maximum",
        minimum: 1,
        maximum: limits.retentionPreviewSeriesMax,
      }),
    ),
    cursor: Type.Optional(Type.String({ description: "`nextCursor` of the response before" })),
  },
  { title: "RetentionRuleToPreview" },
);
export const ruleToPreview = json(toPreview);

const seriesPreview = Type.Object(
  {
    seriesId: Type.Integer(),
    name,
    points: count("Points that would be removed; one that was overwritten may count twice"),
    blocks: count("Blocks that would be removed; days with points if datapoints are in ClickHouse"),
    oldestTime: Type.Integer({ description: "The time of the oldest point now" }),
    oldestTimeAfter: Type.Optional(
      Type.Integer({ description: "The time of the oldest point after it; absent if none is left" }),
    ),
  },
  { title: "RetentionSeriesPreview" },
);

export const previewSchema = Type.Object({
  cutoffTime: Type.Integer({ description: "No point at or after this time would be removed" }),
  examined: count("Series of this page for which the rule would count"),
  affected: count("Those that would lose points"),
  points: count("Points that these would lose"),
  blocks: count("Blocks that these would lose"),
  oldestTime: Type.Optional(Type.Integer({ description: "The oldest time of a point that they would lose" })),
  items: Type.Array(seriesPreview, { description: "The series that would lose points" }),
  nextCursor: Type.Optional(Type.String({ description: "Where the next request continues; add the counts" })),
});

type SentTarget = Pick<Static<typeof newRule>, "seriesId" | "assetId" | "wholeProject">;

export function targetFrom({ seriesId, assetId, wholeProject }: SentTarget, prefix = ""): RetentionTarget {
  const named = [seriesId, assetId, wholeProject].filter((one) => one !== undefined);
  if (named.length !== 1) {
    const expected = "exactly one of seriesId, assetId and wholeProject";
    throw fail("field-invalid", { field: `${prefix}seriesId`, expected, got: `${named.length} of them` });
  }
  return {
    ...(seriesId !== undefined && { seriesId }),
    ...(assetId !== undefined && { assetId }),
    ...(wholeProject && { wholeProject }),
  };
}

export const newRuleOf = (sent: Static<typeof newRule>, index: number): NewRetentionRule => ({
  ...targetFrom(sent, `items[${index}].`),
  name: sent.name,
  keepDays: sent.keepDays,
});

export const ruleChangeOf = (sent: Static<typeof ruleChange>): RetentionChange => ({
  id: sent.id,
  name: changed(sent.name) ?? undefined,
  keepDays: changed(sent.keepDays) ?? undefined,
});

export const ruleJson = (rule: ShownRule) => ({
  id: rule.id,
  name: rule.name,
  seriesId: rule.seriesId,
  assetId: rule.assetId,
  wholeProject: rule.wholeProject,
  keepDays: rule.keepDays,
  nextTime: rule.nextTime,
  waitsUntil: rule.waitsUntil,
  ...(rule.lastStartedTime !== undefined && {
    lastRun: {
      startedTime: rule.lastStartedTime,
      endedTime: rule.lastEndedTime,
      series: rule.lastSeries,
      waiting: rule.lastWaiting,
      points: rule.lastPoints,
      blocks: rule.lastBlocks,
      errorMessage: rule.lastError,
    },
  }),
  removedPoints: rule.removedPoints,
  createdTime: rule.createdTime,
  lastUpdatedTime: rule.lastUpdatedTime,
});

export function previewJson({ cutoffTime, examined, series }: Omit<RetentionPreview, "next">) {
  const sum = (of: (one: SeriesPreview) => number) => series.reduce((total, one) => total + of(one), 0);
  return {
    ...{ cutoffTime, examined, affected: series.length },
    points: sum(({ points }) => points),
    blocks: sum(({ blocks }) => blocks),
    ...(series.length > 0 && { oldestTime: Math.min(...series.map(({ oldestTime }) => oldestTime)) }),
    items: series,
  };
}
