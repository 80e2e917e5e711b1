// The fields of the form of a schedule, and the data spec that they make (docs/models.md#schedules).
import type { ModelSchedule, NewModelSchedule } from "../../api/generated.ts";
import { localTimeMs, localTimeText } from "../../lib/local-time.ts";

export interface SpanFields {
  readonly count: number | string;
  readonly unitMs: number;
}

export interface InputRow {
  readonly row: number;
  readonly alias: string;
  readonly id: number | undefined;
  /** Empty for points. */
  readonly aggregate: string;
  readonly granularity: string;
}

export interface OutputRow {
  readonly row: number;
  readonly alias: string;
  readonly id: number | undefined;
  readonly offset: number | string;
}

export interface ScheduleFields {
  readonly name: string;
  readonly description: string;
  readonly modelId: number | undefined;
  readonly inputs: readonly InputRow[];
  readonly outputs: readonly OutputRow[];
  readonly stride: SpanFields;
  readonly window: SpanFields;
  readonly slack: SpanFields;
  /** A window waits until each input has a later point, in place of `slack`. */
  readonly waitsForData: boolean;
  /** The text of the date picker; null for now. */
  readonly start: string | null;
  readonly args: string;
}

export const spanUnits = [
  { ms: 1_000, label: "seconds" },
  { ms: 60_000, label: "minutes" },
  { ms: 3_600_000, label: "hours" },
  { ms: 86_400_000, label: "days" },
] as const;

export const newInput = (row: number): InputRow => ({
  ...{ row, alias: "", id: undefined, aggregate: "", granularity: "1m" },
});
export const newOutput = (row: number): OutputRow => ({ row, alias: "", id: undefined, offset: 0 });

const tenMinutes: SpanFields = { count: 10, unitMs: 60_000 };

export const newSchedule: ScheduleFields = {
  ...{ name: "", description: "", modelId: undefined, start: null, args: "{}", waitsForData: false },
  ...{ inputs: [newInput(0)], outputs: [newOutput(0)] },
  ...{ stride: tenMinutes, window: tenMinutes, slack: { count: 0, unitMs: 60_000 } },
};

export const spanMs = ({ count, unitMs }: SpanFields): number => Math.round(Number(count) * unitMs);

const spanOf = (ms: number): SpanFields => {
  const unit = spanUnits.findLast((one) => ms % one.ms === 0) ?? spanUnits[0];
  return { count: ms / unit.ms, unitMs: unit.ms };
};

interface Spec {
  readonly input?: {
    readonly timeSeries?: Record<string, { id: number; aggregate?: string; granularity?: string }>;
    readonly files?: object;
  };
  readonly output?: { readonly timeSeries?: Record<string, { id: number; offset?: number }> };
  readonly stride?: number;
  readonly windowSize?: number;
  readonly slack?: number;
  readonly start?: number;
}

/** The newer form of the data spec; undefined for schedules of the older form. */
export const specOf = ({ dataSpec }: ModelSchedule): Spec | undefined =>
  dataSpec?.["output"] ? (dataSpec as Spec) : undefined;

/** Whether the form has a field for each member of the data spec. */
export const canCopy = (schedule: ModelSchedule): boolean => {
  const spec = specOf(schedule);
  return spec?.stride !== undefined && spec.windowSize !== undefined && spec.input?.files === undefined;
};

/** The fields for a copy of a schedule, which starts now. */
export function copyOf(schedule: ModelSchedule): ScheduleFields {
  const { input, output, stride = 0, windowSize = 0, slack = 0 } = specOf(schedule) ?? {};
  return {
    ...{ name: schedule.name, description: schedule.description ?? "", modelId: schedule.modelId },
    inputs: Object.entries(input?.timeSeries ?? {}).map(([alias, one], row) => ({
      ...{ row, alias, id: one.id, aggregate: one.aggregate ?? "", granularity: one.granularity ?? "1m" },
    })),
    outputs: Object.entries(output?.timeSeries ?? {}).map(([alias, { id, offset = 0 }], row) => ({
      ...{ row, alias, id, offset },
    })),
    ...{ stride: spanOf(stride), window: spanOf(windowSize), slack: spanOf(Math.max(0, slack)) },
    ...{ waitsForData: slack === -1, start: localTimeText(undefined), args: JSON.stringify(schedule.args) },
  };
}

const isNamed = ({ alias, id }: { readonly alias: string; readonly id: number | undefined }): boolean =>
  alias !== "" && id !== undefined;

/** Rows without an alias and a series are left out, so at least one output needs both. */
export const isComplete = ({ name, modelId, inputs, outputs }: ScheduleFields): boolean =>
  name !== "" &&
  modelId !== undefined &&
  outputs.some(isNamed) &&
  [...inputs, ...outputs].every((one) => isNamed(one) || (one.alias === "" && one.id === undefined));

export function scheduleOf(fields: ScheduleFields, args: Record<string, unknown>): NewModelSchedule {
  const { name, description, modelId, start, inputs, outputs } = fields;
  const startMs = localTimeMs(start);
  const read = inputs
    .filter(isNamed)
    .map(({ alias, id, aggregate, granularity }) => [
      alias,
      { id: id!, ...(aggregate !== "" && { aggregate, granularity }) },
    ]);
  const written = outputs
    .filter(isNamed)
    .map(({ alias, id, offset }) => [alias, { id: id!, offset: Number(offset) }]);
  return {
    ...{ name, modelId: modelId!, args, ...(description !== "" && { description }) },
    dataSpec: {
      input: { timeSeries: Object.fromEntries(read) },
      output: { timeSeries: Object.fromEntries(written) },
      ...{ stride: spanMs(fields.stride), windowSize: spanMs(fields.window) },
      slack: fields.waitsForData ? -1 : spanMs(fields.slack),
      ...(startMs !== undefined && { start: startMs }),
    },
  };
}
