// Checks every response of a test against the OpenAPI description of its version.
import assert from "node:assert/strict";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import findMyWay, { type HTTPMethod, type HTTPVersion, type Instance } from "find-my-way";

interface Operation {
  readonly responses: Readonly<Record<string, ResponseOrRef>>;
}
interface Response {
  readonly content?: Readonly<Record<string, unknown>>;
}
type ResponseOrRef = Response | { readonly $ref: string };

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Checked {
  readonly status: number;
  readonly headers: Headers;
  readonly json: unknown;
  readonly text: string;
}

/** Fails the test if the status, content type or body of the response is not as described. */
export async function checkResponse(
  baseUrl: string,
  { method, path }: { readonly method: string; readonly path: string },
  answer: Checked,
): Promise<void> {
  assert.ok(answer.headers.get("x-request-id"), `${method} ${path} answers without X-Request-Id`);
  if (method === "HEAD" || method === "OPTIONS") return;
  const version = /^\/api\/(0\.[456])\//.exec(path)?.[1] ?? "0.5";
  const described = await descriptionOf(version, baseUrl);
  const pointer = described.find(method, path.split("?", 1)[0]!);
  const what = `${method} ${path} answered ${answer.status} ${answer.text.slice(0, 2000)}`;
  if (pointer === undefined) {
    if (answer.status >= 400) described.check("#/components/schemas/Error", answer.json, what);
    return;
  }
  const response = described.response(pointer, answer.status);
  assert.ok(response, `${what}: the status is not described`);
  if (answer.status === 204) return assert.equal(answer.text, "", what);
  const type = (answer.headers.get("content-type") ?? "").split(";", 1)[0]!;
  assert.ok(response.content[type], `${what}: the content type ${type} is not described`);
  if (type === "application/json")
    described.check(`${response.pointer}/content/application~1json/schema`, answer.json, what);
}

class Described {
  readonly #description: Description;
  readonly #router: Instance<HTTPVersion.V1> = findMyWay({ ignoreTrailingSlash: true, maxParamLength: 4096 });
  readonly #ajv = new Ajv2020({
    // That the descriptions are valid is a test of its own; their check at each start takes 0.1 s.
    validateSchema: false,
    ...{ strict: false, allErrors: true, validateFormats: false },
  });
  readonly #checks = new Map<string, ValidateFunction>();

  constructor(description: Description) {
    this.#description = description;
    this.#ajv.addSchema(closed(description) as object, "described");
    for (const [path, operations] of Object.entries(description.paths))
      for (const method of Object.keys(operations))
        this.#router.on(method.toUpperCase() as HTTPMethod, path.replaceAll(/\{(\w+)\}/g, ":$1"), () => {}, {
          path,
          method,
        });
  }

  /** Where the operation is described. */
  find(method: string, path: string): string | undefined {
    try {
      const found = this.#router.find(method as HTTPMethod, path);
      const store = found?.store as { path: string; method: string } | undefined;
      return store && `#/paths/${store.path.replaceAll("~", "~0").replaceAll("/", "~1")}/${store.method}`;
    } catch {
      return undefined;
    }
  }

  response(operation: string, status: number) {
    const pointer = `${operation}/responses/${status}`;
    const found = this.#at(pointer) as ResponseOrRef | undefined;
    if (found && "$ref" in found) return { pointer: found.$ref, content: contentOf(this.#at(found.$ref)) };
    return found && { pointer, content: contentOf(found) };
  }

  check(pointer: string, json: unknown, what: string): void {
    const check = this.#checks.get(pointer) ?? this.#ajv.compile({ $ref: `described${pointer}` });
    this.#checks.set(pointer, check);
    if (!check(json)) assert.fail(`${what}: not as described: ${this.#ajv.errorsText(check.errors)}`);
  }

  #at(pointer: string): unknown {
    return pointer
      .split("/")
      .slice(1)
      .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
      .reduce<unknown>(
        (value, part) => (value as Record<string, unknown> | undefined)?.[part],
        this.#description,
      );
  }
}

const contentOf = (response: unknown) => (response as Response).content ?? {};

/** In tests a response may have no undescribed member, so that none is added by mistake or leaks. */
function closed(value: unknown, isOpen = false): unknown {
  if (Array.isArray(value)) return value.map((one) => closed(one, isOpen));
  if (typeof value !== "object" || value === null) return value;
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) copy[name] = closed(member, isOpen || name === "allOf");
  const isObject = copy["type"] === "object" && typeof copy["properties"] === "object";
  if (isObject && !isOpen && !("additionalProperties" in copy)) copy["additionalProperties"] = false;
  return copy;
}

/** By version: the descriptions of all servers of one program are equal. */
const known = new Map<string, Promise<Described>>();

function descriptionOf(version: string, baseUrl: string): Promise<Described> {
  const read = async () =>
    new Described((await (await fetch(`${baseUrl}/api/${version}/openapi.json`)).json()) as Description);
  const described = known.get(version) ?? read();
  known.set(version, described);
  return described;
}
