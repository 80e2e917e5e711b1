// Series whose names are typed or pasted into the expression, without the list of suggestions.
import { useQueries } from "@tanstack/react-query";
import { useEffect } from "react";
import { leavesIn } from "../../lib/formula.ts";
import { useProject } from "../../session/session.ts";
import { seriesByNameQuery } from "../../ui/series-hits.ts";
import { type Alias, aliasesIn, type CalculatedSearch } from "./search.ts";

/** The names in brackets that are neither aliases nor ids of series. */
export function typedNames(search: CalculatedSearch): string[] {
  const aliases = new Set(aliasesIn(search).map(({ alias }) => alias));
  return leavesIn(search.function ?? "")
    .map(({ content }) => content)
    .filter((content) => content !== "" && !/^\d+$/.test(content) && !aliases.has(content));
}

/** Makes the typed names aliases. Returns the first name that no series has. */
export function useTypedSeries(
  search: CalculatedSearch,
  onFound: (aliases: readonly Alias[]) => void,
): string | undefined {
  const project = useProject();
  const names = typedNames(search);
  const records = useQueries({ queries: names.map((name) => seriesByNameQuery(project, name)) });
  const found = names.flatMap((alias, at) => {
    const id = records[at]?.data?.id;
    return id === undefined ? [] : [{ alias, id }];
  });
  const key = found.map(({ alias }) => alias).join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each set of names.
  useEffect(() => {
    if (found.length > 0) onFound([...aliasesIn(search), ...found]);
  }, [key]);
  return names.find((_, at) => records[at]?.data === null);
}
