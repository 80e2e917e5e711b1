// The operations of an OpenAPI description, as the explorer shows them.

import { HttpError } from "@oazapfts/runtime";
import { queryOptions } from "@tanstack/react-query";
import { baseUrl } from "../../../api/base.ts";
import { defaults } from "../../../api/generated.ts";
import type { ApiVersion } from "./search.ts";

/** The members of JSON Schema that the server's descriptions use. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly additionalProperties?: Schema | boolean;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

export interface Body {
  readonly contentType: string;
  readonly description: string;
  readonly schema: Schema;
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** The resource that the operation belongs to. */
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /** Changes nothing: it is sent without a confirmation. */
  readonly isReadOnly: boolean;
  /** Without the project of the path, which is that of the session. */
  readonly parameters: readonly Parameter[];
  readonly body?: Body;
}

export interface Description {
  readonly operations: readonly Operation[];
  /** The named schemas, by their `$ref`. */
  readonly schemas: Readonly<Record<string, Schema>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface DocumentOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: {
    readonly description?: string;
    readonly content: Readonly<Record<string, { readonly schema?: Schema }>>;
  };
  readonly "x-read-only"?: boolean;
}

export const descriptionQuery = (version: ApiVersion) =>
  queryOptions({
    queryKey: ["api description", version],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const response = await defaults.fetch!(`${baseUrl()}/api/${version}/openapi.json`, { signal });
      if (!response.ok) throw new HttpError(response.status, await response.text(), response.headers);
      return descriptionOf((await response.json()) as Document);
    },
  });

export function descriptionOf({ paths, components }: Document): Description {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => operationOf(method, path, operation)),
  );
  const schemas = Object.entries(components.schemas).map(([name, schema]) => [
    `#/components/schemas/${name}`,
    schema,
  ]);
  return { operations, schemas: Object.fromEntries(schemas) };
}

function operationOf(method: string, path: string, operation: DocumentOperation): Operation {
  const { operationId, tags, summary, description = "", parameters = [], requestBody } = operation;
  const [content] = Object.entries(requestBody?.content ?? {});
  return {
    id: operationId,
    method: method.toUpperCase(),
    ...{ path, summary, description },
    tag: tags[0] ?? "",
    isReadOnly: operation["x-read-only"] === true,
    // The one reference is that to the project.
    parameters: parameters.filter((parameter): parameter is Parameter => "name" in parameter),
    ...(content && {
      body: {
        contentType: content[0],
        description: requestBody?.description ?? "",
        schema: content[1].schema ?? {},
      },
    }),
  };
}

/** The operations that have all words of the text in their method, path or summary, by their tags. */
export function foundOperations(
  operations: readonly Operation[],
  text: string,
): (readonly [tag: string, operations: readonly Operation[]])[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = operations.filter(({ method, path, summary, tag }) => {
    const searched = `${method} ${path} ${summary} ${tag}`.toLowerCase();
    return words.every((word) => searched.includes(word));
  });
  return Object.entries(Object.groupBy(found, ({ tag }) => tag))
    .map(([tag, members = []]) => [tag, members] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The path without the prefix that all operations of a project share. */
export const shortPath = (path: string): string =>
  path.replace(/^\/api\/[\d.]+\/projects\/\{project\}(?=.)/, "");

/** A description, which is Markdown, without the marks of code and emphasis. */
export const plainText = (markdown: string): string => markdown.replaceAll(/`|\*\*/g, "");
