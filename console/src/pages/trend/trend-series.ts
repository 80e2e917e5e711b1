// The series of a trend, stored and calculated: their records by name, and how their lines look.
import { useComputedColorScheme } from "@mantine/core";
import { useQueries } from "@tanstack/react-query";
import { useMemo } from "react";
import type { TimeSeries } from "../../api/generated.ts";
import { type FormulaText, formulasIn, leavesIn } from "../../lib/formula.ts";
import { useProject } from "../../session/session.ts";
import { chartColors, lineColor } from "../../ui/chart/chart-colors.ts";
import { type Fault, missingSeries } from "../../ui/expression/fault.ts";
import { seriesByNameQuery } from "../../ui/series-hits.ts";
import { useTrendSearch } from "./trend-state.tsx";

interface SeriesLook {
  /** Unique in the trend. */
  readonly key: string;
  readonly name: string;
  readonly description: string;
  readonly unit: string;
  readonly isStep: boolean;
  readonly isString: boolean;
  readonly isHidden: boolean;
  readonly color: string;
}

export interface StoredSeries extends SeriesLook {
  readonly kind: "stored";
  readonly id: number;
}

export interface Formula {
  readonly text: string;
  /** The ids of its series, by name. */
  readonly ids: Readonly<Record<string, number>>;
}

export interface CalculatedSeries extends SeriesLook {
  readonly kind: "calculated";
  readonly formula: Formula;
  /** Whether its series are found, so that it can be read. */
  readonly isReady: boolean;
  readonly fault: Fault | undefined;
}

export type TrendSeries = StoredSeries | CalculatedSeries;

export const isStored = (series: TrendSeries): series is StoredSeries => series.kind === "stored";

/** The key of a formula. It differs from the key of a stored series with the same name. */
export const formulaKey = (name: string): string => `=${name}`;

export interface FoundSeries {
  readonly series: readonly TrendSeries[];
  /** Whether the stored series are still loading. */
  readonly isPending: boolean;
  /** Names of stored series that do not exist, or that the person may not read. */
  readonly missing: readonly string[];
  /** Names of stored series whose records could not be read, and why. */
  readonly failed: readonly { readonly name: string; readonly problem: unknown }[];
}

const none: readonly string[] = [];

/** The series that the address names, each with the colour of its place. */
export function useTrendSeries(): FoundSeries {
  const names = useTrendSearch(({ series }) => series) ?? none;
  const calc = useTrendSearch((search) => search.calc) ?? none;
  const hidden = useTrendSearch((search) => search.hidden) ?? none;
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  const formulas = useMemo(() => formulasIn(calc), [calc]);
  const wanted = useMemo(() => {
    const inFormulas = formulas.flatMap(({ text }) => leavesIn(text).map(({ name }) => name));
    return [...new Set([...names, ...inFormulas.filter((name) => name !== "")])];
  }, [names, formulas]);
  const records = useRecords(wanted);
  return useMemo(() => {
    const look = (key: string, index: number) => ({
      ...{ key, isHidden: hidden.includes(key), color: lineColor(chartColors(scheme), index) },
    });
    const found = names.map((name) => ({ name, ...records[wanted.indexOf(name)]! }));
    const stored = found.flatMap(({ record }, index): StoredSeries[] => {
      if (!record) return [];
      const { id, name, description = "", unit = "", isStep, isString } = record;
      return [{ kind: "stored", id, name, description, unit, isStep, isString, ...look(name, index) }];
    });
    const calculated = formulas.map((formula, index) => ({
      ...calculatedOf(formula, (name) => records[wanted.indexOf(name)]!),
      ...look(formulaKey(formula.name), names.length + index),
    }));
    return {
      series: [...stored, ...calculated],
      isPending: found.some(({ isPending }) => isPending),
      missing: found.flatMap(({ name, record }) => (record === null ? name : [])),
      failed: found.flatMap(({ name, problem }) => (problem ? { name, problem } : [])),
    };
  }, [names, formulas, hidden, scheme, records, wanted]);
}

function calculatedOf(
  { name, unit, text }: FormulaText,
  recordOf: (name: string) => FoundRecord,
): Omit<CalculatedSeries, "key" | "isHidden" | "color"> {
  const leaves = leavesIn(text).filter((leaf) => leaf.name !== "");
  const found = leaves.map((leaf) => ({ name: leaf.name, ...recordOf(leaf.name) }));
  const idOf = ({ name, record }: (typeof found)[number]): number | undefined =>
    record?.id ?? (/^\d{1,15}$/.test(name) ? Number(name) : undefined);
  const isPending = found.some((one) => one.isPending);
  const missing = isPending ? undefined : found.find((one) => idOf(one) === undefined);
  const ids = found.flatMap((one) => (idOf(one) === undefined ? [] : [[one.name, idOf(one)!] as const]));
  return {
    ...{ kind: "calculated", name, unit, description: text, isStep: false, isString: false },
    formula: { text, ids: Object.fromEntries(ids) },
    fault: missing && missingSeries(text, missing.name),
    isReady: !isPending && missing === undefined && text.trim() !== "",
  };
}

interface FoundRecord {
  /** Null when there is no series of this name that the person may read. */
  readonly record: TimeSeries | null | undefined;
  readonly isPending: boolean;
  readonly problem: unknown;
}

/** The records of these names, in their order. */
function useRecords(names: readonly string[]): readonly FoundRecord[] {
  const project = useProject();
  return useQueries({
    queries: names.map((name) => seriesByNameQuery(project, name)),
    combine: foundRecords,
  });
}

const foundRecords = (
  results: readonly { data: TimeSeries | null | undefined; isPending: boolean; error: unknown }[],
): readonly FoundRecord[] =>
  results.map(({ data, isPending, error }) => ({ record: data, isPending, problem: error }));
