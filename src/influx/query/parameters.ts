// Bound parameters of a query: `$name` stands for a value of the JSON object `params`.
import { fail } from "../../errors.ts";
import { parseJson } from "../../lib/json.ts";
import { queryProblem } from "./problems.ts";
import { durationOf, type QueryToken } from "./tokens.ts";

export class BoundParameters {
  readonly #values: Readonly<Record<string, unknown>>;

  /** Refuses (400) text that is not a JSON object. */
  constructor(text: string | undefined) {
    this.#values = objectIn(text);
  }

  /** The value in place of a parameter; other tokens are unchanged. */
  resolve(token: QueryToken): QueryToken {
    if (token.kind !== "parameter") return token;
    const { text } = token;
    if (!Object.hasOwn(this.#values, text)) throw queryProblem(`missing parameter: ${text}`);
    return tokenOf(this.#values[text]) ?? refuse(text);
  }
}

const refuse = (name: string): never => {
  throw queryProblem(`unable to bind parameter ${name}`);
};

function objectIn(text: string | undefined): Readonly<Record<string, unknown>> {
  if (!text) return {};
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    value = undefined;
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw fail("field-invalid", { field: "params", expected: "a JSON object", got: text.slice(0, 100) });
}

function tokenOf(value: unknown): QueryToken | undefined {
  if (typeof value === "string") return { kind: "string", text: value };
  if (typeof value === "boolean") return { kind: "word", text: String(value) };
  if (typeof value === "number") return numberToken(value);
  const [[kind, inner] = [], ...more] = Object.entries(value ?? {});
  if (more.length > 0) return undefined;
  if (typeof inner === "number")
    return kind === "float" || kind === "integer" ? numberToken(inner) : undefined;
  if (typeof inner !== "string") return undefined;
  if (kind === "duration") return durationToken(inner);
  if (kind === "regex") return { kind: "regex", text: inner };
  if (kind === "identifier") return { kind: "quoted", text: inner };
  return kind === "string" ? { kind: "string", text: inner } : undefined;
}

function numberToken(value: number): QueryToken | undefined {
  if (!Number.isFinite(value)) return undefined;
  return Number.isSafeInteger(value)
    ? { kind: "integer", text: String(value), value: BigInt(value) }
    : { kind: "number", text: String(value), value };
}

function durationToken(text: string): QueryToken | undefined {
  const nanoseconds = durationOf(text);
  return nanoseconds === undefined ? undefined : { kind: "duration", text, nanoseconds };
}
