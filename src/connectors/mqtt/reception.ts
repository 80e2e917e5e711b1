// Messages between the socket and the disk: they are read in batches and in order, and acknowledged together.
import type { IPublishPacket } from "mqtt";
import { limits } from "../../limits.ts";

export interface ReceivedMessage {
  readonly packet: IPublishPacket;
  readonly arrivedMs: number;
}

export interface MqttReceptionOptions {
  /** Resolves when the records of the messages are on disk. */
  readonly onMessages: (messages: readonly ReceivedMessage[]) => Promise<void>;
  readonly onProblem: (message: string) => void;
  /** Writes acknowledgements to the connection on which the messages came. */
  readonly write: (bytes: Buffer) => void;
}

interface Waiting extends ReceivedMessage {
  readonly connection: number;
}

/**
 * Reads a batch only when the one before is on disk, and holds back the socket while many messages wait. It
 * reads one message after another: each evaluation of JSONata has dozens of promises, and a thousand at once
 * took twice the time.
 */
export class MqttReception {
  readonly #options: MqttReceptionOptions;
  #waiting: Waiting[] = [];
  /** Of the messages that are not on disk. */
  readonly #load = { messages: 0, bytes: 0 };
  #handling: Promise<void> | undefined;
  #readOn: (() => void) | undefined;
  #connection = 0;
  #isEnding = false;

  constructor(options: MqttReceptionOptions) {
    this.#options = options;
  }

  /** The socket is not read now. */
  get isHeld(): boolean {
    return this.#readOn !== undefined;
  }

  /** `readOn` reads the next message of the socket. It is called when fewer wait. */
  take(packet: IPublishPacket, readOn: () => void): void {
    if (this.#isEnding) return;
    this.#waiting.push({ packet, arrivedMs: Date.now(), connection: this.#connection });
    this.#load.messages += 1;
    this.#load.bytes += bytesOf(packet);
    this.#handling ??= this.#handleAll();
    if (this.#isFull) this.#readOn = readOn;
    else readOn();
  }

  /**
   * Call when a connection begins and when it ends: the library hands over messages of a connection that has
   * ended. The broker sends the unacknowledged messages again on the next connection.
   */
  connectionChanged(): void {
    this.#connection += 1;
    this.#readOn = undefined;
  }

  /** Takes no more messages. Resolves when those that were taken are acknowledged, or cannot be stored. */
  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#handling;
  }

  get #isFull(): boolean {
    const { messages, bytes } = this.#load;
    return messages >= limits.connectorMqttMessagesWaitingMax || bytes >= limits.connectorMqttBytesWaitingMax;
  }

  async #handleAll(): Promise<void> {
    // The library hands over all messages of a chunk of the socket before promises continue.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await this.#options.onMessages(batch);
        this.#acknowledge(batch);
      } catch (problem) {
        this.#options.onProblem((problem as Error).message);
      }
      this.#load.messages -= batch.length;
      for (const { packet } of batch) this.#load.bytes -= bytesOf(packet);
      if (!this.#isFull) {
        const readOn = this.#readOn;
        this.#readOn = undefined;
        readOn?.();
      }
    }
    this.#handling = undefined;
  }

  #acknowledge(batch: readonly Waiting[]): void {
    const ids = batch
      .filter(({ packet, connection }) => packet.qos === 1 && connection === this.#connection)
      .map(({ packet }) => packet.messageId!);
    if (ids.length > 0) this.#options.write(acknowledgements(ids));
  }
}

const bytesOf = ({ topic, payload }: IPublishPacket): number => topic.length + payload.length;

/** A packet PUBACK of MQTT 3.1.1 for each message: its type and length, and the id (section 3.4). */
function acknowledgements(ids: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(4 * ids.length);
  for (const [i, id] of ids.entries()) bytes.writeUInt32BE(0x40_02_00_00 + id, 4 * i);
  return bytes;
}
