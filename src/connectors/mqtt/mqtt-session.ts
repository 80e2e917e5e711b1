// A session with an MQTT broker that acknowledges a message when its records are on disk.
import { once } from "node:events";
import { connect, connectAsync, type IClientOptions, type MqttClient } from "mqtt";
import { limits } from "../../limits.ts";
import { MqttReception, type ReceivedMessage } from "./reception.ts";

export interface SessionOptions {
  readonly url: string;
  readonly client: IClientOptions;
  readonly topics: readonly string[];
  /** Of an earlier run: those that are no longer among the topics are unsubscribed. */
  readonly formerTopics: readonly string[];
  /** The topic of the state of this Sparkplug host, if it is one. */
  readonly hostTopic?: string;
  readonly qos: 0 | 1;
  /** Resolves when the records of the messages are on disk. */
  readonly onMessages: (messages: readonly ReceivedMessage[]) => Promise<void>;
  readonly onConnected: (client: MqttClient) => void;
  readonly onProblem: (message: string) => void;
}

/**
 * Runs until the signal; connects again by itself. The broker keeps the session, so that it sends again what
 * was not acknowledged.
 */
export async function runSession(options: SessionOptions, signal: AbortSignal): Promise<void> {
  const host = options.hostTopic === undefined ? undefined : new SparkplugHost(options.hostTopic);
  const client = connect(options.url, {
    ...{ ...options.client, manualConnect: true, resubscribe: false },
    ...(host && { will: host.newWill() }),
  });
  const reception = prepare(client, options, host);
  client.connect();
  if (!signal.aborted) await once(signal, "abort");
  await reception.end();
  // Otherwise the library may begin a connection while it ends one that is not made yet.
  client.options.reconnectPeriod = 0;
  if (client.connected) await disconnect(client, host);
  await client.endAsync(true);
}

/**
 * Resolves when the broker has closed the connection, thus has read the last acknowledgements, or is too
 * slow. The library would not wait for bytes that are still to be sent.
 */
async function disconnect(client: MqttClient, host: SparkplugHost | undefined): Promise<void> {
  const { stream } = client;
  host?.withdraw(client);
  // A socket that is not read does not report its end.
  stream.unpipe();
  stream.resume();
  stream.end(disconnectPacket);
  await once(stream, "close", { signal: AbortSignal.timeout(limits.connectorMqttEndWaitMs) }).catch(() => {});
}

/** Of MQTT 3.1.1, section 3.14. */
const disconnectPacket = Buffer.from([0xe0, 0]);

function prepare(
  client: MqttClient,
  options: SessionOptions,
  host: SparkplugHost | undefined,
): MqttReception {
  const { onMessages, onConnected, onProblem } = options;
  const write = (bytes: Buffer) => client.stream.write(bytes);
  const reception = new MqttReception({ onMessages, onProblem, write });
  // The library would acknowledge each message when this calls back without an error. One error for all: the
  // stack of a new one took as long as reading the message.
  const acknowledgedLater = new Error("acknowledged later");
  client.handleMessage = (packet, next) => reception.take(packet, () => next(acknowledgedLater));
  watchSilence(client, reception, onProblem);
  client.on("packetreceive", ({ cmd }) => {
    if (cmd === "connack") reception.connectionChanged();
  });
  client.on("connect", () => {
    // Also with a session: mosquitto forgets shared subscriptions of a session when it restarts.
    subscribe(client, options).then(
      () => {
        host?.announce(client);
        onConnected(client);
      },
      (problem: unknown) => onProblem(`The broker refused the subscription: ${(problem as Error).message}`),
    );
  });
  client.on("close", () => {
    reception.connectionChanged();
    if (host) client.options.will = host.newWill();
  });
  client.on("error", ({ message }) => {
    // `watchSilence` has reported it.
    if (message !== "Keepalive timeout") onProblem(message);
  });
  client.on("offline", () => onProblem("The connection to the broker was lost"));
  return reception;
}

/**
 * The library takes a connection for dead when the response to its probe is late. With many messages before
 * it, the response is late on a good connection too, so any packet is a sign of life here. A socket that is
 * not read says nothing of the broker.
 */
function watchSilence(
  client: MqttClient,
  reception: MqttReception,
  onProblem: SessionOptions["onProblem"],
): void {
  const giveUp = client.onKeepaliveTimeout.bind(client);
  let heardMs = performance.now();
  client.on("packetreceive", () => {
    heardMs = performance.now();
  });
  client.onKeepaliveTimeout = () => {
    if (reception.isHeld) heardMs = performance.now();
    const silentMs = performance.now() - heardMs;
    if (silentMs < 1_500 * client.options.keepalive!) {
      client.sendPing();
      return;
    }
    onProblem(`The broker is silent for ${Math.round(silentMs / 1_000)} s`);
    giveUp();
  };
}

async function subscribe(client: MqttClient, { topics, formerTopics, qos }: SessionOptions): Promise<void> {
  const left = formerTopics.filter((one) => !topics.includes(one));
  if (left.length > 0) await client.unsubscribeAsync(left);
  await client.subscribeAsync([...topics], { qos });
}

/**
 * The state of a Sparkplug host application. Edge nodes take the will for a death only if it has the time of
 * the birth on the same connection (Sparkplug 3.0, chapter 5).
 */
class SparkplugHost {
  readonly #topic: string;
  #timestamp = 0;

  constructor(topic: string) {
    this.#topic = topic;
  }

  /** For the next connection. */
  newWill(): NonNullable<IClientOptions["will"]> {
    this.#timestamp = Date.now();
    return { topic: this.#topic, payload: Buffer.from(this.#state(false)), qos: 1, retain: true };
  }

  announce(client: MqttClient): void {
    client.publish(this.#topic, this.#state(true), { qos: 1, retain: true });
  }

  /** The broker does not publish the will of a client that disconnects in order. */
  withdraw(client: MqttClient): void {
    client.publish(this.#topic, this.#state(false), { qos: 1, retain: true });
  }

  #state = (online: boolean): string => JSON.stringify({ online, timestamp: this.#timestamp });
}

/** Connects once. Throws the reason if it cannot. */
export async function tryConnection(url: string, client: IClientOptions): Promise<void> {
  const connected = await connectAsync(url, { ...client, reconnectPeriod: 0 }, false);
  await connected.endAsync(true);
}
