// The records of the audit log of one filter, newest first, and the verdict on its chain.
import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type AuditRecord, getAudit, getAuditVerification } from "../../api/generated.ts";
import { allPages, cursorPage, listQuery, type ReadPage } from "../../api/list-pages.ts";
import { addressOf } from "../../lib/address.ts";
import { filtered, literal } from "../../lib/odata.ts";
import type { ApiRequest } from "../../lib/snippets.ts";
import { useProject } from "../../session/session.ts";
import { type AuditSearch, beginOf } from "./search.ts";

const pageSize = 200;
const minuteMs = 60_000;

interface AuditFilter extends Pick<AuditSearch, "account" | "kind" | "result"> {
  readonly minTime: number | undefined;
}

/**
 * The begin of the range stays while the page is open: another one would be another list, from its first
 * record on. It is a whole minute, so that a person who comes back finds the same list.
 */
export function useFilter({ account, kind, result, last }: AuditSearch): AuditFilter {
  const minTime = useMemo(() => beginOf(last, Math.floor(Date.now() / minuteMs) * minuteMs), [last]);
  return { account, kind, result, minTime };
}

const reader =
  (project: string, filter: AuditFilter): ReadPage<AuditRecord> =>
  async ({ position: cursor, limit, signal }) =>
    cursorPage((await getAudit(project, { ...filter, limit, cursor }, { signal })).data);

export const allRecords = (project: string, filter: AuditFilter, signal: AbortSignal) =>
  allPages(reader(project, filter), signal);

export function useAuditList(filter: AuditFilter) {
  const project = useProject();
  const queryKey = ["audit", project, "list", filter];
  const list = useInfiniteQuery({
    ...listQuery({ queryKey, pageSize, read: reader(project, filter) }),
    placeholderData: keepPreviousData,
  });
  const pages = list.data?.pages;
  const rows = useMemo(() => pages?.flatMap(({ items }) => items) ?? [], [pages]);
  return {
    rows,
    ...{ isPending: list.isPending, error: list.error, hasMore: list.hasNextPage },
    isLoadingMore: list.isFetchingNextPage,
    loadMore: list.hasNextPage ? () => void list.fetchNextPage() : undefined,
    refetch: () => void list.refetch(),
  };
}

/** Reads the whole log, so it is read when the page opens and on request alone. */
export function useVerification() {
  const project = useProject();
  return useQuery({
    queryKey: ["audit", project, "verification"],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => (await getAuditVerification(project, { signal })).data,
  });
}

/** The request of the list for other programs. */
export function requestOf(project: string, filter: AuditFilter): ApiRequest {
  const { account, kind, result, minTime } = filter;
  const odata = filtered("AuditRecords", [
    minTime !== undefined && `Time ge ${new Date(minTime).toISOString()}`,
    account !== undefined && `Account eq ${literal(account)}`,
    kind !== undefined && `Kind eq ${literal(kind)}`,
    result !== undefined && `Result eq ${literal(result)}`,
  ]);
  return { method: "GET", project, path: `/audit${addressOf({ ...filter, limit: 100 })}`, odata };
}
