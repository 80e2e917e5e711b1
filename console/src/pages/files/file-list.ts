// The list of files over one filter: its requests page by page.
import { useInfiniteQuery } from "@tanstack/react-query";
import { type File, getFiles, getFilesSearch } from "../../api/generated.ts";
import { allPages, cursorPage, listQuery, type ReadPage, searchPage } from "../../api/list-pages.ts";
import { addressOf } from "../../lib/address.ts";
import { filtered, literal } from "../../lib/odata.ts";
import type { ApiRequest } from "../../lib/snippets.ts";
import { useProject } from "../../session/session.ts";
import type { FilesSearch } from "./search.ts";

const pageSize = 200;

const subtreesOf = ({ assets }: FilesSearch) => assets && JSON.stringify(assets);

const listFilter = (search: FilesSearch) => ({
  ...{ dir: search.folder, type: search.type, path: subtreesOf(search), sort: "DESC" as const },
  isUploaded: search.content && search.content === "uploaded",
});

const searchFilter = (search: FilesSearch) => ({
  ...{ name: search.query, directory: search.folder, type: search.type, assetSubtrees: subtreesOf(search) },
  uploaded: search.content && search.content === "uploaded",
});

const reader =
  (project: string, search: FilesSearch): ReadPage<File> =>
  async (page) => {
    const { limit, signal, position: cursor } = page;
    if (search.query === undefined) {
      const { type: $type, ...filter } = listFilter(search);
      return cursorPage((await getFiles(project, { ...filter, $type, limit, cursor }, { signal })).data);
    }
    const { type: $type, ...filter } = searchFilter(search);
    return searchPage(
      page,
      async (offset) =>
        (await getFilesSearch(project, { ...filter, $type, limit, offset }, { signal })).data.items,
    );
  };

export function useFileList(search: FilesSearch) {
  const project = useProject();
  const queryKey = ["files", project, "list", search];
  return useInfiniteQuery(listQuery({ queryKey, pageSize, read: reader(project, search) }));
}

/** All files of the filter, page by page. */
export const allFiles = (project: string, search: FilesSearch, signal: AbortSignal) =>
  allPages(reader(project, search), signal);

/** The request of the list for other programs. */
export function requestOf(project: string, search: FilesSearch): ApiRequest {
  const isSearch = search.query !== undefined;
  const parameters = { ...(isSearch ? searchFilter(search) : listFilter(search)), limit: 100 };
  const odata = odataOf(search);
  return {
    ...{ method: "GET", project, path: `${isSearch ? "/files/search" : "/files"}${addressOf(parameters)}` },
    ...(odata !== undefined && { odata }),
  };
}

/** OData has no folders and types of files. */
function odataOf({ query, folder, type, content, assets }: FilesSearch): string | undefined {
  if (folder !== undefined || type !== undefined || assets !== undefined) return undefined;
  return filtered("Files", [
    query !== undefined && `contains(Name,${literal(query)})`,
    content !== undefined && `Uploaded eq ${content === "uploaded"}`,
  ]);
}
