// Makes points of the values that a server sends, by their quality.

import type { Intake } from "../intake.ts";
import type { WayOfIntegers } from "../integers.ts";
import type { SeriesDescription, SourceEvent, SourcePoint } from "../records.ts";
import type { OpcUaSettings, Quality } from "./configuration.ts";
import type { DataValue } from "./library.ts";
import { isUsable, plainValueOf, timeOf } from "./values.ts";
import type { Variable } from "./variables.ts";

/** The state of a variable, kept over all sessions. */
interface Channel {
  variable: Variable;
  /** One object for all points of the series. */
  readonly series: SeriesDescription;
  readonly statusSeries: SeriesDescription;
  /** The time of its newest value. */
  lastMs?: number;
  lastStatus?: number;
  /** The start of its bad values. */
  bad?: { readonly sinceMs: number; readonly status: string };
}

export class Reception {
  readonly #intake: Intake;
  readonly #quality: Quality;
  readonly #integers64: WayOfIntegers;
  readonly #channels = new Map<string, Channel>();
  #points: SourcePoint[] = [];

  constructor(intake: Intake, { quality, integers64 }: Pick<OpcUaSettings, "quality" | "integers64">) {
    this.#intake = intake;
    this.#quality = quality;
    this.#integers64 = integers64;
  }

  /** The variable may have another id of its node since the last session. */
  know(variable: Variable): void {
    const known = this.#channels.get(variable.id);
    if (known) known.variable = variable;
    else
      this.#channels.set(variable.id, {
        ...{ variable, series: variable.series },
        statusSeries: {
          ...{ name: `${variable.series.name}.quality`, isStep: true },
          ...(variable.series.assetPath && { assetPath: variable.series.assetPath }),
        },
      });
  }

  lastMs({ id }: Variable): number | undefined {
    return this.#channels.get(id)?.lastMs;
  }

  /** A value of a subscription. Those of one message are handed over together. */
  take({ id }: Variable, value: DataValue): void {
    const channel = this.#channels.get(id)!;
    const timeMs = timeOf(value, Date.now());
    channel.lastMs = Math.max(timeMs, channel.lastMs ?? timeMs);
    const points = this.#pointsOf(channel, value, timeMs);
    if (points.length > 0 && this.#points.length === 0) queueMicrotask(() => this.#handOver());
    this.#points.push(...points);
    if (this.#quality === "gap") this.#followGap(channel, value, timeMs);
  }

  /** Values of the history. Resolves when they are on disk. */
  async takeHistory({ id }: Variable, values: readonly DataValue[]): Promise<number> {
    const channel = { ...this.#channels.get(id)! };
    delete channel.lastStatus;
    const points = values.flatMap((value) => this.#pointsOf(channel, value, timeOf(value, Date.now())));
    if (points.length > 0) await this.#intake.add({ points });
    return points.length;
  }

  /** Ends the gaps that are open: the next start begins new ones. */
  end(nowMs: number): void {
    const channels = this.#channels.values();
    const events = [...channels].flatMap((channel) => gapEvent(channel, nowMs));
    if (events.length > 0) this.#intake.offer({ events });
  }

  #handOver(): void {
    const points = this.#points;
    this.#points = [];
    this.#intake.offer({ points });
  }

  #pointsOf(channel: Channel, value: DataValue, timestamp: number): SourcePoint[] {
    const { series, statusSeries, variable } = channel;
    const points: SourcePoint[] = [];
    const status = value.statusCode.value >>> 0;
    if (this.#quality === "series" && status !== channel.lastStatus) {
      channel.lastStatus = status;
      points.push({ series: statusSeries, timestamp, value: status });
    }
    if (!isUsable(value)) return points;
    const converted = plainValueOf(value, variable, this.#integers64);
    if (converted === undefined)
      this.#intake.refuse(1, `A value of ${series.name} is not a ${variable.kind}, as its data type is`);
    else points.push({ series, timestamp, value: converted });
    return points;
  }

  #followGap(channel: Channel, value: DataValue, timeMs: number): void {
    const isBad = !isUsable(value);
    if (isBad) channel.bad ??= { sinceMs: timeMs, status: value.statusCode.name };
    else if (channel.bad) {
      this.#intake.offer({ events: gapEvent(channel, timeMs) });
      delete channel.bad;
    }
  }
}

function gapEvent({ bad, series }: Channel, endTime: number): SourceEvent[] {
  if (!bad) return [];
  const { sinceMs: startTime, status } = bad;
  return [
    {
      sourceId: `opcua:gap:${series.name}:${startTime}`,
      ...{ type: "opcua", subtype: "gap", startTime, endTime: Math.max(startTime, endTime) },
      description: `${series.name} had no good value: ${status}`,
      metadata: { series: series.name, status },
    },
  ];
}
