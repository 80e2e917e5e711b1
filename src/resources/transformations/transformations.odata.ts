// Transformations over OData: the set Transformations.
import { type EntityModelPart, entitySet, entityType } from "../../odata/model.ts";
import { column } from "../../odata/operand.ts";
import { id, required, text, time } from "../../odata/property.ts";
import { countTransformations, listTransformations, type Transformation } from "./transformations.ts";

const transformation = entityType<Transformation>({
  name: "Transformation",
  key: "Id",
  properties: [
    required(id("Id", (row) => row.id, "id")),
    required(text("ExternalId", (row) => row.externalId, column("externalId"))),
    required(text("Name", (row) => row.name, column("name"))),
    required(text("Query", (row) => row.query, column("query"))),
    required(text("Action", (row) => row.action, column("action"))),
    required(text("Nulls", (row) => row.nulls, column("nulls"))),
    required(text("OnError", (row) => row.onError, column("onError"))),
    required(text("Owner", (row) => row.owner, column("owner"))),
    required(time("CreatedTime", (row) => row.createdTime, "createdTime")),
    required(time("LastUpdatedTime", (row) => row.lastUpdatedTime, "lastUpdatedTime")),
  ],
});

const transformations = entitySet<Transformation>({
  name: "Transformations",
  type: "Transformation",
  isCountable: true,
  read: listTransformations,
  count: countTransformations,
  position: (row) => [row.id],
});

export const transformationModel: EntityModelPart = { types: [transformation], sets: [transformations] };
