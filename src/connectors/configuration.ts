// Reads the configuration of a connector: one YAML file (docs/connectors.md).
import { readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { type Static, type TSchema, Type } from "typebox";
import { Compile } from "typebox/schema";
import { parse, stringify } from "yaml";
import { UsageError } from "../client/command.ts";
import { limits } from "../limits.ts";
import { withChosenVariants } from "./chosen-variant.ts";
import { oneOf } from "./one-of.ts";
import { bytesIn, durationIn } from "./quantities.ts";
import { sourceKinds } from "./source-kinds.ts";

const strict = { additionalProperties: false };

const destinationSchema = Type.Object(
  {
    server: Type.String({ description: "The address of the server", pattern: "^https?://" }),
    key: Type.String({ description: "An API key; take it from a variable of the environment" }),
    prefix: Type.Optional(Type.String({ description: "Precedes the name of each series" })),
    asset: Type.Optional(
      Type.Integer({ description: "The id of the asset that new series and assets go below" }),
    ),
    createSeries: Type.Optional(
      Type.Boolean({ description: "Whether missing series are created; default true" }),
    ),
    createAssets: Type.Optional(
      Type.Boolean({ description: "Whether missing assets of series are created; default false" }),
    ),
    timeout: Type.Optional(
      Type.String({
        description: "The longest wait for a response before the request is repeated; default 30s",
      }),
    ),
  },
  strict,
);

const bufferSchema = Type.Object(
  {
    folder: Type.Optional(
      Type.String({ description: "Where the buffer is; default `<name>.buffer` beside the file" }),
    ),
    bytes: Type.Optional(
      Type.String({ description: "The size beyond which the oldest records are dropped; default 1GiB" }),
    ),
    age: Type.Optional(
      Type.String({
        description: "How long a record waits for the server at most; default 7d, with `wait` no bound",
      }),
    ),
    whenFull: Type.Optional(
      oneOf(
        ["drop-oldest", "wait"],
        "`wait` stops reading the source instead of dropping records; default drop-oldest",
      ),
    ),
  },
  strict,
);

const common = {
  version: Type.Literal(1),
  name: Type.String({
    description: "Unique among the connectors of the project",
    pattern: "^[\\w .-]{1,100}$",
  }),
  destination: destinationSchema,
  buffer: Type.Optional(bufferSchema),
  metrics: Type.Optional(
    Type.Object(
      { port: Type.Integer({ minimum: 1, maximum: 65_535 }), host: Type.Optional(Type.String()) },
      strict,
    ),
  ),
};

export interface ConnectorConfiguration {
  readonly name: string;
  /** As in the file, with the variables of the environment; its schema is that of its kind. */
  readonly source: { readonly type: string };
  readonly destination: Static<typeof destinationSchema>;
  /** The longest wait for a response of the server. */
  readonly requestMs: number;
  readonly buffer: {
    readonly folder: string;
    readonly bytesMax: number;
    readonly ageMsMax: number;
    readonly whenFull: "drop-oldest" | "wait";
  };
  readonly metrics: { readonly port: number; readonly host?: string } | undefined;
}

/** Refuses (`UsageError`) an invalid file, with the place in it. */
export function readConfiguration(file: string, env: NodeJS.ProcessEnv): ConnectorConfiguration {
  return configurationOf(parsed(file, env), file);
}

/**
 * The name of the connector of a file. Refuses (`UsageError`) invalid values, but none with a variable
 * that the environment does not have.
 */
export const nameIn = (file: string, env: NodeJS.ProcessEnv): string =>
  checked(
    substituted(parseYaml(textOf(file), file), (name) => env[name] ?? unset),
    file,
  ).name;

/** A placeholder for the value of a variable; no text of a file has it. */
const unset = "\0unset\0";

/** The configuration as YAML, with the names of variables instead of their values, and without secrets. */
export const printedConfiguration = (file: string): string => stringify(withoutSecrets(file));

/** Its part `source`, of a file that has been read. */
export const printedSource = (file: string): object =>
  (withoutSecrets(file) as { readonly source: object }).source;

const withoutSecrets = (file: string): unknown => masked(parseYaml(textOf(file), file));

const secretNames = /^(key|password|token|secret)$/i;

/** The `key` of the rows of a raw table is a template. */
const isTemplates = (name: string): boolean => name === "rows";

/** The password of an address: `postgres://reader:password@host/db`. It may have an `@` itself. */
const passwordInAddress = /^([a-z][a-z0-9+.-]*:\/\/[^/?#:@]*:)(?!\$\{\w+\}@[^@]*$).*@/i;

function masked(value: unknown, name = ""): unknown {
  if (typeof value === "string")
    return secretNames.test(name) && !value.includes("${")
      ? "***"
      : value.replace(passwordInAddress, "$1***@");
  if (Array.isArray(value)) return value.map((one) => masked(one));
  if (typeof value !== "object" || value === null) return value;
  const shown = "driver" in value ? withMaskedUrl(value) : value;
  return Object.fromEntries(
    Object.entries(shown).map(([key, one]) => [key, isTemplates(name) ? one : masked(one, key)]),
  );
}

/** Only the driver knows which part of its address is a password. */
function withMaskedUrl(source: object): object {
  const { url } = source as { readonly url?: unknown };
  if (typeof url !== "string" || /^\$\{\w+\}$/.test(url)) return source;
  return { ...source, url: url.replace(/:.*/s, ":***") };
}

function configurationOf(value: unknown, file: string): ConnectorConfiguration {
  const given = checked(value, file);
  const {
    folder = `${given.name}.buffer`,
    bytes = "1GiB",
    whenFull = "drop-oldest",
    age = whenFull === "wait" ? undefined : "7d",
  } = given.buffer ?? {};
  return {
    ...{ name: given.name, source: given.source, destination: given.destination, metrics: given.metrics },
    requestMs: durationIn(given.destination.timeout ?? "30s", "destination.timeout"),
    buffer: {
      folder: resolve(dirname(file), folder),
      bytesMax: bytesIn(bytes, "buffer.bytes"),
      ageMsMax: age === undefined ? Number.POSITIVE_INFINITY : durationIn(age, "buffer.age"),
      whenFull,
    },
  };
}

interface Given {
  readonly name: string;
  readonly source: { readonly type: string };
  readonly destination: Static<typeof destinationSchema>;
  readonly buffer?: Static<typeof bufferSchema>;
  readonly metrics?: { readonly port: number; readonly host?: string };
}

function checked(value: unknown, file: string): Given {
  const type = (value as { source?: { type?: unknown } } | null)?.source?.type;
  const kinds = Object.keys(sourceKinds);
  if (typeof type !== "string" || !Object.hasOwn(sourceKinds, type))
    throw new UsageError(
      `${file}: source.type must be one of ${kinds.join(", ")}, not ${JSON.stringify(type)}`,
    );
  const schema = Type.Object({ ...common, source: sourceKinds[type]!.schema }, strict);
  const problems = problemsWith(schema, value);
  if (problems.length > 0) throw new UsageError(problems.map((problem) => `${file}: ${problem}`).join("\n"));
  return value as Given;
}

interface SchemaProblem {
  readonly instancePath: string;
  readonly message: string;
  readonly keyword: string;
  readonly params: object;
}

interface ProblemParams {
  readonly additionalProperties?: readonly string[];
  readonly allowedValues?: readonly unknown[];
  readonly allowedValue?: unknown;
}

/** One line for each problem: its place and the expected value. */
function problemsWith(schema: TSchema, value: unknown): string[] {
  const [isValid, errors] = Compile(withChosenVariants(schema, value)).Errors(value);
  if (isValid) return [];
  const known = (errors as SchemaProblem[]).filter(
    // An unknown key is a problem of the object around it as well.
    ({ keyword, instancePath }) =>
      keyword !== "boolean" && !String(valueAt(value, instancePath)).includes(unset),
  );
  return known.slice(0, 8).map(({ instancePath, message, params }) => {
    const place = instancePath.slice(1).replaceAll("/", ".") || "the file";
    const { additionalProperties: unknown, allowedValues: words, allowedValue } = params as ProblemParams;
    if (allowedValue !== undefined) return `${place} must be ${JSON.stringify(allowedValue)}`;
    if (unknown) return `${place} has unknown keys: ${unknown.join(", ")}`;
    return words ? `${place} must be one of ${words.join(", ")}` : `${place} ${message}`;
  });
}

const valueAt = (value: unknown, instancePath: string): unknown =>
  instancePath
    .split("/")
    .slice(1)
    .reduce<unknown>((inner, name) => (inner as Readonly<Record<string, unknown>>)[name], value);

const parsed = (file: string, env: NodeJS.ProcessEnv): unknown =>
  substituted(parseYaml(textOf(file), file), (name) => {
    const value = env[name];
    if (value === undefined) throw new UsageError(`${file}: the environment has no variable ${name}`);
    return value;
  });

function textOf(file: string): string {
  try {
    const { size } = statSync(file);
    if (size > limits.connectorFileBytesMax)
      throw new Error(`it has ${size} bytes, more than ${limits.connectorFileBytesMax}`);
    return readFileSync(file, "utf8");
  } catch (problem) {
    throw new UsageError(`${file} cannot be read: ${(problem as Error).message}`);
  }
}

function parseYaml(text: string, file: string): unknown {
  try {
    return parse(text);
  } catch (problem) {
    throw new UsageError(`${file} is not YAML: ${(problem as Error).message}`);
  }
}

/** Replaces `${NAME}` in each text after the YAML was read, so that a value cannot change the structure. */
function substituted(value: unknown, variable: (name: string) => string): unknown {
  if (typeof value === "string") return value.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => variable(name));
  if (Array.isArray(value)) return value.map((one) => substituted(one, variable));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, substituted(one, variable)]));
}
