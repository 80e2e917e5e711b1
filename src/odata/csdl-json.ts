// Writes `$metadata` as JSON (CSDL JSON 4.01, which services of version 4.0 may also offer).
import { type Annotation, type AnnotationValue, autoExpand, ofContainer, ofSet } from "./annotations.ts";
import {
  type EntityFunction,
  type EntityModel,
  type EntitySet,
  type EntityType,
  functionsIn,
  type Navigation,
  namespace,
  type Property,
  typeNameOf,
} from "./model.ts";

type Json = Readonly<Record<string, unknown>>;

/** The whole document. In CSDL JSON, unlike XML, a type is not nullable unless it says so. */
export function csdlJson(model: EntityModel): Json {
  const types = [...model.types.values()].map((type) => [type.name, entityTypeJson(model, type)]);
  const opens = model.complexTypes.map(({ name }) => [name, { $Kind: "ComplexType", $OpenType: true }]);
  const functions = functionsIn(model).map((one) => [one.name, [functionJson(model, one)]]);
  return {
    $Version: "4.0",
    $EntityContainer: `${namespace}.Container`,
    $Reference: Object.fromEntries(["Core", "Capabilities"].map(referenceOf)),
    [namespace]: Object.fromEntries([...types, ...opens, ...functions, ["Container", containerJson(model)]]),
  };
}

const entityTypeName = (name: string): string => `${namespace}.${name}`;

const referenceOf = (name: string) => [
  `vocabularies/Org.OData.${name}.V1.xml`,
  { $Include: [{ $Namespace: `Org.OData.${name}.V1` }] },
];

/** CSDL JSON omits the type of strings. */
const typed = (type: string): Json => (type === "Edm.String" ? {} : { $Type: type });

function entityTypeJson(model: EntityModel, type: EntityType): Json {
  const properties = type.properties.filter(({ isDynamic }) => !isDynamic);
  const navigations = [...model.navigationsOf(type).values()];
  return {
    $Kind: "EntityType",
    $OpenType: true,
    ...(type.stream && { $HasStream: true }),
    $Key: [type.key],
    ...Object.fromEntries(properties.map((one) => [one.name, propertyJson(one)])),
    ...Object.fromEntries(navigations.map((one) => [one.name, navigationJson(model, one)])),
  };
}

const propertyJson = ({ type, isList, isRequired }: Property): Json => ({
  ...typed(typeNameOf(type)),
  ...(isList && { $Collection: true }),
  ...(!isRequired && { $Nullable: true }),
  ...(type === "Edm.DateTimeOffset" && { $Precision: 3 }),
});

function navigationJson(model: EntityModel, navigation: Navigation): Json {
  const { to, isMany, isRequired, isContained, isAutoExpanded, partner, constraint } = navigation;
  return {
    $Kind: "NavigationProperty",
    ...(isMany && { $Collection: true }),
    ...typed(entityTypeName(model.sets.get(to)!.type)),
    ...(!isMany && !isRequired && { $Nullable: true }),
    ...(partner && { $Partner: partner }),
    ...(isContained && { $ContainsTarget: true }),
    ...(constraint && { $ReferentialConstraint: { [constraint[0]]: constraint[1] } }),
    ...(isAutoExpanded && annotationsJson([autoExpand])),
  };
}

function functionJson(model: EntityModel, { parameters, set, boundTo }: EntityFunction): Json {
  const binding = boundTo && { $Name: boundTo.parameter, ...typed(entityTypeName(boundTo.type)) };
  const all = [...(binding ? [binding] : []), ...parameters.map(parameterJson)];
  return {
    $Kind: "Function",
    ...(boundTo && { $IsBound: true }),
    ...(all.length > 0 && { $Parameter: all }),
    $ReturnType: { $Collection: true, ...typed(entityTypeName(model.sets.get(set)!.type)) },
  };
}

const parameterJson = ({ name, type, isOptional }: EntityFunction["parameters"][number]): Json => ({
  $Name: name,
  ...typed(type),
  ...(isOptional && { $Nullable: true, "@Org.OData.Core.V1.OptionalParameter": {} }),
  ...(type === "Edm.DateTimeOffset" && { $Precision: 3 }),
});

function containerJson(model: EntityModel): Json {
  const sets = [...model.sets.values()].map((set) => [set.name, setJson(model, set)]);
  const imports = [...model.functions.values()].map(({ name, set, parameters }) => [
    name,
    {
      $Function: `${namespace}.${name}`,
      $EntitySet: set,
      ...(parameters.length === 0 && { $IncludeInServiceDocument: true }),
    },
  ]);
  return {
    $Kind: "EntityContainer",
    ...Object.fromEntries([...sets, ...imports]),
    ...annotationsJson(ofContainer),
  };
}

function setJson(model: EntityModel, set: EntitySet): Json {
  const navigations = [...model.navigationsOf(model.typeOf(set)).values()].filter((one) => !one.isContained);
  const bindings = Object.fromEntries(navigations.map(({ name, to }) => [name, to]));
  return {
    $Collection: true,
    $Type: entityTypeName(set.type),
    ...(set.isHidden && { $IncludeInServiceDocument: false }),
    ...(navigations.length > 0 && { $NavigationPropertyBinding: bindings }),
    ...annotationsJson(ofSet(model, set)),
  };
}

const annotationsJson = (all: readonly Annotation[]): Json =>
  Object.fromEntries(all.map(({ term, value }) => [`@${term}`, valueJson(value)]));

function valueJson(value: AnnotationValue): unknown {
  if (typeof value !== "object") return value;
  if ("path" in value) return value.path;
  if ("list" in value) return value.list.map(valueJson);
  return Object.fromEntries(Object.entries(value.record).map(([name, one]) => [name, valueJson(one)]));
}
