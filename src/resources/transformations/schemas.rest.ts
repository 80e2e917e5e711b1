// JSON schemas of transformations, their runs, plans and previews.
import { type Static, Type } from "typebox";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import {
  change,
  changed,
  changeObject,
  changeOfRequired,
  idField,
  nameField,
  textField,
} from "../../rest/fields.ts";
import { externalIdField } from "../common/fields.rest.ts";
import { refuseInvalidName } from "../raw/tables.ts";
import { refuseUnusable } from "./schedules/schedule.ts";
import {
  actions,
  type DestinationName,
  deliveryStates,
  errorModes,
  nullModes,
  recordKinds,
  runStates,
  type TransformationInput,
  type TransformationRun,
} from "./schema.ts";
import type { TransformationChange, TransformationWithRun } from "./transformations.ts";
import { refuseUnusableWebhook, type WebhookInput } from "./webhooks/webhook.ts";

export const queryField = textField("One SQL query; its columns are the values of the records", {
  min: 1,
  max: limits.sqlLengthMax,
});

const destination = Type.Object(
  {
    type: Type.Enum([...recordKinds, "raw", "sequenceRows"], {
      description: "The records that the rows become",
    }),
    database: Type.Optional(nameField("Of raw: the database")),
    table: Type.Optional(nameField("Of raw: the table")),
    sequence: Type.Optional(externalIdField("Of sequenceRows: the external id of the sequence")),
  },
  {
    title: "TransformationDestination",
    description: "`database` and `table` are given for raw alone, `sequence` for sequenceRows alone",
  },
);

const fields = {
  externalId: externalIdField("The external id, unique in the project"),
  name: nameField("The name"),
  query: queryField,
  destination,
  action: Type.Enum([...actions], { description: "What a row does to the record of its key" }),
  nulls: Type.Enum([...nullModes], {
    description: "Whether a null of a row keeps the value of the record or clears it; default keep",
  }),
  onError: Type.Enum([...errorModes], {
    description: "Whether a refused row ends the run or is left out; default stop",
  }),
};

const { nulls, onError, ...needed } = fields;

const schedule = Type.Union(
  [
    Type.Object(
      {
        cron: textField("Minute, hour, day of month, month, weekday", { max: limits.nameLengthMax }),
        timeZone: nameField("The time zone of these, such as Europe/Oslo"),
      },
      { additionalProperties: false },
    ),
    Type.Object(
      {
        everyMinutes: Type.Integer({
          description: "Minutes from one start to the next",
          minimum: 1,
          maximum: limits.transformationMinutesMax,
        }),
      },
      { additionalProperties: false },
    ),
    Type.Object(
      {
        after: externalIdField("Runs after each successful run of the transformation with this external id"),
      },
      { additionalProperties: false },
    ),
  ],
  { description: "When it runs by itself" },
);

const webhookFields = {
  url: textField("Receives a signed message (POST) when a run fails", {
    min: 1,
    max: limits.webhookUrlLength,
  }),
  onRefusals: Type.Boolean({ description: "Whether a run that completed with refusals sends one too" }),
};

const newWebhook = Type.Object(
  {
    url: webhookFields.url,
    secret: textField("Signs the messages: `whsec_` and 24 to 64 bytes in base64. No response shows it", {
      min: 1,
      max: limits.nameLengthMax,
    }),
    onRefusals: Type.Optional(webhookFields.onRefusals),
  },
  { title: "NewTransformationWebhook", additionalProperties: false },
);

const webhook = Type.Object(webhookFields, { title: "TransformationWebhook" });

export const newTransformation = Type.Object(
  {
    ...needed,
    nulls: Type.Optional(nulls),
    onError: Type.Optional(onError),
    schedule: Type.Optional(schedule),
    webhook: Type.Optional(newWebhook),
  },
  { title: "NewTransformation" },
);

export const transformationChange = changeObject(
  {
    id: idField("Which transformation"),
    externalId: changeOfRequired(fields.externalId),
    name: changeOfRequired(fields.name),
    query: changeOfRequired(queryField),
    destination: changeOfRequired(destination),
    action: changeOfRequired(fields.action),
    nulls: changeOfRequired(nulls),
    onError: changeOfRequired(onError),
    schedule: change(schedule),
    webhook: change(newWebhook),
  },
  { title: "TransformationChange" },
);

