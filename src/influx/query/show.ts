// Runs the SHOW statements.
import type { RequestContext } from "../../context.ts";
import { compareText } from "../../lib/text.ts";
import type { Show, ShowSubject } from "./ast.ts";
import { isAlways, type ResultCell, reduceTest, type Test, testOf } from "./conditions.ts";
import { eventFields, eventTags, mayReadEvents } from "./events.ts";
import { matchingMembers } from "./members.ts";
import { matcherOf } from "./pattern.ts";
import { statementProblem } from "./problems.ts";
import { type ResultRows, type ResultSeries, windowed } from "./rows.ts";
import {
  eventsMeasurement,
  type Measurement,
  namesEvents,
  ownValue,
  readMeasurements,
  type StoredSeries,
} from "./series-model.ts";

export async function* runShow(ctx: RequestContext, show: Show): AsyncGenerator<ResultSeries> {
  const { subject } = show;
  if (subject === "databases") return yield table(show, "databases", { name: [ctx.caller.projectUrlName] });
  if (subject === "retention policies") return yield table(show, undefined, retentionPolicy);
  const measurements = await matchingMeasurements(ctx, show);
  if (subject === "measurements") {
    const names = measurements.map(({ name }) => name);
    return yield table(show, "measurements", { name: names });
  }
  if (subject === "series")
    return yield table(show, undefined, { key: measurements.flatMap(seriesKeys).sort(compareText) });
  for (const measurement of measurements) yield table(show, measurement.name, columnsOf(show, measurement));
}

const retentionPolicy = {
  name: ["autogen"],
  duration: ["0s"],
  shardGroupDuration: ["168h0m0s"],
  replicaN: [1],
  default: [true],
};

type Columns = Readonly<Record<string, readonly ResultCell[]>>;

const table = ({ rows }: Show, name: string | undefined, columns: Columns): ResultSeries => ({
  name,
  columns: Object.keys(columns),
  rows: windowed(only({ columns: Object.values(columns) }), rows),
});

async function* only(batch: ResultRows): AsyncGenerator<ResultRows> {
  yield batch;
}

/** The measurements with the tag sets that pass the condition; the time is ignored. */
async function matchingMeasurements(ctx: RequestContext, show: Show): Promise<Measurement[]> {
  const test = testOf(show.where.condition);
  const found = await readMeasurements(ctx, { from: show.from, test, tags: tagsNeeded(show) });
  const matching: Measurement[] = [];
  for (const measurement of found) {
    const members = await matchingMembers(ctx, measurement, test);
    if (members.length > 0) matching.push({ ...measurement, tagSets: members.map(({ tagSet }) => tagSet) });
  }
  return showsEvents(ctx, show, test)
    ? [...matching, events].sort((a, b) => compareText(a.name, b.name))
    : matching;
}

/**
 * Whether the result has the events. Refuses a statement that names them and needs values of their tags: the
 * catalog has no list of these.
 */
function showsEvents(ctx: RequestContext, { from, subject }: Show, test: Test): boolean {
  const isConditional = !isAlways(reduceTest(test, () => undefined));
  if (!isConditional && subjectsOfEvents.includes(subject)) {
    const isFrom = from.length === 0 || from.some((one) => matcherOf(one).matches(eventsMeasurement));
    return isFrom && mayReadEvents(ctx);
  }
  if (!namesEvents(from)) return false;
  const words = `SHOW ${subject.toUpperCase()}`;
  throw statementProblem(`${words} of events${isConditional ? " with a condition" : ""} is not supported`);
}

const subjectsOfEvents: readonly ShowSubject[] = ["measurements", "tag keys", "field keys"];
const noFields: ReadonlyMap<string, readonly StoredSeries[]> = new Map();
const events: Measurement = {
  name: eventsMeasurement,
  tagSets: [{ tags: Object.fromEntries(eventTags.map((key) => [key, ""])), fields: noFields }],
  tagKeys: eventTags,
  fieldKeys: eventFields,
};

/** Only these results have values of tags of assets, which cost a further read. */
const tagsNeeded = ({ subject }: Show): "every" | readonly string[] =>
  ["tag keys", "tag values", "series"].includes(subject) ? "every" : [];

function columnsOf(show: Show, measurement: Measurement): Columns {
  const keys = [...new Set(measurement.tagSets.flatMap(({ tags }) => Object.keys(tags)))].sort(compareText);
  if (show.subject === "tag keys") return { tagKey: keys };
  if (show.subject === "field keys") return fieldColumns(measurement);
  const matchers = show.keys!.patterns.map(matcherOf);
  const isShown = (key: string) => matchers.some(({ matches }) => matches(key)) !== show.keys!.isNegated;
  const pairs = keys
    .filter(isShown)
    .flatMap((key) => valuesOf(measurement, key).map((value) => [key, value] as const));
  return { key: pairs.map(([key]) => key), value: pairs.map(([, value]) => value) };
}

const valuesOf = ({ tagSets }: Measurement, key: string): string[] =>
  [...new Set(tagSets.flatMap(({ tags }) => ownValue(tags, key) || []))].sort(compareText);

function fieldColumns({ name, fieldKeys, tagSets }: Measurement): Columns {
  if (name === eventsMeasurement)
    return {
      fieldKey: fieldKeys,
      fieldType: fieldKeys.map((key) => (numericEventFields.includes(key) ? "float" : "string")),
    };
  const kinds = fieldKeys.flatMap((key) => {
    const series = tagSets.flatMap(({ fields }) => fields.get(key) ?? []);
    const isString = [...new Set(series.map((one) => one.isString))].sort();
    return isString.map((one) => [key, one ? "string" : "float"] as const);
  });
  return { fieldKey: kinds.map(([key]) => key), fieldType: kinds.map(([, type]) => type) };
}

const numericEventFields: readonly string[] = ["duration", "end", "id"];

/** `cpu,host=a,region=eu`, escaped as in line protocol. */
const seriesKeys = ({ name, tagSets }: Measurement): string[] =>
  tagSets.map(({ tags }) =>
    [escaped(name), ...Object.entries(tags).map(([key, value]) => `${escaped(key)}=${escaped(value)}`)].join(
      ",",
    ),
  );

const escaped = (text: string): string => text.replaceAll(/[,= ]/g, "\\$&");
