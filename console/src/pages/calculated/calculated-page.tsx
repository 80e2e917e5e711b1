// The page of calculated series: an expression, its errors in the text, and a preview of its results.
import { Alert, Button, Code, Group, SegmentedControl, Stack, TextInput } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { ChartSpline, CircleAlert, Sigma } from "lucide-react";
import { formulaEntry, withAggregates } from "../../lib/formula.ts";
import { useProject } from "../../session/session.ts";
import { CopyAs } from "../../ui/copy-as.tsx";
import { ExpressionEditor } from "../../ui/expression/expression-editor.tsx";
import { type Fault, faultOf, faultText, missingSeries } from "../../ui/expression/fault.ts";
import type { Suggestion } from "../../ui/expression/language.ts";
import { Page } from "../../ui/page.tsx";
import { Empty, Loading } from "../../ui/page-states.tsx";
import { AliasTable } from "./alias-table.tsx";
import { ResultPreview } from "./result-preview.tsx";
import { type Alias, aliasesIn, aliasText, type CalculatedSearch } from "./search.ts";
import { defaultStart, requestOf, usePreview } from "./use-preview.ts";
import { useTypedSeries } from "./use-typed-series.ts";

const ranges = [
  { value: "1h-ago", label: "1 h" },
  { value: "6h-ago", label: "6 h" },
  { value: "1d-ago", label: "1 d" },
  { value: "7d-ago", label: "7 d" },
  { value: "30d-ago", label: "30 d" },
];

export function CalculatedPage() {
  const search = useSearch({ from: "/frame/calculated" });
  const navigate = useNavigate({ from: "/calculated" });
  const preview = usePreview(search);
  const change = (part: CalculatedSearch) =>
    void navigate({ search: (now) => ({ ...now, ...part }), replace: true });
  const unknown = useTypedSeries(search, (all) => change({ alias: all.map(aliasText) }));
  const text = search.function ?? "";
  const fault =
    unknown === undefined
      ? faultOf(search.function && preview.error, { text, aliases: aliasesIn(search) })
      : missingSeries(text, unknown);
  const edit = (written: string, series: Suggestion["series"]) =>
    change({
      function: written === "" ? undefined : written,
      ...(series && { alias: withSeries(aliasesIn(search), series).map(aliasText) }),
    });
  return (
    <Page
      title="Calculated series"
      note="results are calculated for each read"
      actions={<Actions search={search} />}
    >
      <Stack gap="sm">
        <Group align="flex-end">
          <TextInput
            label="Name of the result"
            defaultValue={search.name ?? ""}
            onChange={(event) => change({ name: event.currentTarget.value || undefined })}
            placeholder="result"
          />
          <SegmentedControl
            aria-label="Range of the preview"
            data={ranges}
            value={search.start ?? defaultStart}
            onChange={(start) => change({ start })}
          />
        </Group>
        <ExpressionEditor text={text} fault={fault} onChange={edit} />
        {fault && <FaultNotice fault={fault} />}
        {aliasesIn(search).length > 0 && (
          <AliasTable
            aliases={aliasesIn(search)}
            text={text}
            onChange={(all) => change({ alias: all.map(aliasText) })}
          />
        )}
        {search.function === undefined && <Help />}
        {preview.isLoading && <Loading what="the results" />}
        {search.function !== undefined && preview.data && !fault && (
          <ResultPreview
            key={preview.data.start}
            name={search.name ?? "result"}
            results={preview.data.results}
          />
        )}
      </Stack>
    </Page>
  );
}

const FaultNotice = ({ fault }: { fault: Fault }) => (
  <Alert
    color="red"
    role="alert"
    icon={<CircleAlert size={18} aria-hidden />}
    title="The expression has an error"
  >
    {faultText(fault)}
  </Alert>
);

const withSeries = (
  aliases: readonly Alias[],
  { name, id }: { name: string; id: number },
): readonly Alias[] =>
  aliases.some(({ alias }) => alias === name) ? aliases : [...aliases, { alias: name, id }];

function Help() {
  return (
    <Empty title="Calculate one series from others" icon={<Sigma size={28} aria-hidden />}>
      Type <Code>[</Code> and the name of a series, then an operator: <Code>+ - * / %</Code>. Functions such
      as <Code>sqrt</Code> and <Code>avg</Code> need a series with an aggregate. The address has the whole
      expression: copy it to share the expression.
    </Empty>
  );
}

function Actions({ search }: { search: CalculatedSearch }) {
  const navigate = useNavigate();
  const project = useProject();
  const { name = "result", start = defaultStart } = search;
  const aliases = aliasesIn(search);
  const text = withAggregates(search.function ?? "", aliases);
  const series = aliases.map(({ alias }) => alias);
  return (
    <>
      {text !== "" && (
        <CopyAs
          request={{ method: "POST", project, path: "/timeseries/dataquery", body: requestOf(search) }}
        />
      )}
      <Button
        size="xs"
        leftSection={<ChartSpline size={14} aria-hidden />}
        disabled={text === ""}
        onClick={() =>
          void navigate({
            to: "/trend",
            search: { series, calc: [formulaEntry({ name, unit: "", text })], start },
          })
        }
      >
        Open in the trend
      </Button>
    </>
  );
}
