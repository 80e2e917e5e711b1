// Suggested links of series and drawings to assets, for a person who accepts or rejects them.
import { Button, Group, Select, Text } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Link2, WandSparkles } from "lucide-react";
import { useMemo, useState } from "react";
import type { Suggestion } from "../../api/generated.ts";
import { addressOf } from "../../lib/address.ts";
import { countOf, countText } from "../../lib/format.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { Refusal } from "../../ui/confirm.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { Page } from "../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../ui/page-states.tsx";
import { type Verdict, VerdictButtons } from "../../ui/verdict-buttons.tsx";
import { type SuggestionsSearch, suggestionsSearch } from "./search.ts";
import classes from "./suggestions.module.css";
import { SuggestionsTable } from "./suggestions-table.tsx";
import { filterOf, useComputation, useReview, useSuggestionList } from "./use-suggestions.ts";

export function SuggestionsPage() {
  const search = useSearch({ from: "/frame/suggestions" });
  const project = useProject();
  const session = useSession();
  const list = useSuggestionList(search);
  const pages = list.data?.pages;
  const rows = useMemo(() => pages?.flatMap(({ items }) => items) ?? [], [pages]);
  const mayReview = mayDo(session, "suggestionsAcl", "WRITE");
  const path = `/suggestions${addressOf({ ...filterOf(search), limit: 100 })}`;
  return (
    <Page
      title="Suggestions"
      note={list.isSuccess ? `${countText(rows.length)}${list.hasNextPage ? " and more" : ""}` : undefined}
      actions={<CopyAs request={{ method: "GET", project, path, odata: "Suggestions" }} />}
      toolbar={<Filter search={search} />}
    >
      {mayReview && <Computation />}
      {list.isPending && <Loading what="the suggestions" />}
      {list.isError && <Failure problem={list.error} onRetry={() => void list.refetch()} />}
      {list.isSuccess && rows.length === 0 && <NoSuggestions search={search} mayReview={mayReview} />}
      {rows.length > 0 && <Review rows={rows} mayReview={mayReview} />}
      {list.hasNextPage && (
        <Button
          mt="sm"
          variant="default"
          loading={list.isFetchingNextPage}
          onClick={() => void list.fetchNextPage()}
        >
          Load more
        </Button>
      )}
    </Page>
  );
}

function Filter({ search }: { search: SuggestionsSearch }) {
  const navigate = useNavigate({ from: "/suggestions" });
  const change = (part: Readonly<Record<string, string | null>>) =>
    void navigate({ search: (now) => suggestionsSearch({ ...now, ...part }), replace: true });
  return (
    <Group gap="xs" role="search" aria-label="Filter of the suggestions">
      <Select
        aria-label="State"
        allowDeselect={false}
        data={[
          { value: "OPEN", label: "Open" },
          { value: "ACCEPTED", label: "Accepted" },
          { value: "REJECTED", label: "Rejected" },
        ]}
        value={search.state ?? "OPEN"}
        onChange={(state) => change({ state: state === "OPEN" ? null : state })}
      />
      <Select
        aria-label="Kind"
        placeholder="Series and drawings"
        clearable
        data={[
          { value: "TIMESERIES", label: "Series" },
          { value: "FILE", label: "Tags in drawings" },
        ]}
        value={search.kind ?? null}
        onChange={(kind) => change({ kind })}
      />
      <Select
        aria-label="Difference"
        placeholder="Any difference"
        clearable
        data={[
          { value: "0", label: "Same tag" },
          { value: "1", label: "At most 1 letter apart" },
          { value: "2", label: "At most 2 letters apart" },
          { value: "3", label: "At most 3 letters apart" },
        ]}
        value={search.score ?? null}
        onChange={(score) => change({ score })}
      />
    </Group>
  );
}

function Computation() {
  const { mutate, isPending, data, error } = useComputation();
  return (
    <div className={classes["computation"]}>
      <Button
        size="xs"
        variant="default"
        leftSection={<WandSparkles size={14} aria-hidden />}
        loading={isPending}
        onClick={() => mutate()}
      >
        Suggest assets for series
      </Button>
      <Text size="sm" c="var(--text-quiet)" role="status">
        {data &&
          `${countText(data.examined)} series without an asset ${wasOrWere(data.examined)} compared. ` +
            `${countOf(data.proposed, "suggestion")} ${data.proposed === 1 ? "is" : "are"} new.`}
      </Text>
      <Refusal problem={error} />
    </div>
  );
}

const wasOrWere = (count: number) => (count === 1 ? "was" : "were");

function Review({ rows, mayReview }: { rows: readonly Suggestion[]; mayReview: boolean }) {
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const [waiting, setWaiting] = useState<ReadonlySet<number>>(new Set());
  const [problem, setProblem] = useState<unknown>();
  const { mutateAsync } = useReview();
  const selected = rows.filter(({ id }) => chosen.has(id)).map(({ id }) => id);
  const isWaiting = selected.some((id) => waiting.has(id));
  const review = async (verdict: Verdict, items: readonly number[]) => {
    if (items.length === 0 || items.some((id) => waiting.has(id))) return;
    const these = new Set(items);
    setWaiting((now) => now.union(these));
    setProblem(undefined);
    try {
      await mutateAsync({ verdict, items });
      setChosen((now) => now.difference(these));
    } catch (refusal) {
      setProblem(refusal);
    } finally {
      setWaiting((now) => now.difference(these));
    }
  };
  const what = selected.length === 0 ? "selected" : `${countText(selected.length)} selected`;
  return (
    <>
      {mayReview && (
        <Group gap="xs" mb="sm" role="toolbar" aria-label="Review of the selected suggestions">
          <VerdictButtons
            size="xs"
            {...{ what, isMain: true }}
            disabled={selected.length === 0 || isWaiting}
            onVerdict={(verdict) => void review(verdict, selected)}
          />
          <Text size="xs" c="var(--text-quiet)" className={classes["keys"]}>
            In a row: A accepts, R rejects, space selects, arrows move
          </Text>
        </Group>
      )}
      {problem !== undefined && <Refusal problem={problem} />}
      <SuggestionsTable
        {...{ rows, chosen, setChosen, mayReview, waiting }}
        onReview={(verdict, id) => void review(verdict, [id])}
      />
    </>
  );
}

function NoSuggestions({ search, mayReview }: { search: SuggestionsSearch; mayReview: boolean }) {
  const { state = "OPEN", ...filters } = search;
  if (state !== "OPEN" || Object.keys(filters).length > 0)
    return <Empty title="No suggestions match">Choose another state, or remove some of the filters.</Empty>;
  return (
    <Empty title="There is nothing to review" icon={<Link2 size={28} aria-hidden />}>
      {mayReview
        ? "Suggest assets for series with the button above, or find the tags of a drawing on its page."
        : "Suggestions for series and drawings that your groups show appear here."}
    </Empty>
  );
}
