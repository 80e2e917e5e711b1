// Sends OData requests to a test server, and checks the common rules of all responses.
import assert from "node:assert/strict";
import type { Item, TestServer } from "./server.ts";

export interface ODataTestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The whole body; undefined when it is not JSON. */
  readonly json: Item | undefined;
  /** `value` of a collection, else empty. */
  readonly items: readonly Item[];
  /** `@odata.nextLink` below the root, as `ask` takes it. */
  readonly next: string | undefined;
  /** `error.details[0].code`. */
  readonly reason: string | undefined;
  /** `error.message`. */
  readonly message: string | undefined;
}

/** `ask("Assets?$filter=Source eq 'SAP'")`: the path is below the root; blanks in it are encoded. */
export type AskOData = (path: string, options?: ODataOptions) => Promise<ODataTestResponse>;

export interface ODataOptions {
  readonly method?: string;
  readonly body?: unknown;
  /** An undefined header takes the default one away: `{ "api-key": undefined }`. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** Sends requests with `key`, by default that of the server's administrator. */
export function odataOf(server: TestServer, key = server.key): AskOData {
  const root = () => `${server.baseUrl}/odata/v1/projects/${encodeURIComponent(server.project)}`;
  return async (path, { method = "GET", body, headers = {} } = {}) => {
    const url = `${root()}${path === "" || path.startsWith("/") ? "" : "/"}${path.replaceAll(" ", "%20")}`;
    const given = Object.entries({ "api-key": key, ...headers }).filter(([, value]) => value !== undefined);
    const response = await fetch(url, {
      method,
      headers: given as [string, string][],
      redirect: "manual",
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    return answerOf(response, { what: `${method} ${path}`, root: root() });
  };
}

async function answerOf(
  response: Response,
  { what, root }: { readonly what: string; readonly root: string },
): Promise<ODataTestResponse> {
  const { status, headers } = response;
  const text = await response.text();
  const said = `${what} answered ${status} ${text.slice(0, 500)}`;
  assert.equal(headers.get("odata-version"), "4.0", said);
  assert.ok(headers.get("x-request-id"), said);
  const isJson = headers.get("content-type")?.startsWith("application/json") && text !== "";
  const json = isJson ? (JSON.parse(text) as Item) : undefined;
  if (status >= 400 && text !== "") checkError(status, json, said);
  const error = json?.["error"] as { message: string; details: { code: string }[] } | undefined;
  const link = json?.["@odata.nextLink"] as string | undefined;
  if (link !== undefined) assert.ok(link.startsWith(`${root}/`), said);
  return {
    ...{ status, headers, text, json },
    items: Array.isArray(json?.["value"]) ? (json["value"] as Item[]) : [],
    next: link?.slice(root.length + 1),
    reason: error?.details[0]?.code,
    message: error?.message,
  };
}

/** Both the shape of REST and that of OData (docs/reference/odata.md#errors-of-odata). */
function checkError(status: number, json: Item | undefined, said: string): void {
  const { code, message, details } = (json?.["error"] ?? {}) as Item;
  assert.equal(code, String(status), said);
  assert.match(String(message), new RegExp(`^HTTP ${status} [A-Z]`), said);
  const [detail] = details as Item[];
  assert.match(String(detail?.["code"]), /^[A-Z][A-Za-z]+$/, said);
}

/** All items of a collection, page by page; the last page has no link. */
export async function allItems(ask: AskOData, path: string, options?: ODataOptions): Promise<Item[]> {
  const found: Item[] = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const answer: ODataTestResponse = await ask(next, options);
    assert.equal(answer.status, 200, answer.text);
    found.push(...answer.items);
    next = answer.next;
  }
  return found;
}
