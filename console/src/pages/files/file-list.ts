// The list of files over one filter: its requests page by page.
import { useInfiniteQuery } from "@tanstack/react-query";
import { type File, getFiles, getFilesSearch } from "../../api/generated.ts";
import type { ApiRequest } from "../../lib/snippets.ts";
import { useProject } from "../../session/session.ts";
import type { FilesSearch } from "./search.ts";

/** The largest offset of a search; it has no results beyond. */
const searchOffsetMax = 1_000;
const pageSize = 200;
const exportPageSize = 1_000;

interface FilesPageResult {
  readonly items: readonly File[];
  readonly next: string | undefined;
  /** Whether a search has more results than it can return. */
  readonly isCut: boolean;
}

interface PageOptions {
  readonly position: string | undefined;
  readonly limit: number;
  readonly signal: AbortSignal;
}

const subtreesOf = ({ assets }: FilesSearch) => assets && JSON.stringify(assets);

const listFilter = (search: FilesSearch) => ({
  ...{ dir: search.folder, type: search.type, path: subtreesOf(search), sort: "DESC" as const },
  isUploaded: search.content && search.content === "uploaded",
});

const searchFilter = (search: FilesSearch) => ({
  ...{ name: search.query, directory: search.folder, type: search.type, assetSubtrees: subtreesOf(search) },
  uploaded: search.content && search.content === "uploaded",
});

/** A search is ordered by how well it matches and has pages by offset; the list has pages by cursor. */
async function readPage(
  project: string,
  search: FilesSearch,
  { position, limit, signal }: PageOptions,
): Promise<FilesPageResult> {
  if (search.query === undefined) {
    const { type, ...filter } = listFilter(search);
    const { data } = await getFiles(project, { ...filter, $type: type, limit, cursor: position }, { signal });
    return { items: data.items, next: data.nextCursor, isCut: false };
  }
  const offset = Number(position ?? 0);
  const { type, ...filter } = searchFilter(search);
  const { data } = await getFilesSearch(project, { ...filter, $type: type, limit, offset }, { signal });
  const isFull = data.items.length === limit;
  const hasNext = isFull && offset + limit <= searchOffsetMax;
  return { items: data.items, next: hasNext ? String(offset + limit) : undefined, isCut: isFull && !hasNext };
}

export function useFileList(search: FilesSearch) {
  const project = useProject();
  return useInfiniteQuery({
    queryKey: ["files", project, "list", search],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: position, signal }) =>
      readPage(project, search, { position, limit: pageSize, signal }),
    getNextPageParam: ({ next }) => next,
  });
}

/** All pages, one after the other. */
export async function* allFiles(
  project: string,
  search: FilesSearch,
  signal: AbortSignal,
): AsyncGenerator<readonly File[]> {
  let position: string | undefined;
  do {
    const page = await readPage(project, search, { position, limit: exportPageSize, signal });
    yield page.items;
    position = page.next;
  } while (position !== undefined);
}

/** The request of the list for other programs. */
export function requestOf(project: string, search: FilesSearch): ApiRequest {
  const isSearch = search.query !== undefined;
  const parameters = { ...(isSearch ? searchFilter(search) : listFilter(search)), limit: 100 };
  const sent = Object.entries(parameters).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(sent.map(([name, value]) => [name, String(value)]));
  const odata = odataOf(search);
  return {
    ...{ method: "GET", project, path: `${isSearch ? "/files/search" : "/files"}?${text}` },
    ...(odata !== undefined && { odata }),
  };
}

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** OData has no folders and types of files, and requires a filter. */
function odataOf({ query, folder, type, content, assets }: FilesSearch): string | undefined {
  if (folder !== undefined || type !== undefined || assets !== undefined) return undefined;
  const conditions = [
    query !== undefined && `contains(Name,${literal(query)})`,
    content !== undefined && `Uploaded eq ${content === "uploaded"}`,
  ].filter((condition) => condition !== false);
  if (conditions.length === 0) conditions.push("CreatedTime ge 1970-01-01T00:00:00Z");
  return `Files?$filter=${encodeURIComponent(conditions.join(" and "))}`;
}
