// The capability annotations of `$metadata`, for the service and each entity set
// (docs/reference/odata.md#metadata).
import { type EntityModel, type EntitySet, type EntityType, isOpenComplex, type Property } from "./model.ts";

export type AnnotationValue =
  | boolean
  | string
  | { readonly path: string; readonly of: "PropertyPath" | "NavigationPropertyPath" }
  | { readonly list: readonly AnnotationValue[] }
  | { readonly record: Readonly<Record<string, AnnotationValue>> };

export interface Annotation {
  readonly term: string;
  readonly value: AnnotationValue;
}

const capability = (name: string, value: AnnotationValue): Annotation => ({
  term: `Org.OData.Capabilities.V1.${name}`,
  value,
});

/** Marks a navigation whose entity is part of every response. */
export const autoExpand: Annotation = { term: "Org.OData.Core.V1.AutoExpand", value: true };

const levels = ["minimal", "full", "none"];

export const ofContainer: readonly Annotation[] = [
  capability("BatchSupported", false),
  capability("BatchSupport", { record: { Supported: false } }),
  capability("AsynchronousRequestsSupported", false),
  capability("CrossJoinSupported", false),
  capability("KeyAsSegmentSupported", false),
  capability("FilterFunctions", { list: ["contains", "startswith", "endswith"] }),
  capability("SupportedFormats", { list: levels.map((level) => `application/json;odata.metadata=${level}`) }),
];

export function ofSet(model: EntityModel, set: EntitySet): Annotation[] {
  const type = model.typeOf(set);
  const pathOnly = [...model.navigationsOf(type).values()].filter((one) => one.isPathOnly);
  return [
    capability("SkipSupported", false),
    capability("SortRestrictions", { record: { Sortable: false } }),
    ...(set.isCountable ? [capability("CountRestrictions", { record: { Countable: true } })] : []),
    ...filterRestrictions(type, set),
    ...(pathOnly.length > 0 ? [expandRestrictions(pathOnly.map(({ name }) => name))] : []),
    ...(set.omitsInsertRestrictions
      ? []
      : [capability("InsertRestrictions", { record: { Insertable: set.insert !== undefined } })]),
    capability("UpdateRestrictions", { record: { Updatable: false } }),
    capability("DeleteRestrictions", { record: { Deletable: false } }),
  ];
}

const expandRestrictions = (names: readonly string[]) =>
  capability("ExpandRestrictions", {
    record: {
      Expandable: true,
      NonExpandableProperties: {
        list: names.map((path) => ({ path, of: "NavigationPropertyPath" }) as const),
      },
    },
  });

function filterRestrictions(type: EntityType, set: EntitySet): Annotation[] {
  const { requiresFilter, nonFilterable = [], singleValue = [], isMultiRange } = set;
  if (!requiresFilter) return [];
  const isOther = ({ name }: Property) => !nonFilterable.includes(name) && !singleValue.includes(name);
  const ranged = isMultiRange ? type.properties.filter((one) => isOther(one) && hasRanges(one)) : [];
  const expressions = [
    ...singleValue.map((name) => expression(name, "SingleValue")),
    ...ranged.map(({ name }) => expression(name, "MultiRangeOrSearchExpression")),
  ];
  const record: Record<string, AnnotationValue> = { Filterable: true, RequiresFilter: true };
  if (nonFilterable.length > 0) record["NonFilterableProperties"] = { list: nonFilterable.map(propertyPath) };
  if (expressions.length > 0) record["FilterExpressionRestrictions"] = { list: expressions };
  return [capability("FilterRestrictions", { record })];
}

const propertyPath = (path: string) => ({ path, of: "PropertyPath" }) as const;

const expression = (name: string, allowed: string) => ({
  record: { Property: propertyPath(name), AllowedExpressions: allowed },
});

const hasRanges = ({ type, isList }: Property): boolean =>
  !isList && !isOpenComplex(type) && ["Edm.String", "Edm.DateTimeOffset", "Edm.Double"].includes(type);
