// Types a calculated series into the trend. The chart shows its results while the formula is typed.
import { Button, Group, Paper, Text, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useState } from "react";
import { type FormulaText, formulaEntry, formulasIn, withoutSeparators } from "../../lib/formula.ts";
import { pointsIn, type TimeWindow } from "../../ui/chart/columns.ts";
import { ExpressionEditor } from "../../ui/expression/expression-editor.tsx";
import { faultText } from "../../ui/expression/fault.ts";
import { resolutionText } from "./resolution.ts";
import type { TrendSearch } from "./search.ts";
import { latestText, type TrendRow } from "./series-table.tsx";
import classes from "./trend.module.css";
import { formulaKey } from "./trend-series.ts";
import { useTrendActions, useTrendShown } from "./trend-state.tsx";

const typingPauseMs = 300;

interface FormulaEditorProps {
  /** The place of the formula in the address; after the last one for a new formula. */
  readonly index: number;
  readonly rows: readonly TrendRow[];
  onClose(): void;
}

export function FormulaEditor({ index, rows, onClose }: FormulaEditorProps) {
  const { correct } = useTrendActions();
  const { search, window } = useTrendShown();
  const formulas = formulasIn(search.calc ?? []);
  const [formula, setFormula] = useState(() => formulas[index] ?? newFormula(formulas));
  const write = useDebouncedCallback(
    (written: FormulaText) => correct(withFormula(search, formulas, { index, written })),
    { delay: typingPauseMs, flushOnUnmount: true },
  );
  const others = formulas.filter((_, other) => other !== index);
  const refusal = refusalOf(formula.name, others);
  const edit = (part: Partial<FormulaText>) => {
    const edited = { ...formula, ...part };
    setFormula(edited);
    if (refusalOf(edited.name, others) === undefined && edited.text.trim() !== "") write(edited);
  };
  const row = rows.find(({ series }) => series.key === formulaKey(formulas[index]?.name ?? ""));
  const isTyped = formula.text.trim() !== "";
  return (
    <Paper component="section" aria-label="Formula" withBorder p="xs" className={classes["formula"]}>
      <div className={classes["formulaFields"]}>
        <TextInput
          size="xs"
          label="Name"
          value={formula.name}
          error={refusal}
          onChange={(event) => edit({ name: withoutSeparators(event.currentTarget.value) })}
        />
        <TextInput
          size="xs"
          label="Unit"
          value={formula.unit}
          onChange={(event) => edit({ unit: withoutSeparators(event.currentTarget.value) })}
        />
        <ExpressionEditor
          takesFocus
          text={formula.text}
          fault={isTyped ? row?.fault : undefined}
          onChange={(text) => edit({ text })}
        />
      </div>
      <Group justify="space-between" gap="xs">
        <FormulaResult row={isTyped ? row : undefined} window={window} />
        <Button size="compact-sm" onClick={onClose}>
          Done
        </Button>
      </Group>
    </Paper>
  );
}

/** The error of the formula, or its latest result. */
function FormulaResult({ row, window }: { row: TrendRow | undefined; window: TimeWindow }) {
  if (row?.fault)
    return (
      <Text size="sm" role="alert" c="var(--mantine-color-error)">
        {faultText(row.fault)}
      </Text>
    );
  const { columns } = row?.line ?? {};
  const hasResults = columns && pointsIn(columns, window) > 0;
  return (
    <Text size="sm" c="var(--text-quiet)" role="status">
      {!row && "Example: 100 * [outflow] / [inflow]. Type [ and the beginning of the name of a series."}
      {row && !columns && "Calculating…"}
      {row && columns && !hasResults && "No results in this time: each series needs a value."}
      {row && hasResults && `Latest ${latestText(row.line, window)}, ${resolutionText(columns)}`}
    </Text>
  );
}

function refusalOf(name: string, others: readonly FormulaText[]): string | undefined {
  if (name.trim() === "") return "The formula needs a name.";
  return others.some((other) => other.name === name) ? "Another formula has this name." : undefined;
}

function newFormula(formulas: readonly FormulaText[]): FormulaText {
  const isFree = (name: string) => formulas.every((other) => other.name !== name);
  const numbers = Array.from({ length: formulas.length + 1 }, (_, index) => index + 1);
  const name = numbers.map((number) => `formula ${number}`).find(isFree)!;
  return { name, unit: "", text: "" };
}

/** The address with the formula; a formula with another name stays hidden if it was. */
function withFormula(
  { hidden }: TrendSearch,
  formulas: readonly FormulaText[],
  { index, written }: { readonly index: number; readonly written: FormulaText },
): Partial<TrendSearch> {
  const before = formulas[index];
  const all = before ? formulas.with(index, written) : [...formulas, written];
  return {
    calc: all.map(formulaEntry),
    ...(before && {
      hidden: hidden?.map((key) => (key === formulaKey(before.name) ? formulaKey(written.name) : key)),
    }),
  };
}
