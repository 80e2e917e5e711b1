// Ids of nodes with the URI of their namespace, because a server may number its namespaces otherwise after a
// restart.
import type { Library, NodeId } from "./library.ts";

export type Namespaces = readonly string[];

/** `nsu=<URI>;s=<id>`; of the namespace 0 `i=85`. */
export function stableId(nodeId: NodeId, namespaces: Namespaces): string {
  const text = nodeId.toString();
  const identifier = text.slice(text.indexOf(";") + 1);
  return nodeId.namespace === 0
    ? identifier
    : `nsu=${namespaces[nodeId.namespace] ?? nodeId.namespace};${identifier}`;
}

/** Throws for a namespace that the server does not have. */
export function nodeIdOf(id: string, namespaces: Namespaces, library: Library): NodeId {
  const [, uri, identifier] = /^nsu=(.*);([isgb]=.*)$/.exec(id) ?? [];
  if (uri === undefined) return library.coerceNodeId(id);
  const index = namespaces.indexOf(uri);
  if (index < 0) throw new Error(`The server has no namespace ${uri}`);
  return library.coerceNodeId(`ns=${index};${identifier}`);
}
