// The results of the expression for a range, and the place of an error in its text.

import { useDebouncedValue } from "@mantine/hooks";
import { HttpError } from "@oazapfts/runtime";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { messageOf } from "../../api/errors.ts";
import { postTimeseriesDataquery } from "../../api/generated.ts";
import { useProject } from "../../session/session.ts";
import { aliasesIn, type CalculatedSearch } from "./search.ts";

export const resultsMax = 5_000;
const typingPauseMs = 300;

export const requestOf = (search: CalculatedSearch) => ({
  items: [{ name: search.name ?? "result", function: search.function ?? "", aliases: aliasesIn(search) }],
  start: search.start ?? defaultStart,
  end: "now",
  limit: resultsMax,
});

export const defaultStart = "1d-ago";

export interface Result {
  readonly timestamp: number;
  readonly value: number;
}

export function usePreview(search: CalculatedSearch) {
  const project = useProject();
  const [settled] = useDebouncedValue(search, typingPauseMs);
  return useQuery({
    queryKey: ["calculated", project, requestOf(settled)],
    enabled: settled.function !== undefined,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const { data } = await postTimeseriesDataquery(project, requestOf(settled), {}, { signal });
      return {
        start: settled.start ?? defaultStart,
        results: data.items[0]!.datapoints as readonly Result[],
      };
    },
  });
}

export interface Fault {
  readonly message: string;
  /** The index of the character in the expression. */
  readonly at: number | undefined;
}

/** The place that the server names; for a series that does not exist, the place of its alias or id. */
export function faultOf(problem: unknown, search: CalculatedSearch): Fault | undefined {
  if (!problem) return undefined;
  const text = search.function ?? "";
  const error = problem instanceof HttpError ? bodyOf(problem).error : undefined;
  if (error?.position !== undefined) return { message: plain(messageOf(problem)), at: error.position - 1 };
  const id = error?.notFound?.[0];
  if (id === undefined) return { message: messageOf(problem), at: undefined };
  const name = aliasesIn(search).find((one) => one.id === id)?.alias ?? String(id);
  const at = text.indexOf(`[${name}]`);
  return { message: `There is no series ${id} that you may read.`, at: at === -1 ? undefined : at };
}

interface ErrorBody {
  readonly error?: { readonly position?: number; readonly notFound?: readonly number[] };
}

const bodyOf = ({ data }: HttpError): ErrorBody =>
  (typeof data === "string" ? JSON.parse(data) : data) as ErrorBody;

/** Without the name of the field and without the place, which the editor shows. */
const plain = (message: string): string =>
  message
    .replace(/^Invalid field - items\[0\]\.function - /, "")
    .replace(/ at character \d+(?= but got)/, "");
