// Writes `$metadata` as XML (CSDL XML 4.0).
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

type Attributes = Readonly<Record<string, string | undefined>>;

export function csdlXml(model: EntityModel): string {
  const schema = element(
    "Schema",
    { xmlns: "http://docs.oasis-open.org/odata/ns/edm", Namespace: namespace },
    [
      ...[...model.types.values()].map((type) => entityTypeXml(model, type)),
      ...model.complexTypes.map(({ name }) => element("ComplexType", { Name: name, OpenType: "true" })),
      ...functionsIn(model).map((one) => functionXml(model, one)),
      containerXml(model),
    ],
  );
  const references = ["Core", "Capabilities"].map((name) =>
    element("edmx:Reference", { Uri: `vocabularies/Org.OData.${name}.V1.xml` }, [
      element("edmx:Include", { Namespace: `Org.OData.${name}.V1` }),
    ]),
  );
  const edmx = "http://docs.oasis-open.org/odata/ns/edmx";
  const whole = element("edmx:Edmx", { "xmlns:edmx": edmx, Version: "4.0" }, [
    ...references,
    element("edmx:DataServices", {}, [schema]),
  ]);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${whole}\n`;
}

export function element(name: string, attributes: Attributes, children: readonly string[] = []): string {
  const given = Object.entries(attributes).filter(([, value]) => value !== undefined);
  const open = [name, ...given.map(([key, value]) => `${key}="${escaped(value!)}"`)].join(" ");
  if (children.length === 0) return `<${open}/>`;
  const inside = children.map((child) => child.replaceAll(/^/gm, "  ")).join("\n");
  return `<${open}>\n${inside}\n</${name}>`;
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

const isTrue = (value: boolean | undefined) => (value ? "true" : undefined);

const entityTypeName = (name: string): string => `${namespace}.${name}`;

const listOf = (type: string): string => `Collection(${type})`;

function entityTypeXml(model: EntityModel, type: EntityType): string {
  const { name, key, properties, stream } = type;
  return element("EntityType", { Name: name, OpenType: "true", HasStream: isTrue(stream !== undefined) }, [
    element("Key", {}, [element("PropertyRef", { Name: key })]),
    ...properties.filter(({ isDynamic }) => !isDynamic).map(propertyXml),
    ...[...model.navigationsOf(type).values()].map((one) => navigationXml(model, one)),
  ]);
}

function propertyXml({ name, type, isList, isRequired }: Property): string {
  return element("Property", {
    Name: name,
    Type: isList ? listOf(typeNameOf(type)) : typeNameOf(type),
    Nullable: isRequired ? "false" : undefined,
    Precision: type === "Edm.DateTimeOffset" ? "3" : undefined,
  });
}

function navigationXml(model: EntityModel, navigation: Navigation): string {
  const { name, to, isMany, isRequired, isContained, isAutoExpanded, partner, constraint } = navigation;
  const target = entityTypeName(model.sets.get(to)!.type);
  const [Property, ReferencedProperty] = constraint ?? [];
  return element(
    "NavigationProperty",
    {
      Name: name,
      Type: isMany ? listOf(target) : target,
      Nullable: isRequired ? "false" : undefined,
      Partner: partner,
      ContainsTarget: isTrue(isContained),
    },
    [
      ...(constraint ? [element("ReferentialConstraint", { Property, ReferencedProperty })] : []),
      ...(isAutoExpanded ? [annotationXml(autoExpand)] : []),
    ],
  );
}

function functionXml(model: EntityModel, { name, parameters, set, boundTo }: EntityFunction): string {
  const type = listOf(entityTypeName(model.sets.get(set)!.type));
  const binding = boundTo && {
    Name: boundTo.parameter,
    Type: entityTypeName(boundTo.type),
    Nullable: "false",
  };
  return element("Function", { Name: name, IsBound: isTrue(boundTo !== undefined) }, [
    ...(binding ? [element("Parameter", binding)] : []),
    ...parameters.map((one) =>
      element(
        "Parameter",
        {
          Name: one.name,
          Type: one.type,
          Nullable: one.isOptional ? undefined : "false",
          Precision: one.type === "Edm.DateTimeOffset" ? "3" : undefined,
        },
        one.isOptional
          ? [annotationXml({ term: "Org.OData.Core.V1.OptionalParameter", value: { record: {} } })]
          : [],
      ),
    ),
    element("ReturnType", { Type: type, Nullable: "false" }),
  ]);
}

function containerXml(model: EntityModel): string {
  return element("EntityContainer", { Name: "Container" }, [
    ...[...model.sets.values()].map((set) => setXml(model, set)),
    ...[...model.functions.values()].map(({ name, parameters, set }) =>
      element("FunctionImport", {
        Name: name,
        Function: `${namespace}.${name}`,
        EntitySet: set,
        IncludeInServiceDocument: parameters.length === 0 ? "true" : undefined,
      }),
    ),
    ...ofContainer.map(annotationXml),
  ]);
}

function setXml(model: EntityModel, set: EntitySet): string {
  const navigations = [...model.navigationsOf(model.typeOf(set)).values()];
  return element(
    "EntitySet",
    {
      Name: set.name,
      EntityType: entityTypeName(set.type),
      IncludeInServiceDocument: set.isHidden ? "false" : undefined,
    },
    [
      ...navigations
        .filter(({ isContained }) => !isContained)
        .map(({ name, to }) => element("NavigationPropertyBinding", { Path: name, Target: to })),
      ...ofSet(model, set).map(annotationXml),
    ],
  );
}

function annotationXml({ term, value }: Annotation): string {
  const [attributes, children] = valueXml(value);
  return element("Annotation", { Term: term, ...attributes }, children);
}

/** A value as attributes of the element, or as child elements. */
function valueXml(value: AnnotationValue): [Attributes, string[]] {
  if (typeof value === "boolean") return [{ Bool: String(value) }, []];
  if (typeof value === "string") return [{ String: value }, []];
  if ("path" in value) return [{ [value.of]: value.path }, []];
  if ("list" in value) return [{}, [element("Collection", {}, value.list.map(itemXml))]];
  const members = Object.entries(value.record).map(([Property, one]) => {
    const [attributes, children] = valueXml(one);
    return element("PropertyValue", { Property, ...attributes }, children);
  });
  return [{}, [element("Record", {}, members)]];
}

function itemXml(value: AnnotationValue): string {
  if (typeof value === "string") return `<String>${escaped(value)}</String>`;
  if (typeof value === "object" && "path" in value)
    return `<${value.of}>${escaped(value.path)}</${value.of}>`;
  return valueXml(value)[1].join("\n");
}
