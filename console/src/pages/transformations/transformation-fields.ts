// The fields of the form of a transformation, and the requests that they become.
import type { NewTransformation, Transformation, TransformationChange } from "../../api/generated.ts";
import { changedFields } from "../../lib/record-change.ts";
import { browserZone } from "../../lib/zoned-time.ts";

type Destination = Transformation["destination"];
type Schedule = NonNullable<Transformation["schedule"]>;

export type Timing = "none" | "cron" | "minutes" | "after";

export interface TransformationFields {
  readonly name: string;
  readonly externalId: string;
  readonly query: string;
  readonly type: Destination["type"];
  readonly database: string;
  readonly table: string;
  readonly sequence: string;
  readonly action: Transformation["action"];
  readonly nulls: Transformation["nulls"];
  readonly onError: Transformation["onError"];
  readonly timing: Timing;
  readonly cron: string;
  readonly timeZone: string;
  readonly minutes: number;
  readonly after: string;
}

export const newFields = (): TransformationFields => ({
  ...{ name: "", externalId: "", query: "", type: "assets", database: "", table: "", sequence: "" },
  ...{ action: "upsert", nulls: "keep", onError: "stop", timing: "none" },
  ...{ cron: "0 6 * * *", timeZone: browserZone(), minutes: 15, after: "" },
});

export function fieldsOf(found: Transformation): TransformationFields {
  const { name, externalId, query, destination, action, nulls, onError, schedule } = found;
  return {
    ...newFields(),
    ...{ name, externalId, query, ...destination, action, nulls, onError },
    ...(schedule && timingOf(schedule)),
  };
}

function timingOf(schedule: Schedule): Partial<TransformationFields> {
  if ("cron" in schedule) return { timing: "cron", ...schedule };
  if ("after" in schedule) return { timing: "after", ...schedule };
  return { timing: "minutes", minutes: schedule.everyMinutes };
}

function destinationOf({ type, database, table, sequence }: TransformationFields): Destination {
  if (type === "raw") return { type, database, table };
  return type === "sequenceRows" ? { type, sequence } : { type };
}

function scheduleOf({ timing, cron, timeZone, minutes, after }: TransformationFields): Schedule | undefined {
  if (timing === "cron") return { cron, timeZone };
  if (timing === "after") return { after };
  return timing === "minutes" ? { everyMinutes: minutes } : undefined;
}

/** Whether no required field is empty. The server checks everything else. */
export function isComplete(fields: TransformationFields): boolean {
  const { name, externalId, query, type, database, table, sequence, timing, cron, after } = fields;
  const hasDestination =
    (type !== "raw" || (database !== "" && table !== "")) && (type !== "sequenceRows" || sequence !== "");
  const hasTiming = (timing !== "cron" || cron !== "") && (timing !== "after" || after !== "");
  return name !== "" && externalId !== "" && query.trim() !== "" && hasDestination && hasTiming;
}

export function newTransformationOf(fields: TransformationFields): NewTransformation {
  const { name, externalId, query, action, nulls, onError } = fields;
  const schedule = scheduleOf(fields);
  return {
    ...{ name, externalId, query, destination: destinationOf(fields), action, nulls, onError },
    ...(schedule && { schedule }),
  };
}

/** Without the query, which the editor saves. */
const settingsOf = (fields: TransformationFields) => {
  const { name, externalId, action, nulls, onError } = fields;
  return {
    ...{ name, externalId, action, nulls, onError },
    ...{ destination: destinationOf(fields), schedule: scheduleOf(fields) },
  };
};

export const changeOf = (before: Transformation, fields: TransformationFields): TransformationChange => ({
  id: before.id,
  ...changedFields(settingsOf(fieldsOf(before)), settingsOf(fields)),
});
