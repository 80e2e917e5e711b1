// Walks the address space of a server and finds its variables.
import { limits } from "../../limits.ts";
import type { OpcUaSettings } from "./configuration.ts";
import type { BrowseResult, NodeId, Reference } from "./library.ts";
import { nodeIdOf, stableId } from "./node-ids.ts";
import { pathMatcher } from "./patterns.ts";
import type { PlantSession } from "./session.ts";

export interface FoundVariable {
  readonly nodeId: NodeId;
  /** With the URI of its namespace. */
  readonly id: string;
  /** The browse names below the root, its own last. */
  readonly path: readonly string[];
  /** Its properties, such as `EngineeringUnits`, by browse name. */
  readonly properties: Map<string, NodeId>;
}

interface Visit {
  readonly nodeId: NodeId;
  readonly path: readonly string[];
  readonly variable?: FoundVariable;
}

const nodeClasses = { variable: 2, objectOrVariable: 3 } as const;
const references = { hierarchical: "i=33", hasProperty: "i=46" } as const;
/** The object with the server's own state, which is no data of the plant. */
const serverObject = "i=2253";
const propertyType = "i=68";
const allFields = 63;

/** All variables below the roots that are included and not excluded. */
export async function findVariables(
  plant: PlantSession,
  browse: OpcUaSettings["browse"],
): Promise<FoundVariable[]> {
  const isIncluded = pathMatcher(browse.include);
  const isExcluded = pathMatcher(browse.exclude);
  const seen = new Set<string>([serverObject]);
  const found: FoundVariable[] = [];
  let visits: Visit[] = browse.roots.map((root) => ({
    nodeId: nodeIdOf(root, plant.namespaces, plant.library),
    path: [],
  }));
  const childOf = ({ path, variable }: Visit, reference: Reference): Visit | undefined => {
    const name = reference.browseName.name ?? "";
    if (isProperty(reference)) {
      variable?.properties.set(name, reference.nodeId);
      return undefined;
    }
    const id = stableId(reference.nodeId, plant.namespaces);
    const ownPath = [...path, name];
    const text = ownPath.join("/");
    if (seen.has(id) || isExcluded(text)) return undefined;
    seen.add(id);
    if (seen.size > limits.connectorOpcUaNodesMax)
      throw new Error(
        `The server has more than ${limits.connectorOpcUaNodesMax} nodes: narrow source.browse`,
      );
    const { nodeId } = reference;
    if (reference.nodeClass !== nodeClasses.variable) return { nodeId, path: ownPath };
    const child = { nodeId, id, path: ownPath, properties: new Map<string, NodeId>() };
    if (isIncluded(text)) found.push(child);
    return { nodeId, path: ownPath, variable: child };
  };
  while (visits.length > 0) {
    const next: Visit[] = [];
    for (let at = 0; at < visits.length; at += plant.perRequest.browse) {
      const some = visits.slice(at, at + plant.perRequest.browse);
      const children = await childrenOf(
        plant,
        some.map(({ nodeId }) => nodeId),
      );
      for (const [i, visit] of some.entries())
        next.push(...children[i]!.map((one) => childOf(visit, one)).filter((one) => one !== undefined));
    }
    visits = next;
  }
  return found;
}

const isProperty = ({ referenceTypeId, typeDefinition }: Reference): boolean =>
  stableId(referenceTypeId, []) === references.hasProperty || stableId(typeDefinition, []) === propertyType;

const childrenOf = (plant: PlantSession, nodes: readonly NodeId[]): Promise<Reference[][]> =>
  browseAll(plant, nodes, { referenceTypeId: references.hierarchical, browseDirection: 0 });

/** The references of each node, over all continuation points. */
export async function browseAll(
  plant: PlantSession,
  nodes: readonly NodeId[],
  options: { readonly referenceTypeId: string; readonly browseDirection: 0 | 1 },
): Promise<Reference[][]> {
  const requests = nodes.map((nodeId) => ({
    ...{ nodeId, browseDirection: options.browseDirection, includeSubtypes: true },
    referenceTypeId: plant.library.coerceNodeId(options.referenceTypeId),
    ...{ nodeClassMask: options.browseDirection === 0 ? nodeClasses.objectOrVariable : 0 },
    resultMask: allFields,
  }));
  const results = await plant.session.browse(requests);
  const found = results.map(({ references: first }) => [...(first ?? [])]);
  let open = withMore(results, [...results.keys()]);
  while (open.length > 0) {
    const more = await plant.session.browseNext(
      open.map(({ point }) => point),
      false,
    );
    for (const [i, { references: some }] of more.entries()) found[open[i]!.index]!.push(...(some ?? []));
    open = withMore(
      more,
      open.map(({ index }) => index),
    );
  }
  return found;
}

const withMore = (results: readonly BrowseResult[], indices: readonly number[]) =>
  results.flatMap(({ continuationPoint: point }, i) =>
    point && point.length > 0 ? [{ point, index: indices[i]! }] : [],
  );
