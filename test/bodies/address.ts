// Addresses of routes, with parameters that name records of the project of `project.ts`.
import type { Route } from "../../src/rest/route.ts";
import type { Ids } from "./project.ts";
import { kindOfRoute, type Schema } from "./sample.ts";

const names: Readonly<Record<string, string>> = {
  ...{ name: "series 3", series: "series 3", database: "database", table: "table", key: "row 1" },
  ...{ resource: "assets", externalId: "relationship 1" },
};

const requiredQuery: Readonly<Record<string, string>> = {
  ...{ divisions: "1000", timestamp: "1704067200000" },
  ...{ timestampInclusiveBegin: "0", timestampExclusiveEnd: "5" },
};

/** The path of a route below the project, with the query that it requires; `at` chooses the record. */
export function addressOf({ path, parameters, query }: Route, ids: Ids, at = 0): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if ((parameters[name]!.schema as Schema).type !== "integer") return encodeURIComponent(names[name]!);
    const kind = kindOfRoute(name === "typeId" ? "/assets/types" : path.split("/{")[0]!);
    return `${kind ? (ids[kind].at(at) ?? 1) : 1}`;
  });
  const required = Object.entries(query).filter(([, parameter]) => parameter.required);
  return `${filled}?${required.map(([name]) => `${name}=${requiredQuery[name] ?? "1"}`).join("&")}`;
}
