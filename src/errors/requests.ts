// Refusals of requests: addresses, bodies, fields, cursors. Part of the catalogue of failures.
import { entry, firstOf } from "./entry.ts";

export const requestFailures = {
  "no-such-route": entry<{ method: string; path: string }>({
    status: 404,
    when: "No operation has this path.",
    message: ({ method, path }) => `There is no operation ${method} ${path}; see /api/0.5/openapi.json`,
  }),
  "method-not-allowed": entry<{ method: string; path: string; allowed: readonly string[] }>({
    status: 405,
    when: "The path exists, but not with this method; the header `Allow` lists the methods that it has.",
    message: ({ method, path, allowed }) =>
      `${method} is not supported by ${path}; use ${allowed.join(", ")}`,
  }),
  "body-too-large": entry<{ limit: number; what: "sent" | "unpacked" }>({
    status: 413,
    when: "The body is larger than the limit, as sent or after inflation.",
    message: ({ limit, what }) => `The body as ${what} is larger than ${limit} bytes`,
  }),
  "body-stalled": entry<{ limitMs: number }>({
    status: 408,
    when: "No byte of the body arrived for some time.",
    message: ({ limitMs }) => `No byte of the body arrived for ${limitMs} ms`,
  }),
  "inflation-too-high": entry<{ ratio: number }>({
    status: 413,
    when: "The body is compressed more than any real data.",
    message: ({ ratio }) => `The body inflates to more than ${ratio} bytes for each byte sent`,
  }),
  "json-too-large": entry<{ limit: number; what: string }>({
    status: 413,
    when: "The JSON of the body has more values, or longer strings, than the limit.",
    message: ({ limit, what }) => `The JSON of the body has more than ${limit} ${what}`,
  }),
  "encoding-unknown": entry<{ encoding: string }>({
    status: 415,
    when: "The body is compressed with another method than gzip.",
    message: ({ encoding }) => `Content-Encoding ${encoding} is not supported; use gzip or none`,
  }),
  "charset-unknown": entry<{ charset: string }>({
    status: 415,
    when: "The Content-Type declares another `charset` than UTF-8 or its subset US-ASCII.",
    message: ({ charset }) => `The charset ${charset} is not supported; send UTF-8`,
  }),
  "body-not-utf8": entry<{ at: number }>({
    status: 400,
    when: "The body has a byte that is not UTF-8; `at` counts the bytes of the inflated body from 0.",
    message: ({ at }) => `The body is not UTF-8 at byte ${at}; send it as UTF-8`,
  }),
  "body-not-gzip": entry<Record<string, never>>({
    status: 400,
    when: "The body says it is gzip but cannot be inflated.",
    message: () => "The body cannot be inflated: it is not valid gzip data",
  }),
  "path-segment-too-long": entry<{ limit: number }>({
    status: 414,
    when: "A segment of the path is longer than the limit.",
    message: ({ limit }) => `A segment of the path is longer than ${limit} bytes`,
  }),
  "headers-too-large": entry<{ limit: number }>({
    status: 431,
    when: "The request line and the headers are larger than the limit.",
    message: ({ limit }) => `The request line and the headers are larger than ${limit} bytes`,
  }),
  "request-too-slow": entry<Record<string, never>>({
    status: 408,
    when: "The request was not complete in time.",
    message: () => "The request was not complete in time",
  }),
  "request-malformed": entry<{ problem: string }>({
    status: 400,
    when: "The request is not valid HTTP, its address is not percent-encoded UTF-8, or its body ends early.",
    message: ({ problem }) => `The request is malformed: ${problem}`,
  }),
  "name-empty": entry<{ path: string }>({
    status: 400,
    when: "The path of a `DELETE` ends with `/`. Clients remove the names `.` and `..` from a path.",
    message: ({ path }) =>
      `DELETE ${path} names no record; leave out the last "/", or delete "." and ".." by POST with a body`,
  }),
  "disk-full": entry<{ problem: string }>({
    status: 503,
    when: "The disk is nearly full: reads and deletes continue, all other writes are refused.",
    message: ({ problem }) =>
      `Nothing was stored, because ${problem}; free disk space or delete data, then repeat the request`,
  }),
  "catalog-not-stored": entry<{ problem: string }>({
    status: 503,
    when: "The disk refused a write of the catalog, for example because it is full. Nothing of it is stored.",
    message: ({ problem }) => `Nothing was stored (${problem}); free disk space, then repeat the request`,
  }),
  "being-copied": entry<object>({
    status: 503,
    when: "`millrace copy` moves the installation and serves its reads meanwhile; it accepts no changes.",
    message: () => "This server is being moved and serves only reads; repeat the request later",
  }),
  "catalog-away": entry<{ retryAfterSeconds: number }>({
    status: 503,
    when:
      "The catalog's database does not respond. A write may be stored if its connection was lost " +
      "while it was confirmed.",
    message: ({ retryAfterSeconds }) =>
      `The catalog's database does not respond; try again in ${retryAfterSeconds} s`,
  }),
  "lease-expired": entry<{ retryAfterSeconds: number }>({
    status: 503,
    when:
      "Background work writes through a server that could not reach the catalog's database for longer than " +
      "`serverLeaseMs`. Another server may have taken over the work.",
    message: ({ retryAfterSeconds }) =>
      `This server may have lost its background work to another one; try again in ${retryAfterSeconds} s`,
  }),
  "catalog-key-too-long": entry<{ bytesMax: number }>({
    status: 400,
    when: "A name, key or source is longer than an index of PostgreSQL can hold.",
    message: ({ bytesMax }) =>
      `A name, key or source has more bytes than can be indexed (about ${bytesMax} bytes in UTF-8)`,
  }),
  deadline: entry<{ limitMs: number; retryAfterSeconds: number }>({
    status: 503,
    when: "The request took longer than the deadline and was canceled.",
    message: ({ limitMs, retryAfterSeconds }) =>
      `The request took longer than ${limitMs} ms and was canceled; try again in ${retryAfterSeconds} s`,
  }),
  "computation-too-long": entry<{ limit: number }>({
    status: 400,
    when: "The request would compare more characters than the limit; a smaller request is served.",
    message: ({ limit }) =>
      `The request would compare more than ${limit} characters; request less at once, such as fewer ` +
      "tags, a lower fuzzyThreshold or one platform",
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
  "body-not-csv": entry<{ problem: string }>({
    status: 400,
    when: "The body cannot be read as CSV, or its header is not as needed.",
    message: ({ problem }) => `The body is not CSV with a header: ${problem}`,
  }),
  "field-invalid": entry<{ field: string; expected: string; got: string; position?: number }>({
    status: 400,
    when: "A member of the body, a query parameter or a path segment has the wrong type or value.",
    message: ({ field, expected, got }) => `Invalid field - ${field} - expected ${expected} but got ${got}`,
    members: ({ position }) => (position === undefined ? {} : { position }),
  }),
  "fields-missing": entry<{ fields: readonly string[] }>({
    status: 400,
    when: "Required members of the body or required parameters are absent.",
    message: ({ fields }) =>
      `Missing required ${fields.length === 1 ? "field" : "fields"} - ${fields.join(", ")}`,
    members: ({ fields }) => ({ missingFields: fields }),
  }),
  "fields-unknown": entry<{ fields: readonly string[] }>({
    status: 400,
    when: "An update has members that its operation does not know, so that they would change nothing.",
    message: ({ fields }) =>
      `Unknown ${fields.length === 1 ? "field" : "fields"} - ${firstOf(fields)} - nothing is changed`,
  }),
  /** Without `got`, the list was not read to its end. */
  "too-many": entry<{ field: string; limit: number; got?: number }>({
    status: 400,
    when: "A list in the body or a parameter has more items than the limit.",
    message: ({ field, limit, got = "more" }) => `${field} may hold at most ${limit} items but holds ${got}`,
  }),
  "cursor-invalid": entry<Record<string, never>>({
    status: 400,
    when: "A cursor is forged, damaged, or belongs to another query.",
    message: () => "Invalid field - cursor - expected a cursor returned by this same query",
  }),
  "filters-disabled": entry<{ fields: readonly string[]; by: string }>({
    status: 400,
    when: "A list is requested with filters that cannot be used together.",
    // Published clients read the word `disabled` (docs/reference/common.md#error-messages-that-clients-read).
    message: ({ fields, by }) =>
      `The filters ${firstOf(fields)} are disabled when ${by} is used; a search takes them together`,
  }),
} as const;
