// Transformations in a configuration (docs/apply.md#transformations).
import { type Static, Type } from "typebox";
import { everything, oneOf } from "../../query/filter.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import { strict } from "../../rest/strict.ts";
import { newTransformation, newTransformationOf } from "../transformations/schemas.rest.ts";
import {
  cancelRuns,
  createTransformations,
  listTransformations,
  removeTransformations,
  type Transformation,
  type TransformationInput,
  updateTransformations,
} from "../transformations/transformations.ts";
import { allOf, type ConfigurationKind, documentOf, naming } from "./kind.ts";

/** Without the webhook: it has a secret, which belongs into no file. */
const { webhook: _, ...members } = newTransformation.properties;
export const transformationDocument = strict(Type.Object(members), "TransformationDocument");

const named = { name: "transformations", key: "externalId" } as const;

export const transformationKind: ConfigurationKind<
  Static<typeof transformationDocument>,
  TransformationInput
> = {
  ...named,
  list: ["transformationsAcl", "READ"],
  needs: [
    ["transformationsAcl", "READ"],
    ["transformationsAcl", "WRITE"],
  ],
  wanted: (_, sent) =>
    mapInSlices(sent, (item, index) => {
      const value = newTransformationOf(item, index);
      return { value, document: documentIn(value) };
    }),
  page: async (ctx, page) => {
    const { items, ...around } = await listTransformations(ctx, { filter: everything, page });
    return { ...around, items: items.map(found) };
  },
  named: async (ctx, names) => {
    const filter = oneOf("externalId", names);
    return (await allOf((page) => listTransformations(ctx, { filter, page }))).map(found);
  },
  create: async (ctx, wanted) => {
    const documents = wanted.map(({ document }) => document);
    const values = wanted.map(({ value }) => value);
    await naming(named, documents, () => createTransformations(ctx, values));
  },
  async update(ctx, wanted) {
    const documents = wanted.map(({ document }) => document);
    const changes = wanted.map(({ id, value }) => ({ id, ...value, schedule: value.schedule ?? null }));
    await naming(named, documents, () => updateTransformations(ctx, changes));
  },
  async remove(ctx, surplus) {
    const runs = await removeTransformations(
      ctx,
      surplus.map(({ id }) => id),
    );
    return () => cancelRuns(ctx, runs);
  },
};

const found = (row: Transformation) => ({ id: row.id, document: documentIn(row) });

const documentIn = (one: Omit<TransformationInput, "webhook">) =>
  documentOf({
    externalId: one.externalId,
    name: one.name,
    destination: one.destination,
    action: one.action,
    nulls: one.nulls === "keep" ? undefined : one.nulls,
    onError: one.onError === "stop" ? undefined : one.onError,
    schedule: one.schedule,
    query: one.query,
  });
