// Resolves the parents of new assets, and computes their paths and depths. Pure functions.
import { fail } from "../../errors.ts";
import { invariant } from "../../lib/invariant.ts";
import { limits } from "../../limits.ts";

/** How a new asset names its parent: the first of `parentRefId`, `parentName` and `parentId` counts. */
export interface ParentReferences {
  readonly name: string;
  readonly refId?: string;
  readonly parentRefId?: string;
  readonly parentName?: string;
  readonly parentId?: number;
}

/** Another item of the request, an existing asset by id or name, or no parent. */
export type ResolvedParent =
  | { readonly item: number }
  | { readonly id: number }
  | { readonly name: string }
  | undefined;

/**
 * Resolves the parent of each item; the parent may come later in the list
 * (docs/reference/assets.md#creating-assets). Refuses a `refId` used twice, a `parentRefId` that no item
 * has, and a `parentName` that several other items have.
 */
export function resolveParents(items: readonly ParentReferences[]): ResolvedParent[] {
  const refIds = new Map<string, number>();
  for (const [index, { refId }] of items.entries()) {
    if (refId !== undefined && refIds.has(refId)) throw repeatedRefId(index, refId);
    if (refId !== undefined) refIds.set(refId, index);
  }
  const parentNames = new Set(items.map(({ parentName }) => parentName));
  const possibleParents = [...items.keys()].filter((index) => parentNames.has(items[index]!.name));
  const named = Map.groupBy(possibleParents, (index) => items[index]!.name);
  return items.map(({ parentRefId, parentName, parentId }, index) => {
    if (parentRefId !== undefined) return { item: itemWith(refIds, parentRefId, index) };
    if (parentName === undefined) return parentId === undefined ? undefined : { id: parentId };
    const others = named.get(parentName)?.filter((other) => other !== index) ?? [];
    if (others.length > 1) throw ambiguousParent(index, parentName);
    return others.length === 1 ? { item: others[0]! } : { name: parentName };
  });
}

const repeatedRefId = (index: number, refId: string) =>
  fail("field-invalid", {
    field: `items[${index}].refId`,
    expected: "a refId that no other item has",
    got: JSON.stringify(refId),
  });

function itemWith(refIds: ReadonlyMap<string, number>, parentRefId: string, index: number): number {
  const found = refIds.get(parentRefId);
  if (found !== undefined) return found;
  throw fail("field-invalid", {
    field: `items[${index}].parentRefId`,
    expected: "the refId of an item of this request",
    got: JSON.stringify(parentRefId),
  });
}

/** The error for a `parentName` that no asset or several assets have. */
export const ambiguousParent = (index: number, parentName: string) =>
  fail("field-invalid", {
    field: `items[${index}].parentName`,
    expected: "the name of exactly one asset",
    got: JSON.stringify(parentName),
  });

export interface Node {
  readonly id: number;
  readonly name: string;
  readonly parentId?: number;
}

export interface TreePosition {
  readonly path: string;
  readonly depth: number;
}

/**
 * Computes the positions of nodes, whose parents are other nodes or are in `outside`. Refuses cycles and
 * trees that are too deep.
 */
export function treePositions(
  nodes: readonly Node[],
  outside: ReadonlyMap<number, TreePosition>,
): Map<number, TreePosition> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const positions = new Map<number, TreePosition>();
  for (const node of nodes) {
    for (const one of withoutPosition(node, byId, positions).reverse()) {
      const parentId = one.parentId;
      const parent = parentId === undefined ? undefined : (positions.get(parentId) ?? outside.get(parentId));
      invariant(
        parent !== undefined || parentId === undefined,
        "a parent is another node or among those outside",
      );
      positions.set(one.id, positionBelow(parent, one));
    }
  }
  return positions;
}

/** The node and its ancestors without a position, starting with the node. */
function withoutPosition(
  start: Node,
  byId: ReadonlyMap<number, Node>,
  positions: ReadonlyMap<number, TreePosition>,
): Node[] {
  const chain = new Set<Node>();
  let node: Node | undefined = start;
  while (node && !positions.has(node.id)) {
    if (chain.has(node)) throw fail("asset-circle", { names: cycleFrom([...chain], node) });
    chain.add(node);
    node = node.parentId === undefined ? undefined : byId.get(node.parentId);
  }
  return [...chain];
}

const cycleFrom = (chain: readonly Node[], again: Node) =>
  [...chain.slice(chain.indexOf(again)), again].map((node) => node.name);

function positionBelow(parent: TreePosition | undefined, node: Node): TreePosition {
  const depth = parent ? parent.depth + 1 : 0;
  if (depth > limits.assetDepthMax)
    throw fail("asset-too-deep", { name: node.name, limit: limits.assetDepthMax });
  return { path: `${parent?.path ?? "/"}${node.id}/`, depth };
}
