// Describes the found variables: type, unit, names of an enumeration, description.
import type { WayOfIntegers } from "../integers.ts";
import type { SeriesDescription } from "../records.ts";
import { browseAll, type FoundVariable } from "./browse.ts";
import type { OpcUaSettings } from "./configuration.ts";
import type { DataValue, NodeId } from "./library.ts";
import { stableId } from "./node-ids.ts";
import type { PlantSession } from "./session.ts";
import { isAnyType, kindOfType, type PlainKind } from "./values.ts";

export interface Variable extends FoundVariable {
  readonly kind: PlainKind;
  /** Of the values of an enumeration. */
  readonly names: ReadonlyMap<number, string>;
  readonly hasHistory: boolean;
  readonly series: SeriesDescription;
}

const attributes = { description: 5, value: 13, dataType: 14, valueRank: 15, userAccess: 18 } as const;
const scalar = -1;
const historyReadBit = 4;
const hasSubtype = "i=45";
const hasProperty = "i=46";
const typeDepthMax = 32;

/** Described variables that are a number or a string, and how many others there are. */
export async function describeVariables(
  plant: PlantSession,
  found: readonly FoundVariable[],
  { browse, integers64 }: Pick<OpcUaSettings, "browse" | "integers64">,
): Promise<{ variables: Variable[]; others: number }> {
  const names = seriesNames(found, browse.name);
  const types = new TypeReader(plant, integers64);
  const variables: Variable[] = [];
  const step = Math.max(1, Math.floor(plant.perRequest.read / Object.keys(attributes).length));
  for (let at = 0; at < found.length; at += step) {
    const some = found.slice(at, at + step);
    const read = await readAttributes(plant, some);
    const units = await readProperty(plant, some, "EngineeringUnits");
    const labels = await enumLabels(plant, some);
    for (const [i, one] of some.entries()) {
      const { dataType, value, valueRank, userAccess, description } = read[i]!;
      const type = await types.read(dataType?.value?.value as NodeId | undefined, value!);
      if (!type || Number(valueRank?.value?.value ?? scalar) >= 0) continue;
      const kind = labels[i] ? "enum" : type.kind;
      variables.push({
        ...{ ...one, kind, names: labels[i] ?? type.names },
        hasHistory: (Number(userAccess?.value?.value ?? 0) & historyReadBit) !== 0,
        series: seriesOf(one, {
          ...{ name: names[i + at]!, kind, unit: textIn(units[i]?.displayName) },
          ...{ description: textIn(description?.value?.value), dataType: type.name },
        }),
      });
    }
  }
  return { variables, others: found.length - variables.length };
}

/** Variables with the same path have their id in the name, so that each has a series of its own. */
function seriesNames(found: readonly FoundVariable[], by: "path" | "id"): string[] {
  if (by === "id") return found.map(({ id }) => id);
  const paths = found.map(({ path }) => path.join("/"));
  const counts = new Map<string, number>();
  for (const path of paths) counts.set(path, (counts.get(path) ?? 0) + 1);
  return paths.map((path, i) => (counts.get(path) === 1 ? path : `${path} (${found[i]!.id})`));
}

interface Described {
  readonly name: string;
  readonly kind: PlainKind;
  readonly unit: string | undefined;
  readonly description: string | undefined;
  readonly dataType: string;
}

const seriesOf = (
  { id, path }: FoundVariable,
  { name, kind, unit, description, dataType }: Described,
): SeriesDescription => ({
  name,
  ...((kind === "string" || kind === "enum" || kind === "digits") && { isString: true }),
  ...(kind === "boolean" && { isStep: true }),
  ...(unit && { unit }),
  ...(description && { description }),
  metadata: { nodeId: id, dataType },
  assetPath: path.slice(0, -1),
});

type Attributes = Partial<Record<keyof typeof attributes, DataValue>>;

async function readAttributes(plant: PlantSession, some: readonly FoundVariable[]): Promise<Attributes[]> {
  const entries = Object.entries(attributes);
  const values = await plant.session.read(
    some.flatMap(({ nodeId }) => entries.map(([, attributeId]) => ({ nodeId, attributeId }))),
  );
  return some.map((_, i) =>
    Object.fromEntries(entries.map(([name], j) => [name, values[i * entries.length + j]])),
  );
}

