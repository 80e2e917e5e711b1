// Reads an OPC UA server: variables by subscription, outages and older data by its history.
import { setTimeout as pause } from "node:timers/promises";
import { Document } from "yaml";
import { UsageError } from "../../client/command.ts";
import { limits } from "../../limits.ts";
import type { PlantSource, SourceKind, SourceRun } from "../source.ts";
import { findVariables } from "./browse.ts";
import { type Configuration, type OpcUaSettings, opcUaSchema, settingsOf } from "./configuration.ts";
import { type EndpointDescription, type Library, loadLibrary } from "./library.ts";
import { Past } from "./past.ts";
import { Reception } from "./reception.ts";
import { endpointsOf, openSession, ownCertificate, type PlantSession } from "./session.ts";
import { Subscriptions } from "./subscriptions.ts";
import { describeVariables, type Variable } from "./variables.ts";

/** A session of this length was a good one: the next attempt comes soon. */
const stableMs = 60_000;
const firstRetryMs = 500;

class OpcUaSource implements PlantSource {
  readonly address: string;
  readonly #configuration: Configuration;
  readonly #settings: OpcUaSettings;

  constructor(configuration: Configuration) {
    this.#configuration = configuration;
    this.#settings = settingsOf(configuration);
    const { host, pathname } = new URL(configuration.endpoint);
    this.address = `opc.tcp://${host}${pathname === "/" ? "" : pathname}`;
  }

