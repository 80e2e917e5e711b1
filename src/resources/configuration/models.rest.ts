// Models and their schedules in a configuration (docs/apply.md#models-and-schedules). Versions, packages and
// artifacts are no configuration: they are binaries, and the results of training.
import { type Static, Type } from "typebox";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import type { Page, PageQuery } from "../../query/page.ts";
import { nameField } from "../../rest/fields.ts";
import { strict } from "../../rest/strict.ts";
import { newModel, newModelOf } from "../models/models.rest.ts";
import {
  createModel,
  listModels,
  type NewModel,
  type PredictionModel,
  updateModel,
} from "../models/models.ts";
import { newSchedule, newScheduleOf } from "../models/schedules/schedules.rest.ts";
import {
  createSchedule,
  deprecateSchedule,
  listSchedules,
  type NewSchedule,
  type Schedule,
} from "../models/schedules/schedules.ts";
import { allOf, type ConfigurationKind, documentOf, type Found, oneByOne } from "./kind.ts";

export const modelDocument = strict(newModel, "ModelDocument");

const { modelId: _, ...scheduleMembers } = newSchedule.properties;
export const scheduleDocument = strict(
  Type.Object({
    ...scheduleMembers,
    model: nameField("The name of the model, whose active version predicts"),
  }),
  "ModelScheduleDocument",
);

const rights = {
  list: ["modelHostingAcl", "READ"],
  needs: [
    ["modelHostingAcl", "READ"],
    ["modelHostingAcl", "WRITE"],
  ],
} as const;

const ofModels = { name: "models", key: "name" } as const;
const ofSchedules = { name: "modelSchedules", key: "name" } as const;

export const modelKind: ConfigurationKind<Static<typeof modelDocument>, NewModel> = {
  ...{ ...ofModels, ...rights },
  wanted: (_, sent) =>
    mapInSlices(sent, (item) => {
      const value = newModelOf(item);
      return { value, document: documentOfModel(value) };
    }),
  page: async (ctx, page) => inUse(await listModels(ctx, page), documentOfModel),
  named: (ctx, names) => withNames(names, (page) => modelKind.page(ctx, page)),
  create: (ctx, wanted) => oneByOne(ofModels, wanted, (value) => createModel(ctx, value)),
  update: (ctx, changes) =>
    oneByOne(ofModels, changes, (value, index) => {
      const { id, fields } = changes[index]!;
      for (const field of fields.filter((one) => one.endsWith("Fields")))
        throw fail("field-invalid", { field, expected: "the value of its creation", got: "another one" });
      return updateModel(ctx, id, { description: value.description ?? null, metadata: value.metadata });
    }),
};

/** A schedule, whose model is known by name. */
type NamedSchedule = Omit<NewSchedule, "modelId"> & { readonly model: string };

export const scheduleKind: ConfigurationKind<Static<typeof scheduleDocument>, NamedSchedule> = {
  ...{ ...ofSchedules, ...rights },
  wanted: (ctx, sent) =>
    mapInSlices(sent, ({ model, ...item }) => {
      const { modelId: _, ...value } = newScheduleOf(ctx, { ...item, modelId: 1 });
      return { value: { ...value, model }, document: documentOfSchedule({ ...value, model }) };
    }),
  async page(ctx, page) {
    const models = await allOf((page) => listModels(ctx, page));
    const names = new Map(models.map(({ id, name }) => [id, name]));
    const found = await listSchedules(ctx, page);
    return inUse(found, (row) => documentOfSchedule({ ...row, model: names.get(row.modelId)! }));
  },
  named: (ctx, names) => withNames(names, (page) => scheduleKind.page(ctx, page)),
  create: (ctx, wanted) => oneByOne(ofSchedules, wanted, (value) => createNamed(ctx, value)),
  // A schedule never changes: another one takes its place, and its runs stay readable. With the same windows
  // it continues after the last one, because predictions of past windows must not be written over.
  update: (ctx, changes) =>
    oneByOne(ofSchedules, changes, async (value, index) => {
      const { spec, nextEnd } = await deprecateSchedule(ctx, changes[index]!.id);
      const hasSameWindows = spec.startMs === value.spec.startMs && spec.strideMs === value.spec.strideMs;
      await createNamed(ctx, value, hasSameWindows ? nextEnd : undefined);
    }),
  async remove(ctx, surplus) {
    for (const { id } of surplus) await deprecateSchedule(ctx, id);
    return undefined;
  },
};

async function createNamed(
  ctx: RequestContext,
  { model, ...value }: NamedSchedule,
  nextEnd?: number,
): Promise<void> {
  const models = await allOf((page) => listModels(ctx, page));
  const [found, other] = models.filter(({ name, isDeprecated }) => name === model && !isDeprecated);
  if (!found || other) {
    const expected = "the name of one model that is not deprecated";
    throw fail("field-invalid", { field: "model", expected, got: JSON.stringify(model) });
  }
  await createSchedule(ctx, { ...value, modelId: found.id }, nextEnd);
}

/** Without deprecated records, which stay for their history. */
const inUse = <Row extends PredictionModel | Schedule>(
  { items, ...around }: Page<Row>,
  documentIn: (row: Row) => Found["document"],
): Page<Found> => ({
  ...around,
  items: items
    .filter(({ isDeprecated }) => !isDeprecated)
    .map((row) => ({ id: row.id, document: documentIn(row) })),
});

async function withNames(
  names: readonly string[],
  page: (page: PageQuery) => Promise<Page<Found>>,
): Promise<Found[]> {
  const wanted = new Set(names);
  return (await allOf(page)).filter(({ document }) => wanted.has(document["name"] as string));
}

const documentOfModel = ({ name, description, metadata, inputFields, outputFields }: NewModel) =>
  documentOf({ name, description, metadata, inputFields, outputFields });

const documentOfSchedule = ({ name, model, description, metadata, args, sent }: NamedSchedule) =>
  documentOf({ name, model, description, metadata, args, ...sent });