const marks = Type.Unsafe<Readonly<Record<string, number>>>({
  type: "object",
  additionalProperties: { type: "integer" },
  description: "The marks of `is_new` by name",
});

const count = (description: string) => Type.Integer({ description, minimum: 0 });

/** The members of both a run and the `lastRun` of a transformation. */
const runFields = {
  status: Type.Enum([...runStates]),
  startedBy: Type.String({ description: "The account or user that started it" }),
  read: count("Rows of the result"),
  created: count("Created records"),
  changed: count("Changed records"),
  unchanged: count("Rows that change nothing, which are not written"),
  deleted: count("Deleted records"),
  refused: count("Refused rows"),
  problem: Type.Optional(Type.String({ description: "Why it failed, and which rows are written" })),
  startedTime: Type.Integer(),
  endedTime: Type.Optional(Type.Integer()),
};

const lastRun = Type.Object(
  { id: Type.Integer(), ...runFields },
  { title: "TransformationLastRun", description: "The run that was started last" },
);

export const transformationSchema = Type.Object(
  {
    id: Type.Integer(),
    ...fields,
    schedule: Type.Optional(schedule),
    nextTime: Type.Optional(Type.Integer({ description: "When the next run is due" })),
    lastRun: Type.Optional(lastRun),
    webhook: Type.Optional(webhook),
    owner: Type.String({ description: "The account that saved it last; runs have its rights" }),
    ownerId: Type.Integer(),
    marks,
    createdTime: Type.Integer(),
    lastUpdatedTime: Type.Integer(),
  },
  { title: "Transformation" },
);

const rowError = Type.Object(
  {
    row: Type.Integer({ description: "The number of the row in the result; the first is 1" }),
    key: Type.Optional(Type.String()),
    column: Type.Optional(Type.String()),
    value: Type.Optional(Type.String()),
    reason: Type.String(),
  },
  { title: "TransformationRowError" },
);

const delivery = Type.Object(
  {
    state: Type.Enum([...deliveryStates]),
    attempts: count("Attempts to send it"),
    lastTime: Type.Optional(Type.Integer({ description: "When the last attempt began" })),
    nextTime: Type.Optional(Type.Integer({ description: "When the next attempt is due" })),
    problem: Type.Optional(Type.String({ description: "Why the last attempt failed" })),
  },
  { title: "WebhookDelivery", description: "The message of the webhook about this run" },
);

export const runSchema = Type.Object(
  {
    id: Type.Integer(),
    transformationId: Type.Integer(),
    ...runFields,
    errors: Type.Array(rowError, { description: "The first refused rows" }),
    marks: Type.Optional(marks),
    delivery: Type.Optional(delivery),
  },
  { title: "TransformationRun" },
);

const anyValue = (description: string) => Type.Unsafe<unknown>({ description });

const planned = (row: ReturnType<typeof Type.Object>) =>
  Type.Object({ count: Type.Integer(), rows: Type.Array(row, { description: "The first of them" }) });

const keyed = { row: Type.Integer(), key: Type.String() };

export const planSchema = Type.Object(
  {
    read: Type.Integer(),
    created: planned(Type.Object({ ...keyed, values: Type.Unsafe<object>({ type: "object" }) })),
    changed: planned(
      Type.Object({
        ...keyed,
        fields: Type.Array(
          Type.Object({ field: Type.String(), old: anyValue("Before"), new: anyValue("After") }),
        ),
      }),
    ),
    unchanged: Type.Integer(),
    deleted: planned(Type.Object(keyed)),
    refused: planned(rowError),
  },
  { title: "TransformationPlan" },
);

export const previewSchema = Type.Object(
  {
    columns: Type.Array(
      Type.Object({
        name: Type.String(),
        type: Type.Optional(Type.String({ description: "The type of the source column" })),
        types: Type.Array(Type.String(), { description: "The types of the values in these rows" }),
      }),
    ),
    rows: Type.Array(
      Type.Array(Type.Union([Type.String(), Type.Number(), Type.Null()]), {
        description: "The values in the order of the columns; integers beyond 2^53 are strings",
      }),
    ),
    isCut: Type.Boolean({ description: "The query has more rows" }),
  },
  { title: "TransformationPreview" },
);

