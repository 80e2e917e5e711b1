// Builds, checks and sends the request of an operation.
import { baseUrl } from "../../../api/base.ts";
import { defaults } from "../../../api/generated.ts";
import { parseExact } from "../../../lib/exact-json.ts";
import type { HttpRequest } from "../../../lib/snippets.ts";
import type { Operation, Parameter } from "./operations.ts";
import { errorIn, type ResponseError } from "./response-error.ts";
import type { Values } from "./search.ts";

/** A response with its whole body. */
export interface ExplorerResponse {
  readonly status: number;
  readonly statusText: string;
  /** From the request to the last byte. */
  readonly durationMs: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly contentType: string;
  readonly body: Blob;
  /** The body for people: JSON with indentation. Undefined when it is not text. */
  readonly text?: string;
  readonly error?: ResponseError;
}

/** Formatting a longer body would stop the page for seconds: it is shown as it is. */
const formattedBytesMax = 10_000_000;

/** The path with its parameters; `{name}` stays where a value is missing. */
export function pathOf({ path, parameters }: Operation, project: string, values: Values): string {
  const query = new URLSearchParams();
  for (const { name, in: place } of parameters)
    if (place === "query" && values[name]) query.append(name, values[name]);
  const named: Values = { ...values, project };
  const filled = path.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) =>
    named[name] ? encodeURIComponent(named[name]) : placeholder,
  );
  return query.size > 0 ? `${filled}?${query}` : filled;
}

/** Why the value of a parameter cannot be sent; the server checks the rest. */
export function problemWith({ required, in: place, schema }: Parameter, value = ""): string | undefined {
  if (value === "") return required || place === "path" ? "A value is required" : undefined;
  if (place === "path" && /^\.\.?$/.test(value)) return "Browsers remove this from a path";
  if (schema.type !== "integer" && schema.type !== "number") return undefined;
  const number = Number(value);
  if (Number.isNaN(number) || (schema.type === "integer" && !Number.isInteger(number)))
    return schema.type === "integer" ? "This is no integer" : "This is no number";
  if (schema.minimum !== undefined && number < schema.minimum) return `At least ${schema.minimum}`;
  if (schema.maximum !== undefined && number > schema.maximum) return `At most ${schema.maximum}`;
  return undefined;
}

/** Sends a request with the session, and with the group that this window sees as. */
export async function send(request: HttpRequest, signal: AbortSignal): Promise<ExplorerResponse> {
  const { method, path, body } = request;
  const startMs = performance.now();
  const response = await defaults.fetch!(baseUrl() + path, {
    ...{ method, signal },
    headers: {
      ...(defaults.headers as Record<string, string>),
      ...(body && { "Content-Type": body.contentType }),
    },
    ...(body && { body: body.content }),
  });
  const received = await response.blob();
  const durationMs = performance.now() - startMs;
  const contentType = response.headers.get("content-type") ?? "";
  const text = /json|text|xml|csv/.test(contentType)
    ? readable(await received.text(), contentType)
    : undefined;
  return {
    ...{ status: response.status, statusText: response.statusText, durationMs, contentType },
    ...{ headers: [...response.headers], body: received, text },
    error: response.ok || text === undefined ? undefined : errorIn(text),
  };
}

/** JSON with indentation, and with every digit of its numbers; other text as it is. */
function readable(text: string, contentType: string): string {
  if (!contentType.includes("json") || text.length > formattedBytesMax) return text;
  try {
    return JSON.stringify(parseExact(text), null, 2);
  } catch {
    return text;
  }
}
