// The trend: series over time, as fine as the screen can show, down to every point.
import { Alert, Button, Group, Text } from "@mantine/core";
import { TriangleAlert } from "lucide-react";
import { useRef, useState } from "react";
import { messageOf } from "../../api/errors.ts";
import { formulasIn } from "../../lib/formula.ts";
import { type ApiRequest, snippetsOf } from "../../lib/snippets.ts";
import { useProject } from "../../session/session.ts";
import type { TimeWindow } from "../../ui/chart/columns.ts";
import { CopyMenu } from "../../ui/copy-as.tsx";
import { Page } from "../../ui/page.tsx";
import { Loading } from "../../ui/page-states.tsx";
import { CopyLink } from "./export-menu.tsx";
import { NothingChosen } from "./nothing-chosen.tsx";
import { formulaItem } from "./read-points.ts";
import { bucketFor, granularityOf } from "./resolution.ts";
import { SavedTrends } from "./saved-trends.tsx";
import type { TrendSearch } from "./search.ts";
import { Toolbar } from "./toolbar.tsx";
import { type FoundSeries, isStored, type TrendSeries, useTrendSeries } from "./trend-series.ts";
import { TrendProvider, useTrendActions, useTrendSearch, useTrendShown } from "./trend-state.tsx";
import { TrendView } from "./trend-view.tsx";
import { useFirstData } from "./use-early-data.ts";
import { lengthText } from "./window.ts";

export const TrendPage = () => (
  <TrendProvider>
    <Trend />
  </TrendProvider>
);

const none: readonly string[] = [];

/** Renders when the series change, and not with the window: the parts that follow it take it themselves. */
function Trend() {
  const { open, shown } = useTrendActions();
  const found = useTrendSeries();
  /** The place of the formula that is edited. */
  const [edited, setEdited] = useState<number>();
  const names = useTrendSearch(({ series }) => series) ?? none;
  const place = useRef<HTMLDivElement>(null);
  useFirstData(names, place);
  const openOther = (other: TrendSearch) => {
    setEdited(undefined);
    open(other);
  };
  return (
    <Page
      title="Trend"
      fills
      note={<WindowLength />}
      actions={
        <>
          <SavedTrends onOpen={openOther} />
          <CopyLink />
          <CopyTrend series={found.series} />
        </>
      }
      toolbar={
        <Toolbar
          series={found.series}
          onFormula={() => setEdited(formulasIn(shown().search.calc ?? none).length)}
        />
      }
    >
      <div ref={place} />
      {found.isPending && <Loading what="the series" />}
      <NotDrawn found={found} />
      {names.length === 0 && found.series.length === 0 && edited === undefined && <NothingChosen />}
      {(found.series.length > 0 || edited !== undefined) && !found.isPending && (
        <TrendView series={found.series} edited={edited} onEdit={setEdited} />
      )}
    </Page>
  );
}

const WindowLength = () => lengthText(useTrendShown().window);

/** Says which series are not drawn, and why. The others are drawn. */
function NotDrawn({ found: { missing, failed } }: { readonly found: FoundSeries }) {
  const { shown, change } = useTrendActions();
  const remove = (name: string) => change({ series: shown().search.series?.filter((one) => one !== name) });
  const reasons = [
    ...missing.map((name) => ({
      name,
      reason: "is not drawn: it was deleted or renamed, or you may not read it.",
    })),
    ...failed.map(({ name, problem }) => ({ name, reason: `is not drawn: ${messageOf(problem)}` })),
  ];
  if (reasons.length === 0) return null;
  return (
    <Alert color="orange" mb="xs" p="xs" role="alert" icon={<TriangleAlert size={16} aria-hidden />}>
      {reasons.map(({ name, reason }) => (
        <Group key={name} gap="xs">
          <Text size="sm">
            <strong>{name}</strong> {reason}
          </Text>
          <Button size="compact-xs" variant="default" onClick={() => remove(name)}>
            Remove {name}
          </Button>
        </Group>
      ))}
    </Alert>
  );
}

function CopyTrend({ series }: { series: readonly TrendSeries[] }) {
  const project = useProject();
  const { shown } = useTrendActions();
  return <CopyMenu snippets={() => snippetsOf(requestOf(project, series, shown().window))} />;
}

function requestOf(project: string, series: readonly TrendSeries[], window: TimeWindow): ApiRequest {
  const { startMs, endMs } = window;
  const bucketMs = bucketFor(window, copiedBuckets);
  const body = {
    items: series.filter((one) => isStored(one) || one.isReady).map((one) => itemOf(one, bucketMs)),
    ...{ start: Math.round(startMs), end: Math.round(endMs), limit: 10_000 },
    ...{ aggregates: "average,min,max", granularity: granularityOf(bucketMs) },
  };
  return { method: "POST", project, path: "/timeseries/dataquery", body };
}

/** About so many buckets are in the request that is copied. */
const copiedBuckets = 1_200;

function itemOf(series: TrendSeries, bucketMs: number) {
  if (series.kind === "calculated") return formulaItem(series.name, series.formula, bucketMs);
  const { name, isString } = series;
  return isString ? { name, aggregates: "" } : { name };
}
