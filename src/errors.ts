// The catalogue of failures: every refusal a caller can get, with its status, its text and its extra members.
//
// docs/ERRORS.md is generated from this list. Our own faults are not here: they are invariants.

import { accessFailures } from "./errors/access.ts";
import { type Entry, entry, firstOf, type Members } from "./errors/entry.ts";
import { odataFailures } from "./errors/odata.ts";

export const catalogue = {
  ...accessFailures,
  "no-such-route": entry<{ method: string; path: string }>({
    status: 404,
    when: "No operation has this path.",
    message: ({ method, path }) => `There is no operation ${method} ${path}; see /api/0.5/openapi.json`,
  }),
  "method-not-allowed": entry<{ method: string; path: string; allowed: readonly string[] }>({
    status: 405,
    when: "The path exists, but not for this method; the header `Allow` lists those that do.",
    message: ({ method, path, allowed }) =>
      `${method} is not supported by ${path}; use ${allowed.join(", ")}`,
  }),
  "body-too-large": entry<{ limit: number; what: "sent" | "unpacked" }>({
    status: 413,
    when: "The body is larger than the limit, as sent or after inflation.",
    message: ({ limit, what }) => `The body as ${what} is larger than ${limit} bytes`,
  }),
  "encoding-unknown": entry<{ encoding: string }>({
    status: 415,
    when: "The body is packed in another way than gzip.",
    message: ({ encoding }) => `Content-Encoding ${encoding} is not supported; use gzip or none`,
  }),
  "body-not-gzip": entry<Record<string, never>>({
    status: 400,
    when: "The body says it is gzip but cannot be inflated.",
    message: () => "The body cannot be inflated: it is not valid gzip data",
  }),
  "request-malformed": entry<{ problem: string; status?: number }>({
    status: 400,
    when: "The request is not valid HTTP, its path is not valid percent-encoding, or its body ends early.",
    message: ({ problem }) => `The request is malformed: ${problem}`,
  }),
  deadline: entry<{ limitMs: number }>({
    status: 503,
    when: "The request took longer than the deadline and was given up.",
    message: ({ limitMs }) => `The request took longer than ${limitMs} ms and was given up`,
  }),
  internal: entry<{ requestId: string }>({
    status: 500,
    when: "A fault of the server; its log has the details under the request id.",
    message: ({ requestId }) =>
      `Unexpected fault in the server; its log has details for request ${requestId}`,
  }),
  "body-not-json": entry<{ problem: string }>({
    status: 400,
    when: "The body cannot be read as JSON.",
    message: ({ problem }) => `The body is not valid JSON: ${problem}`,
  }),
  "body-not-protobuf": entry<{ problem: string }>({
    status: 400,
    when: "The body is declared as protobuf and cannot be read as the message expected.",
    message: ({ problem }) => `The body is not a valid protobuf message: ${problem}`,
  }),
  "field-invalid": entry<{ field: string; expected: string; got: string }>({
    status: 400,
    when: "A member of the body, a query parameter or a path segment has the wrong type or value.",
    message: ({ field, expected, got }) => `Invalid field - ${field} - expected ${expected} but got ${got}`,
  }),
  "fields-missing": entry<{ fields: readonly string[] }>({
    status: 400,
    when: "Required members of the body or required parameters are absent.",
    message: ({ fields }) =>
      `Missing required ${fields.length === 1 ? "field" : "fields"} - ${fields.join(", ")}`,
    members: ({ fields }) => ({ missingFields: fields }),
  }),
  "too-many": entry<{ field: string; limit: number; got: number }>({
    status: 400,
    when: "A list in the body is longer than the limit.",
    message: ({ field, limit, got }) => `${field} may hold at most ${limit} items but holds ${got}`,
  }),
  "cursor-invalid": entry<Record<string, never>>({
    status: 400,
    when: "A cursor is forged, damaged, or belongs to another query.",
    message: () => "Invalid field - cursor - expected a cursor returned by this same query",
  }),
  "ids-unknown": entry<{ field: string; ids: readonly number[]; status?: 400 | 404 }>({
    status: 400,
    when: "An operation names ids that do not exist; `notFound` lists them. Datapoint operations answer 404.",
    message: ({ ids }) => `No such ids: ${firstOf(ids)}`,
    members: ({ ids }) => ({ notFound: ids }),
  }),
  "ids-repeated": entry<{ field: string; ids: readonly number[] }>({
    status: 400,
    when: "An operation names the same id twice; `notFound` lists those ids (client-endpoints (b) 21).",
    message: ({ field, ids }) => `${field} names the same id more than once: ${firstOf(ids)}`,
    members: ({ ids }) => ({ notFound: ids }),
  }),
  "series-unknown": entry<{ keys: readonly (string | number)[]; status?: 400 | 404 }>({
    status: 404,
    when: "An operation names unknown time series; `notFound` lists them. Lists of ids answer 400.",
    message: ({ keys }) => `No such time series: ${firstOf(keys)}`,
    members: ({ keys }) => ({ notFound: keys }),
  }),
  "series-repeated": entry<{ keys: readonly (string | number)[] }>({
    status: 400,
    when: "An operation names a time series more than once; `notFound` lists those.",
    message: ({ keys }) => `Time series named more than once: ${firstOf(keys)}`,
    members: ({ keys }) => ({ notFound: keys }),
  }),
  "texts-not-aggregated": entry<{ name: string }>({
    status: 400,
    when: "Aggregates are asked of a series whose values are texts.",
    message: ({ name }) => `The time series ${name} holds texts, which have no aggregates`,
  }),
  "series-exist": entry<{ names: readonly string[] }>({
    status: 400,
    when: "Time series are created with, or renamed to, names that are taken; the text lists all of them.",
    // Published clients read the names out of this text, separated by commas without blanks (1.6).
    message: ({ names }) => `Some metrics already exist: ${names.join(",")}`,
  }),
  "asset-duplicates": entry<{ duplicates: readonly { source: string; sourceId: string }[] }>({
    status: 400,
    when: "Another asset has this source and source id, or the request twice; `duplicates` lists them.",
    message: ({ duplicates }) =>
      `An asset has this source and sourceId already: ${firstOf(
        duplicates.map(({ source, sourceId }) => `${source} ${sourceId}`),
      )}`,
    members: ({ duplicates }) => ({ duplicates }),
  }),
  "asset-name-taken": entry<{ names: readonly string[] }>({
    status: 400,
    when: "Two children of one asset would have the same name.",
    message: ({ names }) => `Children of one asset must have different names: ${firstOf(names)}`,
  }),
  "asset-circle": entry<{ names: readonly string[] }>({
    status: 400,
    when: "The parents given to assets lead back to an asset itself.",
    message: ({ names }) => `An asset cannot lie below itself: ${firstOf(names, " below ")}`,
  }),
  "asset-too-deep": entry<{ name: string; limit: number }>({
    status: 400,
    when: "An asset would stand deeper in the tree than the limit.",
    message: ({ name, limit }) => `The asset ${name} would stand more than ${limit} levels below its root`,
  }),
  "asset-type-in-use": entry<{ inUse: readonly { readonly id: number; readonly name: string }[] }>({
    status: 409,
    when: "Asset types, or fields of one, are deleted while an asset has them; `extra.inUse` lists some.",
    message: ({ inUse }) =>
      `Assets have values of ${firstOf(inUse.map(({ name }) => name))}; remove them first`,
    members: ({ inUse }) => ({ extra: { inUse } }),
  }),
  "event-duplicates": entry<{
    duplicates: readonly { readonly id?: number; readonly source: string; readonly sourceId: string }[];
  }>({
    status: 409,
    when: "Other events have a source and source id sent; `duplicates` lists them, the writable by id.",
    message: ({ duplicates }) =>
      `An event has this source and sourceId already: ${firstOf(
        duplicates.map(({ source, sourceId }) => `${source} ${sourceId}`),
      )}`,
    members: ({ duplicates }) => ({ duplicates }),
  }),
  "filters-disabled": entry<{ fields: readonly string[]; by: string }>({
    status: 400,
    when: "A list is asked for with filters that cannot be used together.",
    // Published clients look for the word `disabled` (client-endpoints 1.6).
    message: ({ fields, by }) =>
      `The filters ${firstOf(fields)} are disabled when ${by} is used; a search takes them together`,
  }),
  "external-ids-taken": entry<{ what: string; externalIds: readonly string[] }>({
    status: 409,
    when: "Another record of the kind has this external id, or the request twice; `duplicates` lists them.",
    message: ({ what, externalIds }) => `A ${what} has this externalId already: ${firstOf(externalIds)}`,
    members: ({ externalIds }) => ({ duplicates: externalIds.map((externalId) => ({ externalId })) }),
  }),
  "external-ids-unknown": entry<{ what: string; externalIds: readonly string[]; status?: 404 }>({
    status: 400,
    when: "An operation names external ids that do not exist; `notFound` lists them.",
    message: ({ what, externalIds }) => `No ${what} has this externalId: ${firstOf(externalIds)}`,
    members: ({ externalIds }) => ({ notFound: externalIds }),
  }),
  "external-ids-repeated": entry<{ field: string; externalIds: readonly string[] }>({
    status: 400,
    when: "An operation names the same external id twice; `notFound` lists those.",
    message: ({ field, externalIds }) =>
      `${field} names the same externalId more than once: ${firstOf(externalIds)}`,
    members: ({ externalIds }) => ({ notFound: externalIds }),
  }),
  "names-taken": entry<{ what: string; field: string; names: readonly string[] }>({
    status: 409,
    when: "Another user or security category has this name, or the request twice; `duplicates` lists them.",
    message: ({ what, field, names }) => `A ${what} has this ${field} already: ${firstOf(names)}`,
    members: ({ field, names }) => ({ duplicates: names.map((name) => ({ [field]: name })) }),
  }),
  "members-present": entry<{ ids: readonly number[] }>({
    status: 400,
    when: "Accounts are added to a group that they are in.",
    message: ({ ids }) => `These are members of the group already: ${firstOf(ids)}`,
  }),
  "last-administrator": entry<Record<string, never>>({
    status: 400,
    when: "What is taken away is the last group, membership, account or key that administers the project.",
    message: () =>
      "After this no key could administer the project; give another account these rights and a key first",
  }),
  "file-exists": entry<{ names: readonly string[] }>({
    status: 409,
    when: "A file of this directory and name exists already, and the upload does not overwrite.",
    message: ({ names }) => `A file of this name exists in the directory already: ${firstOf(names)}`,
  }),
  "file-duplicates": entry<{
    duplicates: readonly { id?: number; source: string; sourceId: string }[];
  }>({
    status: 409,
    when: "Another file has this source and source id, or the request twice; `duplicates` lists them.",
    message: ({ duplicates }) =>
      `A file has this source and sourceId already: ${firstOf(
        duplicates.map(({ source, sourceId }) => `${source} ${sourceId}`),
      )}`,
    members: ({ duplicates }) => ({ duplicates }),
  }),
  "file-not-uploaded": entry<{ name: string }>({
    status: 400,
    when: "A download is asked of a file whose bytes have not come yet.",
    message: ({ name }) => `The bytes of the file ${name} have not been uploaded yet`,
  }),
  "file-not-stored": entry<{ problem: string }>({
    status: 503,
    when: "The disk refused the bytes of a file, for example because it is full. The file is unchanged.",
    message: ({ problem }) => `The bytes were not stored (${problem}); free disk space, then send them again`,
  }),
  "link-invalid": entry<Record<string, never>>({
    status: 403,
    when: "An upload or download link is damaged or forged, or is used for what it does not permit.",
    message: () => "This link is not valid; ask for a new one",
  }),
  "link-expired": entry<Record<string, never>>({
    status: 403,
    when: "An upload or download link is too old.",
    message: () => "This link has expired; ask for a new one",
  }),
  "link-gone": entry<Record<string, never>>({
    status: 404,
    when: "A link leads to a file that was deleted or overwritten since, or to an upload that was given up.",
    message: () => "What this link leads to does not exist any more",
  }),
  "upload-complete": entry<Record<string, never>>({
    status: 409,
    when: "Bytes are sent to an upload link that has taken a whole file already.",
    message: () => "The file of this link has been uploaded already; ask for a new link to overwrite it",
  }),
  "upload-taken-over": entry<Record<string, never>>({
    status: 409,
    when: "While bytes came to an upload link, another request to it began, or the server stopped.",
    message: () => "Another request has taken over this upload",
  }),
  "upload-not-resumable": entry<Record<string, never>>({
    status: 400,
    when: "A piece of a file is sent to a link that takes a whole file only.",
    message: () => "This link takes the whole file in one request; ask for a resumable one to send pieces",
  }),
  "upload-packed": entry<{ encoding: string }>({
    status: 415,
    when: "The bytes of a file are sent with a Content-Encoding.",
    message: ({ encoding }) =>
      `Content-Encoding ${encoding} is not supported for files; send the bytes as they are`,
  }),
  "range-beyond-end": entry<{ bytes: number }>({
    status: 416,
    when: "A download asks for a range that begins beyond the end of the file.",
    message: ({ bytes }) => `The file has only ${bytes} bytes`,
  }),
  "raw-databases-unknown": entry<{ names: readonly string[] }>({
    status: 404,
    when: "A raw operation names databases that do not exist; `notFound` lists them.",
    // Published clients look for this text (client-endpoints 1.6).
    message: () => "Did not find any dbs with the given names",
    members: ({ names }) => ({ notFound: names }),
  }),
  "raw-tables-unknown": entry<{ names: readonly string[] }>({
    status: 404,
    when: "A raw operation names tables that its database does not have; `notFound` lists them.",
    // Published clients look for this text (client-endpoints 1.6).
    message: ({ names }) => `No tables named ${firstOf(names)}`,
    members: ({ names }) => ({ notFound: names }),
  }),
  "raw-row-unknown": entry<{ key: string }>({
    status: 404,
    when: "A raw table has no row with the key; `notFound` holds it.",
    message: ({ key }) => `No row with the key ${key}`,
    members: ({ key }) => ({ notFound: [key] }),
  }),
  "raw-databases-not-empty": entry<{ names: readonly string[] }>({
    status: 400,
    when: "Raw databases that hold tables are deleted without `recursive=true`.",
    message: ({ names }) =>
      `There are tables in ${firstOf(names)}: delete these first, or all together with recursive=true`,
  }),
  "body-not-csv": entry<{ problem: string }>({
    status: 400,
    when: "The body cannot be read as CSV, or its header is not as needed.",
    message: ({ problem }) => `The body is not CSV with a header: ${problem}`,
  }),
  "models-unavailable": entry<{ why: "off" | "python-missing" }>({
    status: 400,
    when: "Model hosting is asked for, which runs foreign code and is off, or the server has no Python.",
    message: ({ why }) =>
      why === "off"
        ? "Model hosting is off, as it runs code of users on the server; MILLRACE_MODELS=on turns it on"
        : "Model hosting needs python3 on the server, which has none; install it and start the server again",
  }),
  "model-without-version": entry<{ name: string }>({
    status: 400,
    when: "A prediction is asked of a model that has no active version.",
    message: ({ name }) => `The model ${name} has no active version; set its activeVersionId`,
  }),
  "model-account-needed": entry<Record<string, never>>({
    status: 400,
    when: "A schedule is made by somebody without a service account, so that nobody's rights could be used.",
    message: () => "A schedule acts for a service account; make it with an API key",
  }),
  "model-account-gone": entry<Record<string, never>>({
    status: 400,
    when: "The service account that a job or a schedule acts for was deleted; the job's version says so.",
    message: () => "The service account that asked for this was deleted",
  }),
  "model-failed": entry<{ problem: string }>({
    status: 400,
    when: "The code of a model failed in a run of a schedule, whose list of runs says so.",
    message: ({ problem }) => problem,
  }),
  "version-state": entry<{ name: string; state: string; needed: readonly string[] }>({
    status: 409,
    when: "A version of a model is asked for what it cannot do in its state.",
    message: ({ name, state, needed }) => `The version ${name} is ${state}, not ${needed.join(" or ")}`,
  }),
  "source-code-deleted": entry<{ name: string }>({
    status: 400,
    when: "The code of a source package is asked for after it was deleted.",
    // Published clients look for the word `deleted` (client-endpoints 16).
    message: ({ name }) => `The code of the source package ${name} has been deleted`,
  }),
  "source-without-operation": entry<{ name: string; operation: string }>({
    status: 400,
    when: "A source package is to be trained that does not offer it.",
    message: ({ name, operation }) => `The source package ${name} has no ${operation} in availableOperations`,
  }),
  "artifact-unknown": entry<{ name: string; version: string }>({
    status: 404,
    when: "A version of a model has no artifact of this name.",
    message: ({ name, version }) => `The version ${version} has no artifact ${name}`,
  }),
  "points-not-stored": entry<{ problem: string }>({
    status: 503,
    when: "The disk refused a write of datapoints, for example because it is full. Nothing of it is stored.",
    message: ({ problem }) =>
      `The datapoints were not stored (${problem}), none of them; free disk space, then repeat the request`,
  }),
  "points-journal-finished": entry<{ problem: string }>({
    status: 503,
    when: "After a failed sync no datapoints are taken until a restart. Nothing of the request is stored.",
    message: ({ problem }) =>
      `No datapoints are taken since the disk failed (${problem}); check the disk, then restart the server`,
  }),
  "points-shard-stopped": entry<{ shard: number; problem: string }>({
    status: 503,
    when: "A part of the datapoint store failed and stopped; a restart rebuilds it from the journal.",
    message: ({ shard, problem }) =>
      `Part ${shard} of the datapoint store has stopped (${problem}); check the disk, then restart`,
  }),
  "points-damaged": entry<{ series: number; startMs: number; endMs: number }>({
    status: 500,
    when: "Stored datapoints that the answer needs are damaged on disk. All others are served.",
    message: ({ series, startMs, endMs }) =>
      `The stored datapoints of series ${series} from ${startMs} to ${endMs} (ms) are damaged; see /health`,
  }),
  ...odataFailures,
} as const;

export type FailureCode = keyof typeof catalogue;
export type DetailsOf<Code extends FailureCode> = Parameters<(typeof catalogue)[Code]["message"]>[0];

interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly members: Members;
  readonly details: unknown;
}

/** A refusal on its way to the caller. */
export class Failure extends Error {
  readonly failure: FailureCode;
  readonly status: number;
  readonly members: Members;
  readonly details: unknown;
  constructor(failure: FailureCode, refusal: Refusal) {
    super(refusal.message);
    this.name = "Failure";
    this.failure = failure;
    this.status = refusal.status;
    this.members = refusal.members;
    this.details = refusal.details;
  }
}

/** `throw fail("forbidden", { ... })`: the catalogue entry with its details filled in. */
export function fail<Code extends FailureCode>(code: Code, details: DetailsOf<Code>): Failure {
  const found = catalogue[code] as Entry<DetailsOf<Code>>;
  const status = (details as { status?: number }).status ?? found.status;
  const members = found.members?.(details) ?? {};
  return new Failure(code, { status, message: found.message(details), members, details });
}
