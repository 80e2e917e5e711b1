// Subscriptions of at most 1,000 variables, and the watch over them.
import { limits } from "../../limits.ts";
import type { SubscribeOptions } from "./configuration.ts";
import type { DataValue, MonitoredGroup, Subscription } from "./library.ts";
import type { PlantSession } from "./session.ts";
import type { Variable } from "./variables.ts";

export interface SubscriptionEvents {
  readonly onValue: (variable: Variable, value: DataValue) => void;
  /** A message of any subscription arrived, with or without values. */
  readonly onHeard: () => void;
  /** A subscription ended, or was silent for too long. */
  readonly onLost: (reason: string) => void;
}

const valueAttribute = 13;
const timestamps = { both: 2 } as const;
const keepAliveMs = 5_000;
const watchEveryMs = 1_000;
const absoluteDeadBand = 1;
const statusOrValue = 1;

/** A server refuses a dead band for values that are no numbers with these. */
const filterRefusals: readonly string[] = [
  "BadMonitoredItemFilterUnsupported",
  "BadFilterNotAllowed",
  "BadMonitoredItemFilterInvalid",
];

export class Subscriptions implements Disposable {
  readonly #plant: PlantSession;
  readonly #options: SubscribeOptions;
  readonly #events: SubscriptionEvents;
  readonly #heard = new Map<Subscription, number>();
  readonly #watch: NodeJS.Timeout;
  #isDisposed = false;

  constructor(plant: PlantSession, options: SubscribeOptions, events: SubscriptionEvents) {
    this.#plant = plant;
    this.#options = options;
    this.#events = events;
    this.#watch = setInterval(() => this.#look(), watchEveryMs);
  }

  get count(): number {
    return this.#heard.size;
  }

  /** Returns the variables that the server refuses, with its reason. */
  async add(variables: readonly Variable[]): Promise<{ variable: Variable; reason: string }[]> {
    const refused: { variable: Variable; reason: string }[] = [];
    for (let at = 0; at < variables.length; at += limits.connectorOpcUaItemsPerSubscription) {
      const some = variables.slice(at, at + limits.connectorOpcUaItemsPerSubscription);
      refused.push(...(await this.#monitorAll(await this.#create(), some)));
    }
    return refused;
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    clearInterval(this.#watch);
  }

  async #create(): Promise<Subscription> {
    const { publishingMs, silence } = this.#options;
    const requestedMaxKeepAliveCount = Math.max(1, Math.ceil(keepAliveMs / publishingMs));
    const subscription = await this.#plant.session.createSubscription2({
      requestedPublishingInterval: publishingMs,
      requestedMaxKeepAliveCount,
      requestedLifetimeCount: requestedMaxKeepAliveCount * Math.max(10, 2 * silence),
      maxNotificationsPerPublish: limits.connectorOpcUaItemsPerSubscription,
      ...{ publishingEnabled: true, priority: 1 },
    });
    const heard = () => {
      this.#heard.set(subscription, performance.now());
      this.#events.onHeard();
    };
    heard();
    subscription.on("raw_notification", heard);
    subscription.on("status_changed", (status: { name: string }) =>
      this.#lose(`The server ended a subscription: ${status.name}`),
    );
    subscription.on("terminated", () => this.#lose("A subscription ended"));
    subscription.on("internal_error", (problem: Error) => this.#lose(problem.message));
    return subscription;
  }

  #lose(reason: string): void {
    if (!this.#isDisposed) this.#events.onLost(reason);
  }

  #look(): void {
    for (const [{ publishingInterval, maxKeepAliveCount }, heardMs] of this.#heard) {
      const silentMs = performance.now() - heardMs;
      const mostMs = this.#options.silence * Math.max(publishingInterval * maxKeepAliveCount, watchEveryMs);
      if (silentMs > mostMs) this.#lose(`A subscription is silent for ${Math.round(silentMs / 1_000)} s`);
    }
  }

  async #monitorAll(subscription: Subscription, variables: readonly Variable[]) {
    const { deadBand } = this.#options;
    const isBanded = ({ kind }: Variable) => deadBand > 0 && kind === "number";
    const refused = await this.#monitor(subscription, variables.filter(isBanded), true);
    const again = refused.filter(({ reason }) => filterRefusals.includes(reason));
    const plain = [...variables.filter((one) => !isBanded(one)), ...again.map(({ variable }) => variable)];
    return [
      ...refused.filter((one) => !again.includes(one)),
      ...(await this.#monitor(subscription, plain, false)),
    ];
  }

  async #monitor(subscription: Subscription, variables: readonly Variable[], isBanded: boolean) {
    const { samplingMs, queue, deadBand } = this.#options;
    const { library, perRequest } = this.#plant;
    const filter = isBanded
      ? new library.DataChangeFilter({
          ...{ trigger: statusOrValue, deadbandType: absoluteDeadBand, deadbandValue: deadBand },
        })
      : null;
    const parameters = { samplingInterval: samplingMs, queueSize: queue, discardOldest: true, filter };
    const refused: { variable: Variable; reason: string }[] = [];
    for (let at = 0; at < variables.length; at += perRequest.monitor) {
      const some = variables.slice(at, at + perRequest.monitor);
      const items = some.map(({ nodeId }) => ({ nodeId, attributeId: valueAttribute }));
      const group = await subscription.monitorItems(items, parameters, timestamps.both);
      this.#listen(group, some);
      for (const [i, { statusCode }] of group.monitoredItems.entries())
        if (statusCode.value >>> 30 !== 0) refused.push({ variable: some[i]!, reason: statusCode.name });
    }
    return refused;
  }

  #listen(group: MonitoredGroup, variables: readonly Variable[]): void {
    group.on("changed", (_item: unknown, value: DataValue, index: number) => {
      if (!this.#isDisposed) this.#events.onValue(variables[index]!, value);
    });
  }
}