  async check(): Promise<string> {
    const library = await loadLibrary();
    const endpoints = await endpointsOf(library, this.#configuration).catch((problem: unknown) => {
      throw new Error(`${this.address} does not respond: ${messageOf(problem)}`);
    });
    const offered = `offers ${endpoints.map((one) => modeOf(one, library)).join(", ")}`;
    const { file, thumbprint } = ownCertificate(this.#configuration);
    const certificate = `our certificate is ${file}, thumbprint ${thumbprint}`;
    try {
      const plant = await openSession(library, this.#configuration);
      await plant.close();
    } catch (problem) {
      const advice = `${certificate}; the server needs it in its trust list unless the mode is None`;
      throw new Error(`${this.address} ${offered}. It refuses a session: ${messageOf(problem)}. ${advice}`);
    }
    return `${this.address} ${offered}; it accepts a session; ${certificate}`;
  }

  async discover(written: object): Promise<object> {
    const library = await loadLibrary();
    try {
      const plant = await openSession(library, this.#configuration);
      try {
        return this.#proposal(written, plant, await this.#variables(plant));
      } finally {
        await plant.close();
      }
    } catch (problem) {
      throw new Error(messageOf(problem), { cause: problem });
    }
  }

  #proposal(written: object, { namespaces }: PlantSession, { variables, others }: Found): object {
    const document = new Document();
    const folders = Map.groupBy(variables, ({ path }) => path.slice(0, -1).join("/"));
    const include = [...folders].map(([folder, found]) => {
      const pattern = document.createNode(folder === "" ? "*" : `${folder}/*`);
      const withHistory = found.filter((one) => one.hasHistory).length;
      pattern.comment = ` ${found.length} variables, ${withHistory} with history`;
      return pattern;
    });
    const { browse } = this.#configuration;
    const proposal = document.createNode({
      ...written,
      browse: { ...browse, include, name: this.#settings.browse.name },
    });
    proposal.commentBefore = [
      " Namespaces:",
      ...namespaces.map((uri, index) => ` ${index}: ${uri}`),
      ` Variables that are arrays, or neither numbers nor strings: ${others}.`,
    ].join("\n");
    return proposal;
  }

  async run(run: SourceRun): Promise<void> {
    const library = await loadLibrary();
    const reception = new Reception(run.intake, this.#settings);
    const past = new Past(run, this.#settings, reception, this.address);
    for (let failed = 0; !run.signal.aborted; ) {
      const startMs = performance.now();
      try {
        const plant = await openSession(library, this.#configuration);
        const reason = await this.#readUntilLost(plant, run, { reception, past });
        if (reason !== undefined) run.health.problem("source", reason);
      } catch (problem) {
        if (problem instanceof UsageError) throw problem;
        run.health.problem("source", messageOf(problem));
      }
      failed = performance.now() - startMs > stableMs ? 0 : failed + 1;
      const waitMs = Math.min(limits.connectorRetryWaitMsMax, firstRetryMs * 2 ** failed);
      await pause(waitMs, undefined, { signal: run.signal }).catch(() => {});
    }
    reception.end(Date.now());
    await run.intake.drain();
  }

  /** Returns the reason why the session was lost; undefined after the signal. */
  async #readUntilLost(
    plant: PlantSession,
    run: SourceRun,
    { reception, past }: { readonly reception: Reception; readonly past: Past },
  ): Promise<string | undefined> {
    const { promise: ended, resolve: end } = Promise.withResolvers<string | undefined>();
    const stop = () => end(undefined);
    run.signal.addEventListener("abort", stop);
    void plant.lost.then(end);
    const subscriptions = new Subscriptions(plant, this.#settings.subscribe, {
      onValue: (variable, value) => reception.take(variable, value),
      onHeard: () => past.heard(Date.now()),
      onLost: end,
    });
    const reading = this.#read({ plant, run, reception, past, subscriptions });
    // A lost session fails requests, too.
    reading.catch((problem: unknown) => end(messageOf(problem)));
    let browsing: NodeJS.Timeout | undefined;
    try {
      const known = await Promise.race([reading, ended]);
      if (known instanceof Set) {
        const again = () => this.#subscribeNew({ plant, run, reception, subscriptions, known });
        browsing = setInterval(() => {
          again().catch((problem: unknown) => end(messageOf(problem)));
        }, this.#settings.browse.everyMs);
      }
      return await ended;
    } finally {
      clearInterval(browsing);
      run.signal.removeEventListener("abort", stop);
      subscriptions[Symbol.dispose]();
      await plant.close();
    }
  }

  /** Subscribes to all variables and begins to read the past. Returns the ids of the variables. */
  async #read({ past, ...reading }: Reading & { readonly past: Past }): Promise<Set<string>> {
    const { plant, run, reception, subscriptions } = reading;
    const { variables, others } = await this.#variables(plant);
    for (const variable of variables) reception.know(variable);
    const outage = await past.beginFilling(variables);
    await this.#subscribe(reading, variables);
    run.health.solved("source");
    const left = others > 0 ? `, ${others} others are neither numbers nor strings` : "";
    const { count } = subscriptions;
    const where = count === 1 ? "1 subscription" : `${count} subscriptions`;
    run.health.tell("source", `Subscribed to ${variables.length} variables in ${where}${left}`);
    past
      .fill(plant, outage, variables)
      .then(() => past.backfill(plant, variables))
      .catch((problem: unknown) => run.health.note("source", `The history: ${messageOf(problem)}`));
    return new Set(variables.map(({ id }) => id));
  }

  async #subscribeNew({ known, ...reading }: Reading & { readonly known: Set<string> }): Promise<void> {
    const { variables } = await this.#variables(reading.plant);
    const added = variables.filter(({ id }) => !known.has(id));
    if (added.length === 0) return;
    for (const variable of added) {
      known.add(variable.id);
      reading.reception.know(variable);
    }
    await this.#subscribe(reading, added);
    reading.run.health.tell("source", `Found ${added.length} new variables`);
  }

  async #subscribe({ subscriptions, run }: Reading, variables: readonly Variable[]): Promise<void> {
    const [first, ...others] = await subscriptions.add(variables);
    if (!first) return;
    const more = others.length > 0 ? ` and ${others.length} others` : "";
    run.health.note("source", `The server refuses ${first.variable.series.name}${more}: ${first.reason}`);
  }

  async #variables(plant: PlantSession): Promise<Found> {
    const found = await findVariables(plant, this.#settings.browse);
    return await describeVariables(plant, found, this.#settings);
  }
}

interface Found {
  readonly variables: Variable[];
  /** How many variables are neither numbers nor strings. */
  readonly others: number;
}

interface Reading {
  readonly plant: PlantSession;
  readonly run: SourceRun;
  readonly reception: Reception;
  readonly subscriptions: Subscriptions;
}

const modeOf = ({ securityMode, securityPolicyUri }: EndpointDescription, library: Library): string =>
  `${library.MessageSecurityMode[securityMode]}/${securityPolicyUri?.split("#")[1] ?? "None"}`;

const messageOf = (problem: unknown): string => (problem as Error).message.split("\n")[0]!.trim();

export const opcUaKind: SourceKind = {
  schema: opcUaSchema,
  make: (configuration: Configuration) => new OpcUaSource(configuration),
};