/** The values of the property by variable; undefined without it. */
async function readProperty(
  plant: PlantSession,
  some: readonly { readonly properties: ReadonlyMap<string, NodeId> }[],
  name: string,
): Promise<(Readonly<Record<string, unknown>> | undefined)[]> {
  const nodes = some.flatMap(({ properties }, i) => {
    const nodeId = properties.get(name);
    return nodeId ? [{ i, nodeId }] : [];
  });
  const found: (Readonly<Record<string, unknown>> | undefined)[] = some.map(() => undefined);
  if (nodes.length === 0) return found;
  const reads = nodes.map(({ nodeId }) => ({ nodeId, attributeId: attributes.value }));
  const values = await plant.session.read(reads);
  for (const [j, { i }] of nodes.entries())
    found[i] = values[j]?.value?.value as Readonly<Record<string, unknown>> | undefined;
  return found;
}

/** The names of values, from the properties EnumStrings and EnumValues. */
async function enumLabels(
  plant: PlantSession,
  some: readonly { readonly properties: ReadonlyMap<string, NodeId> }[],
): Promise<(ReadonlyMap<number, string> | undefined)[]> {
  const strings = await readProperty(plant, some, "EnumStrings");
  const values = await readProperty(plant, some, "EnumValues");
  return some.map((_, i) => {
    if (Array.isArray(strings[i])) return new Map(strings[i].map((one, n) => [n, textIn(one) ?? String(n)]));
    if (!Array.isArray(values[i])) return undefined;
    const pairs = values[i] as { value: number | [number, number]; displayName: unknown }[];
    return new Map(
      pairs.map(({ value, displayName }) => {
        const number = Array.isArray(value) ? value[1] : value;
        return [number, textIn(displayName) ?? String(number)];
      }),
    );
  });
}

interface DataType {
  readonly kind: PlainKind;
  readonly name: string;
  readonly names: ReadonlyMap<number, string>;
}

/** Finds the built-in type of a data type over its supertypes. */
class TypeReader {
  readonly #plant: PlantSession;
  readonly #integers64: WayOfIntegers;
  readonly #types = new Map<string, Promise<DataType | "any" | undefined>>();

  constructor(plant: PlantSession, integers64: WayOfIntegers) {
    this.#plant = plant;
    this.#integers64 = integers64;
  }

  async read(type: NodeId | undefined, value: DataValue): Promise<DataType | undefined> {
    if (!type) return undefined;
    const id = stableId(type, this.#plant.namespaces);
    const known = this.#types.get(id) ?? this.#resolve(type, id);
    this.#types.set(id, known);
    const found = await known;
    if (found !== "any") return found;
    const kind = kindOfType(value.value?.dataType ?? 0, this.#integers64);
    return kind && { kind, name: id, names: new Map() };
  }

  async #resolve(type: NodeId, id: string): Promise<DataType | "any" | undefined> {
    let current = type;
    for (let depth = 0; depth < typeDepthMax; depth += 1) {
      const number = current.namespace === 0 ? Number(current.value) : Number.NaN;
      if (isAnyType(number)) return current === type ? "any" : undefined;
      const kind = kindOfType(number, this.#integers64);
      if (kind) return { kind, name: id, names: kind === "enum" ? await this.#names(type) : new Map() };
      const parents = await browseAll(this.#plant, [current], {
        ...{ referenceTypeId: hasSubtype, browseDirection: 1 },
      });
      const parent = parents[0]?.[0];
      if (!parent) return undefined;
      current = parent.nodeId;
    }
    return undefined;
  }

  async #names(type: NodeId): Promise<ReadonlyMap<number, string>> {
    const [found = []] = await browseAll(this.#plant, [type], {
      ...{ referenceTypeId: hasProperty, browseDirection: 0 },
    });
    const properties = new Map(found.map(({ browseName, nodeId }) => [browseName.name ?? "", nodeId]));
    const [labels] = await enumLabels(this.#plant, [{ properties }]);
    return labels ?? new Map();
  }
}

function textIn(value: unknown): string | undefined {
  if (typeof value === "string") return value || undefined;
  const { text } = (value ?? {}) as { text?: unknown };
  return typeof text === "string" && text !== "" ? text : undefined;
}