/** Refuses (400) members that a destination of this type lacks, or does not have. */
function destinationIn(sent: Static<typeof destination>, field: string): DestinationName {
  const { type, database, table, sequence } = sent;
  const given = Object.keys(sent).length - 1;
  const isRaw = type === "raw" && database !== undefined && table !== undefined && given === 2;
  if (isRaw) return { type, database, table };
  if (type === "sequenceRows" && sequence !== undefined && given === 1) return { type, sequence };
  if (type !== "raw" && type !== "sequenceRows" && given === 0) return { type };
  const expected =
    type === "raw"
      ? "a database and a table"
      : type === "sequenceRows"
        ? "a sequence alone"
        : "no database, no table and no sequence";
  throw fail("field-invalid", { field, expected, got: JSON.stringify(sent) });
}

/** The raw table of refused rows has this name. */
const refuseUnusableExternalId = (externalId: string, field: string): void =>
  refuseInvalidName(externalId, () => field);

function webhookIn(sent: Static<typeof newWebhook>, field: string): WebhookInput {
  const webhook = { onRefusals: false, ...sent };
  refuseUnusableWebhook(webhook, field);
  return webhook;
}

export function newTransformationOf(
  sent: Static<typeof newTransformation>,
  index: number,
): TransformationInput {
  refuseUnusableExternalId(sent.externalId, `items[${index}].externalId`);
  const destination = destinationIn(sent.destination, `items[${index}].destination`);
  const { nulls = "keep", onError = "stop" } = sent;
  if (sent.schedule) refuseUnusable(sent.schedule, `items[${index}].schedule`);
  const { webhook, ...members } = sent;
  return {
    ...{ ...members, destination, nulls, onError },
    ...(webhook && { webhook: webhookIn(webhook, `items[${index}].webhook`) }),
  };
}

export function transformationChangeOf(
  sent: Static<typeof transformationChange>,
  index: number,
): TransformationChange {
  const externalId = changed(sent.externalId) ?? undefined;
  if (externalId !== undefined) refuseUnusableExternalId(externalId, `items[${index}].externalId.set`);
  const destination = changed(sent.destination);
  const schedule = changed(sent.schedule);
  if (schedule) refuseUnusable(schedule, `items[${index}].schedule.set`);
  const webhook = changed(sent.webhook);
  return {
    ...{ schedule, id: sent.id },
    webhook: webhook && webhookIn(webhook, `items[${index}].webhook.set`),
    externalId,
    name: changed(sent.name) ?? undefined,
    query: changed(sent.query) ?? undefined,
    ...(destination && { destination: destinationIn(destination, `items[${index}].destination.set`) }),
    action: changed(sent.action) ?? undefined,
    nulls: changed(sent.nulls) ?? undefined,
    onError: changed(sent.onError) ?? undefined,
  };
}

export const transformationJson = (found: TransformationWithRun) => ({
  id: found.id,
  externalId: found.externalId,
  name: found.name,
  query: found.query,
  destination: found.destination,
  action: found.action,
  nulls: found.nulls,
  onError: found.onError,
  schedule: found.schedule,
  nextTime: found.nextTime,
  lastRun: found.lastRun,
  webhook: found.webhook && { url: found.webhook.url, onRefusals: found.webhook.onRefusals },
  owner: found.owner,
  ownerId: found.ownerId,
  marks: found.marks,
  createdTime: found.createdTime,
  lastUpdatedTime: found.lastUpdatedTime,
});

export const runJson = ({ owner: _, delivery, deliveryTime, ...run }: TransformationRun) => ({
  ...run,
  delivery: delivery && { ...delivery, nextTime: deliveryTime },
});

/** JSON has no integers beyond 2^53. */
export const previewValue = (value: string | number | bigint | null) =>
  typeof value === "bigint" ? `${value}` : value;
