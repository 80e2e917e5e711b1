// Reads an MQTT broker: plain values by topic, JSON by JSONata, and Sparkplug B.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { IClientOptions, IPublishPacket, MqttClient } from "mqtt";
import { type Static, Type } from "typebox";
import { UsageError } from "../../client/command.ts";
import type { SourceRecords } from "../records.ts";
import type { PlantSource, SourceKind, SourceRun } from "../source.ts";
import { jsonReader } from "./json-messages.ts";
import type { MessageReader } from "./message-reader.ts";
import { runSession, tryConnection } from "./mqtt-session.ts";
import { type PlainRead, plainReader } from "./plain-messages.ts";
import { rebirthPayload, SparkplugNodes } from "./sparkplug.ts";
import { topicMatcher } from "./topics.ts";

const strict = { additionalProperties: false };
const topic = Type.String({ minLength: 1, description: "A topic filter; `+` and `#` are wildcards" });

const readSchema = Type.Union([
  Type.Object(
    {
      topic,
      format: Type.Literal("value"),
      series: Type.String({
        minLength: 1,
        description: "The name, from `{topic}` and its levels `{1}`, `{-1}`",
      }),
      isString: Type.Optional(Type.Boolean()),
      isStep: Type.Optional(Type.Boolean()),
      unit: Type.Optional(Type.String()),
    },
    strict,
  ),
  Type.Object(
    {
      topic,
      format: Type.Literal("json"),
      map: Type.String({ minLength: 1, description: "A JSONata expression" }),
    },
    strict,
  ),
  Type.Object(
    {
      topic,
      format: Type.Literal("sparkplug"),
      series: Type.Optional(
        Type.String({ minLength: 1, description: "From `{group}`, `{node}`, `{device}`, `{metric}`" }),
      ),
    },
    strict,
  ),
]);

const schema = Type.Object(
  {
    type: Type.Literal("mqtt"),
    url: Type.String({
      pattern: "^(mqtts?|wss?)://",
      description: "`mqtt://host:1883`, `mqtts://`, `ws://`, `wss://`",
    }),
    username: Type.Optional(Type.String()),
    password: Type.Optional(Type.String()),
    clientId: Type.Optional(
      Type.String({ description: "Default: from the name of this machine and the topics" }),
    ),
    ca: Type.Optional(Type.String({ description: "The file of the certificate authority" })),
    cert: Type.Optional(Type.String({ description: "The file of the client's certificate" })),
    key: Type.Optional(Type.String({ description: "The file of the client's private key" })),
    qos: Type.Optional(Type.Union([Type.Literal(0), Type.Literal(1)], { description: "Default 1" })),
    sparkplugHost: Type.Optional(
      Type.String({ description: "The id of this primary host application, which edge nodes may wait for" }),
    ),
    read: Type.Array(readSchema, { minItems: 1 }),
  },
  strict,
);

type Configuration = Static<typeof schema>;
type Read = Static<typeof readSchema>;

interface Reader {
  readonly matches: (levels: readonly string[]) => boolean;
  readonly read: MessageReader;
}

class MqttSource implements PlantSource {
  readonly address: string;
  readonly #configuration: Configuration;
  #client: MqttClient | undefined;

  constructor(configuration: Configuration) {
    this.#configuration = configuration;
    const { protocol, host } = new URL(configuration.url);
    this.address = `${protocol}//${host}`;
    this.#readers();
  }

  async check(): Promise<string> {
    await tryConnection(this.#configuration.url, this.#clientOptions());
    return `${this.address} accepts the connection`;
  }

  async run({ intake, health, signal }: SourceRun): Promise<void> {
    const readers = this.#readers();
    const { url, qos = 1, read } = this.#configuration;
    const onMessage = async (packet: IPublishPacket) => {
      const levels = packet.topic.split("/");
      const found: SourceRecords[] = [];
      for (const { matches, read: readMessage } of readers) {
        if (!matches(levels)) continue;
        try {
          found.push(await readMessage(levels, packet.payload as Buffer, Date.now()));
        } catch (problem) {
          intake.refuse(1, `A message of ${packet.topic} cannot be read: ${(problem as Error).message}`);
        }
      }
      await Promise.all(found.map((records) => intake.add(records)));
    };
    const options = {
      ...{ url, qos, topics: read.map((one) => one.topic), client: this.#clientOptions(), onMessage },
      onConnected: (client: MqttClient) => {
        this.#client = client;
        this.#announce(client);
        health.solved("source");
        health.tell("source", "Subscribed");
      },
      onProblem: (message: string) => health.problem("source", message),
    };
    await runSession(options, signal);
    await intake.drain();
  }

  #readers(): Reader[] {
    return this.#configuration.read.map((read) => ({
      matches: topicMatcher(read.topic),
      read: this.#readerOf(read),
    }));
  }

  #readerOf(read: Read): MessageReader {
    if (read.format === "json") return jsonReader(read.map);
    if (read.format === "value") return plainReader(read as PlainRead);
    const nodes = new SparkplugNodes(read.series);
    return (levels, payload, nowMs) => {
      const { points, events, rebirth } = nodes.read(levels, payload, nowMs);
      if (rebirth !== undefined) this.#client?.publish(rebirth, rebirthPayload(nowMs), { qos: 0 });
      return { points, events };
    };
  }

  /** Tells edge nodes that wait for this host that it is there. */
  #announce(client: MqttClient): void {
    const { sparkplugHost } = this.#configuration;
    if (sparkplugHost === undefined) return;
    const state = JSON.stringify({ online: true, timestamp: Date.now() });
    client.publish(`spBv1.0/STATE/${sparkplugHost}`, state, { qos: 1, retain: true });
  }

  #clientOptions(): IClientOptions {
    const { username, password, clientId, ca, cert, key, sparkplugHost, read } = this.#configuration;
    const topics = createHash("sha256").update(JSON.stringify(read)).digest("hex").slice(0, 12);
    const offline = { online: false, timestamp: Date.now() };
    return {
      clientId: clientId ?? `millrace-${topics}`,
      ...{ clean: false, reconnectPeriod: 1_000, protocolVersion: 4 },
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      ...(ca !== undefined && { ca: fileOf(ca, "source.ca") }),
      ...(cert !== undefined && { cert: fileOf(cert, "source.cert") }),
      ...(key !== undefined && { key: fileOf(key, "source.key") }),
      ...(sparkplugHost !== undefined && {
        will: {
          topic: `spBv1.0/STATE/${sparkplugHost}`,
          payload: Buffer.from(JSON.stringify(offline)),
          ...{ qos: 1, retain: true },
        },
      }),
    };
  }
}

function fileOf(path: string, field: string): Buffer {
  try {
    return readFileSync(path);
  } catch (problem) {
    throw new UsageError(`${field}: ${path} cannot be read: ${(problem as Error).message}`);
  }
}

export const mqttKind: SourceKind = {
  schema,
  make: (configuration: Configuration) => new MqttSource(configuration),
};
