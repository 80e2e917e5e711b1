// Schedules of models over REST (docs/models.md#schedules), and the list of their runs.
import { type Static, Type } from "typebox";
import type { RequestContext } from "../../../context.ts";
import { emptyResponse, emptySchema } from "../../../rest/envelope.ts";
import { idField } from "../../../rest/fields.ts";
import { id } from "../../../rest/parameters.ts";
import { type Route, route } from "../../../rest/route.ts";
import {
  body,
  describedJson,
  describedMembers,
  describedOf,
  jsonObject,
  listing,
  newDescribed,
  nothing,
  orNull,
  read,
  recordResponse,
  recordSchema,
  write,
} from "../schemas.rest.ts";
import { dataSpecs, specIn } from "./data-spec.rest.ts";
import {
  createSchedule,
  deleteSchedule,
  deprecateSchedule,
  getSchedule,
  listRuns,
  listSchedules,
  type Schedule,
  type ScheduleRun,
} from "./schedules.ts";
import { runStates } from "./schema.ts";

export const newSchedule = Type.Object(
  {
    ...newDescribed,
    modelId: idField("The model, whose active version predicts"),
    args: Type.Optional(orNull(jsonObject("Further arguments of `predict`, by name"))),
    ...dataSpecs,
  },
  { title: "NewModelSchedule" },
);

const sentJson = orNull(Type.Unsafe({ type: "object", additionalProperties: true }));

const scheduleSchema = Type.Object(
  {
    ...describedMembers,
    modelId: Type.Integer(),
    args: Type.Unsafe({ type: "object", additionalProperties: true }),
    dataSpec: sentJson,
    inputDataSpec: Type.Optional(sentJson),
    outputDataSpec: Type.Optional(sentJson),
  },
  { title: "ModelSchedule" },
);

const scheduleJson = (schedule: Schedule) => ({
  ...describedJson(schedule),
  ...{ modelId: schedule.modelId, args: schedule.args, dataSpec: null },
  ...schedule.sent,
});

const runSchema = Type.Object(
  {
    id: Type.Integer(),
    scheduleId: Type.Integer(),
    windowStart: Type.Integer(),
    windowEnd: Type.Integer(),
    status: Type.Enum([...runStates]),
    errorMsg: orNull(Type.String({ description: "Why it FAILED or was SKIPPED" })),
    startedTime: Type.Integer(),
    completedTime: orNull(Type.Integer()),
    datapoints: orNull(Type.Integer({ description: "The number of written datapoints" })),
  },
  { title: "ModelScheduleRun" },
);

const runJson = ({ problem, endedTime, points, owner: _, ...run }: ScheduleRun) => ({
  ...run,
  ...{ errorMsg: problem ?? null, completedTime: endedTime ?? null, datapoints: points ?? null },
});

const scheduleResponse = () => ({ schema: recordSchema(scheduleSchema) });
const toResponse = (schedule: Schedule) => recordResponse(scheduleJson(schedule));
const parameters = { scheduleId: id("The schedule") };
const place = "/analytics/models/schedules";
const one = `${place}/{scheduleId}`;

export const scheduleRoutes: readonly Route[] = [
  route({
    ...{ ...write, method: "POST", path: place, response: scheduleResponse },
    summary: "Create a schedule, on which a model predicts and writes time series",
    body: body(newSchedule),
    handle: async (ctx, { body }) => toResponse(await createSchedule(ctx, newScheduleOf(ctx, body))),
  }),
  listing({
    path: place,
    summary: "List schedules, oldest first",
    parameters: {},
    item: scheduleSchema,
    list: listSchedules,
    toJson: scheduleJson,
  }),
  route({
    ...{ ...read, method: "GET", path: one, parameters, response: scheduleResponse },
    summary: "Read a schedule",
    handle: async (ctx, { path }) => toResponse(await getSchedule(ctx, path.scheduleId)),
  }),
  listing({
    path: `${one}/runs`,
    summary: "List the runs of a schedule, latest first",
    parameters,
    item: runSchema,
    list: (ctx, page, path) => listRuns(ctx, path.scheduleId, page),
    toJson: runJson,
  }),
  route({
    ...{ ...write, method: "PUT", path: `${one}/deprecate`, parameters, response: scheduleResponse },
    summary: "Deprecate a schedule: it runs no further windows",
    body: nothing,
    handle: async (ctx, { path }) => toResponse(await deprecateSchedule(ctx, path.scheduleId)),
  }),
  route({
    ...{ ...write, method: "DELETE", path: one, parameters, response: () => ({ schema: emptySchema }) },
    summary: "Delete a schedule and its runs",
    handle: async (ctx, { path }) => {
      await deleteSchedule(ctx, path.scheduleId);
      return emptyResponse;
    },
  }),
];

export function newScheduleOf(ctx: RequestContext, body: Static<typeof newSchedule>) {
  const { dataSpec, inputDataSpec, outputDataSpec } = body;
  const sent = {
    ...(dataSpec && { dataSpec }),
    ...(inputDataSpec && { inputDataSpec }),
    ...(outputDataSpec && { outputDataSpec }),
  };
  const spec = specIn(ctx, body);
  return { ...describedOf(body), modelId: body.modelId, args: body.args ?? {}, sent, spec };
}
