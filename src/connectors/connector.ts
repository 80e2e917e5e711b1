// A running connector: the source fills the buffer, the forwarder empties it, and reports tell the server.
import { Connection, ServerProblem } from "../client/connection.ts";
import { version } from "../lib/version.ts";
import { limits } from "../limits.ts";
import type { ConnectorConfiguration } from "./configuration.ts";
import { Destination } from "./destination.ts";
import { type BufferState, type Counts, ForwardBuffer } from "./forward-buffer.ts";
import { Forwarder, type NewestPoint } from "./forwarder.ts";
import { Health, type Problem } from "./health.ts";
import { Intake } from "./intake.ts";
import type { PlantSource } from "./source.ts";

export interface ConnectorOptions {
  readonly configuration: ConnectorConfiguration;
  readonly source: PlantSource;
  readonly log: (line: string) => void;
  /** Aborted to end the connector in order. */
  readonly stop: AbortSignal;
}

/** The state that the status line, the metrics and the reports show. */
export interface ConnectorState {
  readonly name: string;
  readonly status: "RUNNING" | "DEGRADED" | "STOPPED";
  readonly counts: Counts;
  readonly buffer: BufferState;
  readonly problems: readonly Problem[];
  readonly lastProblem: Problem | undefined;
  readonly newest: NewestPoint | undefined;
}

/** Time for the last records to reach the server at the end. */
const lastSendingMsMax = 5_000;

export class Connector {
  readonly #options: ConnectorOptions;
  readonly #buffer: ForwardBuffer;
  readonly #health: Health;
  readonly #forwarder: Forwarder;
  readonly #intake: Intake;
  readonly #connection: Connection;
  readonly #destination: Destination;
  readonly #startedMs = Date.now();
  /** Ends the sending: some time after the source has ended. */
  readonly #ending = new AbortController();
  #isStopped = false;

  constructor(options: ConnectorOptions) {
    this.#options = options;
    const { configuration, stop, log } = options;
    const { name, buffer, destination, requestMs } = configuration;
    this.#buffer = new ForwardBuffer(buffer.folder, buffer);
    this.#health = new Health(log);
    this.#connection = new Connection(
      { ...destination, server: destination.server.replace(/\/+$/, "") },
      this.#ending.signal,
      // The forwarder repeats, and shows that it does.
      { requestMs, retriesMax: 0 },
    );
    const { prefix = "", asset, createSeries = true, createAssets = false } = destination;
    this.#destination = new Destination(this.#connection, {
      name,
      prefix,
      asset,
      createSeries,
      createAssets,
    });
    const { signal } = this.#ending;
    this.#forwarder = new Forwarder({
      ...{ buffer: this.#buffer, destination: this.#destination, health: this.#health, signal },
      prepare: () => this.#login(),
    });
    this.#intake = new Intake(this.#buffer, {
      ...{ whenFull: buffer.whenFull, health: this.#health, signal: stop },
      onStored: () => this.#forwarder.stored(),
    });
  }

  get state(): ConnectorState {
    const problems = this.#health.current;
    const running = problems.length > 0 ? "DEGRADED" : "RUNNING";
    return {
      name: this.#options.configuration.name,
      status: this.#isStopped ? "STOPPED" : running,
      ...{ counts: this.#buffer.counts, buffer: this.#buffer.state, problems },
      ...{ lastProblem: this.#health.last, newest: this.#forwarder.newest },
    };
  }

  /**
   * Runs until it is stopped, or the source or the server refuses for good. Returns the state once
   * the last records are sent.
   */
  async run(): Promise<ConnectorState> {
    const { source, stop } = this.#options;
    let isReporting = false;
    // One at a time: while the network is half open each waits until its time is over.
    const report = async () => {
      if (isReporting) return;
      isReporting = true;
      await this.#report();
      isReporting = false;
    };
    const reports = setInterval(() => void report(), limits.connectorReportMs);
    void report();
    const forwarding = this.#forwarder.run();
    const server = { latest: (series: Parameters<Destination["latest"]>[0]) => this.#latest(series) };
    try {
      await source.run({
        ...{ instance: this.#buffer.instance, isDryRun: false },
        ...{ intake: this.#intake, health: this.#health, server, signal: stop },
      });
      await this.#intake.drain();
      await this.#sendRest();
      return this.state;
    } finally {
      clearInterval(reports);
      this.#isStopped = true;
      // A server that does not respond must not hold up the end.
      const giveUp = setTimeout(() => this.#ending.abort(), lastSendingMsMax);
      await this.#report();
      clearTimeout(giveUp);
      this.#ending.abort();
      await forwarding;
      this.#buffer.close();
    }
  }

  /** The last records, if the server takes them soon. */
  async #sendRest(): Promise<void> {
    const endMs = performance.now() + lastSendingMsMax;
    while (this.#buffer.state.items > 0 && performance.now() < endMs)
      await new Promise((resolve) => setTimeout(resolve, 20));
  }

  async #latest(series: Parameters<Destination["latest"]>[0]): Promise<(number | undefined)[]> {
    await this.#login();
    return await this.#destination.latest(series);
  }

  async #login(): Promise<void> {
    if (this.#connection.project === "") await this.#connection.login();
  }

  /** The server may be away, or be an older one without connectors: both are no problem of the connector. */
  async #report(): Promise<void> {
    const { source, configuration } = this.#options;
    const { status, counts, buffer, problems, lastProblem, newest } = this.state;
    const shown = problems.at(-1) ?? lastProblem;
    const report = {
      ...{ name: configuration.name, instance: this.#buffer.instance, source: configuration.source.type },
      ...{ address: source.address, version, startedTime: this.#startedMs, status, counts },
      ...(shown && {
        error: {
          message: shown.message.slice(0, limits.connectorTextLengthMax).toWellFormed(),
          time: shown.timeMs,
        },
      }),
      buffer: { points: buffer.items, bytes: buffer.bytes, oldestTime: buffer.oldestMs },
      ...(newest && { newestTime: newest.timeMs, lagMs: newest.lagMs }),
    };
    try {
      await this.#login();
      const path = this.#connection.pathOf("connectors/report", "0.6");
      await this.#connection.jsonOnce("POST", path, { body: JSON.stringify({ items: [report] }) });
      this.#health.solved("report");
    } catch (problem) {
      const isConflict = problem instanceof ServerProblem && problem.status === 409;
      if (isConflict) this.#health.problem("report", problem.message);
    }
  }
}
