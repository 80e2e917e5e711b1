// Reads an MQTT broker: plain values by topic, JSON by JSONata, and Sparkplug B.
import { createHash, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import type { IClientOptions, MqttClient } from "mqtt";
import { type Static, Type } from "typebox";
import { UsageError } from "../../client/command.ts";
import { parseJson } from "../../lib/json.ts";
import type { Intake } from "../intake.ts";
import { integers64Schema } from "../integers.ts";
import { oneOf } from "../one-of.ts";
import { durationIn } from "../quantities.ts";
import type { SourceEvent, SourcePoint, SourceRecords, SourceRow } from "../records.ts";
import type { PlantSource, SourceKind, SourceRun } from "../source.ts";
import { jsonReader } from "./json-messages.ts";
import type { MessageReader, RefusedValues } from "./message-reader.ts";
import { runSession, tryConnection } from "./mqtt-session.ts";
import { type PlainRead, plainReader } from "./plain-messages.ts";
import type { ReceivedMessage } from "./reception.ts";
import { RebirthLimit, rebirthPayload, SparkplugNodes } from "./sparkplug.ts";
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
      integers64: Type.Optional(integers64Schema),
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
      Type.String({ minLength: 1, description: "Default: from the id in the buffer of the connector" }),
    ),
    ca: Type.Optional(Type.String({ description: "The file of the certificate authority" })),
    cert: Type.Optional(Type.String({ description: "The file of the client's certificate" })),
    key: Type.Optional(Type.String({ description: "The file of the client's private key" })),
    qos: Type.Optional(oneOf([0, 1], "Default 1")),
    keepAlive: Type.Optional(
      Type.String({ description: "How long the connection may be silent before it is probed; default 30s" }),
    ),
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
  readonly #keepAliveSeconds: number;
  #client: MqttClient | undefined;

  constructor(configuration: Configuration) {
    this.#configuration = configuration;
    const { protocol, host } = new URL(configuration.url);
    this.address = `${protocol}//${host}`;
    this.#readers();
    const { keepAlive = "30s" } = configuration;
    this.#keepAliveSeconds = Math.ceil(durationIn(keepAlive, "source.keepAlive") / 1_000);
    if (this.#keepAliveSeconds < 1 || this.#keepAliveSeconds > keepAliveSecondsMax)
      throw new UsageError(`source.keepAlive is from 1s to ${keepAliveSecondsMax}s, not "${keepAlive}"`);
  }

  /** As another client: it must not take the messages of the connector that runs. */
  async check(): Promise<string> {
    const { url } = this.#configuration;
    await tryConnection(url, this.#clientOptions());
    return `${this.address} accepts the connection`;
  }

  async run(run: SourceRun): Promise<void> {
    const { intake, health, signal, isDryRun } = run;
    const readers = this.#readers();
    const { url, qos = 1, read, sparkplugHost } = this.#configuration;
    const onMessages = (messages: readonly ReceivedMessage[]) => storeMessages(messages, readers, intake);
    const topics = read.map((one) => one.topic);
    const before = intake.mark(topicsMark);
    const options = {
      ...{ url, qos, topics, client: this.#clientOptions(run), onMessages },
      // The broker keeps the subscriptions of an earlier configuration.
      formerTopics: before === undefined ? [] : (parseJson(before) as string[]),
      ...(sparkplugHost !== undefined && !isDryRun && { hostTopic: `spBv1.0/STATE/${sparkplugHost}` }),
      onConnected: (client: MqttClient) => {
        this.#client = client;
        intake.offer({ marks: { [topicsMark]: JSON.stringify(topics) } });
        health.solved("source");
        health.tell("source", "Subscribed");
      },
      onProblem: (message: string) => {
        if (!signal.aborted) health.problem("source", message);
      },
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
    const nodes = new SparkplugNodes(read.series, read.integers64);
    const rebirths = new RebirthLimit(rebirthEveryMs);
    return (levels, payload, nowMs) => {
      const { points, events, rebirth, unborn = 0 } = nodes.read(levels, payload, nowMs);
      if (rebirth !== undefined && rebirths.take(rebirth, performance.now()))
        this.#client?.publish(rebirth, rebirthPayload(nowMs), { qos: 0 });
      const why = `no birth before these values of ${levels.join("/")} described them`;
      return { points, events, ...(unborn > 0 && { refused: { items: unborn, why } }) };
    };
  }

  /** A dry run has a session of its own, which ends with it. */
  #clientOptions(run?: SourceRun): IClientOptions {
    const { username, password, clientId, ca, cert, key } = this.#configuration;
    const isLasting = run !== undefined && !run.isDryRun;
    return {
      clientId: (isLasting ? clientId : undefined) ?? ownClientId(run?.instance ?? randomUUID()),
      ...{ clean: !isLasting, reconnectPeriod: 1_000, protocolVersion: 4 },
      keepalive: this.#keepAliveSeconds,
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      ...(ca !== undefined && { ca: fileOf(ca, "source.ca") }),
      ...(cert !== undefined && { cert: fileOf(cert, "source.cert") }),
      ...(key !== undefined && { key: fileOf(key, "source.key") }),
    };
  }
}

/** Resolves when the records are on disk, except for those of QoS 0: the broker does not keep these. */
async function storeMessages(
  messages: readonly ReceivedMessage[],
  readers: readonly Reader[],
  intake: Intake,
): Promise<void> {
  const found: FoundRecords[] = [];
  const refused: RefusedValues[] = [];
  for (const { packet, arrivedMs } of messages) {
    const levels = packet.topic.split("/");
    for (const { matches, read } of readers) {
      if (!matches(levels)) continue;
      try {
        const reading = read(levels, packet.payload as Buffer, arrivedMs);
        const records = reading instanceof Promise ? await reading : reading;
        append(records, packet.qos > 0, found);
        if (records.refused) refused.push(records.refused);
      } catch (problem) {
        const why = `A message of ${packet.topic} cannot be read: ${(problem as Error).message}`;
        refused.push({ items: 1, why });
      }
    }
  }
  if (refused.length > 0)
    intake.refuse(
      refused.reduce((sum, { items }) => sum + items, 0),
      refused[0]!.why,
    );
  await handOver(found, intake);
}

/** Records of consecutive messages. */
interface FoundRecords {
  /** The broker keeps the messages until they are acknowledged. */
  readonly isKept: boolean;
  readonly points: SourcePoint[];
  readonly events: SourceEvent[];
  readonly rows: SourceRow[];
}

/** Messages of QoS 0 stay apart, so that those that find no space in memory are dropped one by one. */
function append(records: SourceRecords, isKept: boolean, to: FoundRecords[]): void {
  const { points = [], events = [], rows = [] } = records;
  const last = to.at(-1);
  if (!isKept || !last?.isKept) {
    to.push({ isKept, points: [...points], events: [...events], rows: [...rows] });
    return;
  }
  for (const point of points) last.points.push(point);
  for (const event of events) last.events.push(event);
  for (const row of rows) last.rows.push(row);
}

/** In the order of the messages: of two values of one time the later one is kept. */
async function handOver(found: readonly FoundRecords[], intake: Intake): Promise<void> {
  const stored: Promise<void>[] = [];
  for (const { isKept, ...records } of found) {
    if (isKept) stored.push(intake.add(records));
    else intake.offer(records);
  }
  await Promise.all(stored);
}

/** How often one edge node is told to send its birth. */
const rebirthEveryMs = 5_000;

/** Two bytes of the protocol. */
const keepAliveSecondsMax = 65_535;

const topicsMark = "mqtt:topics";

/** At most 23 characters, which every broker takes. */
const ownClientId = (instance: string): string =>
  `millrace-${createHash("sha256").update(instance).digest("hex").slice(0, 14)}`;

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
