// An event of the plant, and how the sources of events begin and end them.
import type { Description } from "../description.ts";
import type { Instrument } from "../samples.ts";
import type { Plant } from "../simulation/plant.ts";

export interface PlantEvent {
  /** Unique among the open events. */
  readonly key: string;
  readonly type: string;
  readonly subtype: string;
  readonly description: string;
  readonly startMs: number;
  /** Absent while the event lasts. */
  readonly endMs?: number;
  /** The names of the linked assets. */
  readonly assets: readonly string[];
  readonly metadata: Metadata;
}

export type Metadata = Readonly<Record<string, string>>;

/** The state that sources of events observe. */
export interface Watched {
  readonly plant: Plant;
  readonly description: Description;
  readonly instruments: readonly Instrument[];
  /** The end of the history. */
  readonly endMs: number;
}

/** Where a watch starts; events of `open` began before. */
export interface WatchStart {
  readonly startMs: number;
  readonly open: readonly PlantEvent[];
}

/** The events that have begun and not ended. */
export interface OpenEvents {
  has(key: string): boolean;
  begin(event: PlantEvent): void;
  /** The metadata are added to those of the event. */
  end(key: string, endMs: number, metadata?: Metadata): void;
}

/** Begins and ends events of one kind as time passes. */
export interface EventSource {
  observe(ms: number, events: OpenEvents): void;
}

export const externalIdOf = ({ key, startMs }: PlantEvent): string => `${key} ${startMs}`;
