// The class of each operation in the audit log (docs/audit.md#operations). An operation without a rule does
// not compile: each capability has a kind, and each endpoint a rule or a reason for having none.
import type { FastifyRequest } from "fastify";
import type { Acl } from "../access/capabilities.ts";
import type { AuditKind } from "../audit/schema.ts";
import { prefersToJson } from "../lib/media-types.ts";
import { parseRequestUrl } from "../odata/request-url.ts";
import { effectOf, type Route } from "../rest/route.ts";

/** How an operation appears in the audit log. */
export interface AuditedAs {
  readonly kind: AuditKind;
  readonly action: string;
  readonly resource: string;
  /** Ids and names in the path. */
  readonly ids?: readonly string[];
}

/** The kind of a change that needs this capability. */
const changeKinds: Readonly<Record<Acl, AuditKind>> = {
  groupsAcl: "rights",
  usersAcl: "rights",
  securityCategoriesAcl: "rights",
  apikeysAcl: "keys",
  projectsAcl: "settings",
  auditAcl: "settings",
  // Models and transformations are code that the server runs.
  modelHostingAcl: "settings",
  transformationsAcl: "settings",
  assetsAcl: "write",
  timeSeriesAcl: "write",
  eventsAcl: "write",
  filesAcl: "write",
  sequencesAcl: "write",
  relationshipsAcl: "write",
  rawAcl: "write",
  suggestionsAcl: "write",
  trendsAcl: "write",
  connectorsAcl: "write",
  threedAcl: "write",
  analyticsAcl: "write",
};

/** Kinds of routes that their capability does not tell. */
const otherKinds: Readonly<Record<string, AuditKind>> = {
  "PUT /defaultgroup": "rights",
  "POST /restore/times/{resource}": "import",
  "POST /restore/raw/{database}/{table}": "import",
  "POST /transformations/{transformationId}/run": "write",
  "POST /transformations/{transformationId}/runs/{runId}/cancel": "write",
  "GET /files/{fileId}/downloadlink": "export",
  "GET /storage/{fileId}": "export",
  "GET /analytics/models/sourcepackages/{sourcePackageId}/code": "export",
  "GET /analytics/models/{modelId}/versions/{versionId}/artifacts/{name}": "export",
};

/** The kind of a route, whatever the format of its response. */
export function kindOf(route: Route): AuditKind {
  const { method, path, capability } = route;
  const other = otherKinds[`${method} ${path}`];
  if (other) return other;
  const effect = effectOf(route);
  if (effect === "read") return "read";
  const kind = capability === "member" ? "settings" : changeKinds[capability[0]];
  return kind === "write" && effect === "delete" ? "deletion" : kind;
}

const csvType = "text/csv";

/** The rule of a REST route. Reads as CSV are exports. */
export function ruleOf(route: Route): (request: FastifyRequest) => AuditedAs {
  const { method, path } = route;
  const kind = kindOf(route);
  const resource = path.split("/")[1] || "project";
  const action = `${method} ${path || "/"}`;
  return ({ headers, params }) => ({
    kind: kind === "read" && prefersToJson(csvType, headers.accept) && hasCsv(route) ? "export" : kind,
    action,
    resource,
    ids: valuesIn(params),
  });
}

/** Called by requests alone: making the descriptions of all responses would delay every start. */
const hasCsv = ({ versions, response }: Route): boolean =>
  versions.some((one) => response(one).otherContentTypes?.includes(csvType));

function valuesIn(params: unknown): string[] {
  const { project: _, ...values } = params as Readonly<Record<string, string>>;
  return Object.values(values);
}

/**
 * `POST odata/Raw/Tables/Rows`, with the keys in parentheses as ids. OData has no other changes. `rest` is
 * the URL after the root of the service.
 */
export function ruleOfOData({ method, params }: FastifyRequest, rest: string): AuditedAs {
  const { "*": path = "" } = params as Readonly<Record<string, string | undefined>>;
  const { sets, ids } = segmentsOf(path);
  const isExport = method !== "POST" && hasLinksToBytes(rest);
  const kind = method === "POST" ? "write" : isExport ? "export" : "read";
  return { kind, action: `${method} odata/${sets}`, resource: sets.split("/")[0] || "odata", ids };
}

/** Whether the response can have links to the bytes of files. Options have several spellings. */
function hasLinksToBytes(rest: string): boolean {
  try {
    const { decodedPath, options } = parseRequestUrl(rest);
    const isNamed = [decodedPath, ...options.values()].some((text) => /DownloadUrl|\$value/.test(text));
    return isNamed || options.get("$expand")?.includes("*") === true;
  } catch {
    return false; // The service refuses a URL that cannot be parsed.
  }
}

/** Splits off the keys in parentheses. Anyone may send the path, so it is read once, from left to right. */
export function segmentsOf(path: string): { readonly sets: string; readonly ids: readonly string[] } {
  let sets = "";
  const ids: string[] = [];
  for (let at = 0; at < path.length; ) {
    const start = path.indexOf("(", at);
    if (start < 0) return { sets: sets + path.slice(at), ids };
    sets += path.slice(at, start);
    const end = endOfKey(path, start + 1);
    const key = path.slice(start + 1, end);
    if (/^'.*'$/s.test(key)) ids.push(key.slice(1, -1).replaceAll("''", "'"));
    at = end + 1;
  }
  return { sets, ids };
}

/** The index of the parenthesis that closes a key; those in strings belong to these. */
function endOfKey(path: string, start: number): number {
  let isInString = false;
  for (let at = start; at < path.length; at++) {
    if (path[at] === "'") isInString = !isInString;
    else if (path[at] === ")" && !isInString) return at;
  }
  return path.length;
}
