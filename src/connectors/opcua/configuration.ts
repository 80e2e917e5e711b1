// The part `source` of the configuration for OPC UA.
import { type Static, Type } from "typebox";
import { UsageError } from "../../client/command.ts";
import { integers64Schema, type WayOfIntegers } from "../integers.ts";
import { oneOf } from "../one-of.ts";
import { durationIn } from "../quantities.ts";

const strict = { additionalProperties: false };
const patterns = Type.Array(Type.String({ minLength: 1 }));

export const opcUaSchema = Type.Object(
  {
    type: Type.Literal("opcua"),
    endpoint: Type.String({ pattern: "^opc\\.tcp://", description: "`opc.tcp://host:4840`" }),
    security: Type.Optional(
      Type.Object(
        {
          mode: Type.Optional(oneOf(["None", "Sign", "SignAndEncrypt"], "Default None")),
          policy: Type.Optional(
            oneOf(
              ["None", "Basic256Sha256", "Aes128_Sha256_RsaOaep", "Aes256_Sha256_RsaPss"],
              "Default Basic256Sha256, and None with the mode None",
            ),
          ),
          certificates: Type.Optional(
            Type.String({ description: "The folder of certificates; default `opcua-certificates`" }),
          ),
        },
        strict,
      ),
    ),
    user: Type.Optional(
      Type.Union([
        Type.Object({ name: Type.String(), password: Type.String() }, strict),
        Type.Object({ certificate: Type.String(), key: Type.String() }, strict),
      ]),
    ),
    browse: Type.Optional(
      Type.Object(
        {
          roots: Type.Optional(
            Type.Array(Type.String({ description: "`nsu=<namespace>;s=<id>`; default the folder Objects" }), {
              minItems: 1,
            }),
          ),
          include: Type.Optional(patterns),
          exclude: Type.Optional(patterns),
          name: Type.Optional(oneOf(["path", "id"], "Default path")),
          every: Type.Optional(Type.String({ description: "How often it looks for new nodes; default 1h" })),
        },
        strict,
      ),
    ),
    subscribe: Type.Optional(
      Type.Object(
        {
          sampling: Type.Optional(Type.String({ description: "Default 1s" })),
          publishing: Type.Optional(Type.String({ description: "Default 1s" })),
          queue: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000, description: "Default 10" })),
          deadBand: Type.Optional(Type.Number({ minimum: 0, description: "Absolute; default 0" })),
          silence: Type.Optional(
            Type.Integer({ minimum: 2, maximum: 100, description: "In keep-alives; default 3" }),
          ),
        },
        strict,
      ),
    ),
    quality: Type.Optional(oneOf(["drop", "gap", "series"], "Default drop")),
    integers64: Type.Optional(integers64Schema),
    history: Type.Optional(
      Type.Object(
        {
          fill: Type.Optional(Type.Boolean({ description: "Default true" })),
          backfill: Type.Optional(Type.String({ description: "Reads history back to this date" })),
        },
        strict,
      ),
    ),
  },
  strict,
);

export type Configuration = Static<typeof opcUaSchema>;
export type Quality = "drop" | "gap" | "series";

export interface SubscribeOptions {
  readonly samplingMs: number;
  readonly publishingMs: number;
  readonly queue: number;
  readonly deadBand: number;
  /** How many keep-alives may be missing. */
  readonly silence: number;
}

/** The configuration with its defaults. Durations are in ms. */
export interface OpcUaSettings {
  readonly browse: {
    readonly roots: readonly string[];
    readonly include: readonly string[];
    readonly exclude: readonly string[];
    readonly name: "path" | "id";
    readonly everyMs: number;
  };
  readonly subscribe: SubscribeOptions;
  readonly quality: Quality;
  readonly integers64: WayOfIntegers;
  readonly history: { readonly fill: boolean; readonly backfillMs: number | undefined };
}

/** Refuses (`UsageError`) violations that a schema cannot express. */
export function settingsOf(configuration: Configuration): OpcUaSettings {
  const { browse = {}, subscribe = {}, history = {} } = configuration;
  const { quality = "drop", integers64 = "exact" } = configuration;
  const { roots = ["i=85"], include = ["**"], exclude = [], name = "path", every = "1h" } = browse;
  const { sampling = "1s", publishing = "1s", queue = 10, deadBand = 0, silence = 3 } = subscribe;
  return {
    browse: { roots, include, exclude, name, everyMs: durationIn(every, "source.browse.every") },
    subscribe: {
      samplingMs: durationIn(sampling, "source.subscribe.sampling"),
      publishingMs: durationIn(publishing, "source.subscribe.publishing"),
      ...{ queue, deadBand, silence },
    },
    ...{ quality, integers64 },
    history: { fill: history.fill ?? true, backfillMs: timeIn(history.backfill) },
  };
}

function timeIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new UsageError(`source.history.backfill is a date, not "${text}"`);
  return ms;
}
