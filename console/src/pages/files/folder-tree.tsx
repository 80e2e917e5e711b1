// The folders of the files beside the list: a choice shows the files of exactly this folder.
import { ActionIcon, Button, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { ChevronDown, ChevronRight, FileStack, Folder as FolderIcon } from "lucide-react";
import { useMemo, useRef, useState } from "react";
import { messageOf } from "../../api/errors.ts";
import { getFilesDirectories } from "../../api/generated.ts";
import { useProject } from "../../session/session.ts";
import classes from "./files.module.css";
import { type Folder, foldersAround, foldersInSight } from "./folders.ts";

const pageSize = 1_000;
const rowHeight = 32;
const indentPx = 16;

export function useFolders() {
  const project = useProject();
  const folders = useInfiniteQuery({
    queryKey: ["files", project, "folders"],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam: after, signal }) =>
      (await getFilesDirectories(project, { after, limit: pageSize }, { signal })).data.items,
    getNextPageParam: (page) => (page.length < pageSize ? undefined : page.at(-1)),
  });
  const pages = folders.data?.pages;
  return { ...folders, directories: useMemo(() => pages?.flat() ?? [], [pages]) };
}

export function FolderTree({ chosen }: { chosen: string | undefined }) {
  const folders = useFolders();
  const [open, setOpen] = useState<ReadonlySet<string>>(() => new Set(foldersAround(chosen ?? "")));
  const inSight = useMemo(() => foldersInSight(folders.directories, open), [folders.directories, open]);
  const toggle = (path: string) => {
    const next = new Set(open);
    if (!next.delete(path)) next.add(path);
    setOpen(next);
  };
  return (
    <nav aria-label="Folders" className={classes["folders"]}>
      <div className={classes["folder"]}>
        <FolderLink path={undefined} isChosen={chosen === undefined}>
          <FileStack size={15} aria-hidden />
          <span>All files</span>
        </FolderLink>
      </div>
      {folders.isError && (
        <Text size="sm" p={8} role="alert">
          {messageOf(folders.error)}
        </Text>
      )}
      <FolderRows {...{ inSight, open, chosen, toggle }} />
      {folders.hasNextPage && (
        <Button
          variant="subtle"
          size="compact-sm"
          loading={folders.isFetchingNextPage}
          onClick={() => void folders.fetchNextPage()}
        >
          Load more folders
        </Button>
      )}
    </nav>
  );
}

interface FolderRowsProps {
  readonly inSight: readonly Folder[];
  readonly open: ReadonlySet<string>;
  readonly chosen: string | undefined;
  toggle(path: string): void;
}

function FolderRows({ inSight, open, chosen, toggle }: FolderRowsProps) {
  const viewport = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: inSight.length,
    getScrollElement: () => viewport.current,
    estimateSize: () => rowHeight,
    overscan: 10,
  });
  return (
    <div ref={viewport} className={classes["folderRows"]}>
      <div style={{ position: "relative", height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const folder = inSight[index]!;
          const { path, name, depth, hasFolders } = folder;
          const label = name === "" ? "(no name)" : name;
          return (
            <div
              key={path}
              className={classes["folder"]}
              style={{ position: "absolute", top: start, left: 0, right: 0, paddingLeft: depth * indentPx }}
            >
              <FolderLink path={path} isChosen={chosen === path}>
                <FolderIcon size={15} aria-hidden />
                <span title={path}>{label}</span>
              </FolderLink>
              {hasFolders && (
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  size={24}
                  aria-expanded={open.has(path)}
                  aria-label={`Folders in ${path}`}
                  onClick={() => toggle(path)}
                >
                  {open.has(path) ? (
                    <ChevronDown size={15} aria-hidden />
                  ) : (
                    <ChevronRight size={15} aria-hidden />
                  )}
                </ActionIcon>
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

interface FolderLinkProps {
  readonly path: string | undefined;
  readonly isChosen: boolean;
  readonly children: React.ReactNode;
}

/** The other filters stay. */
const FolderLink = ({ path, isChosen, children }: FolderLinkProps) => (
  <Link
    to="/files"
    search={({ folder: _, ...now }) => (path === undefined ? now : { ...now, folder: path })}
    aria-current={isChosen ? "page" : undefined}
    className={classes["folderLink"]}
  >
    {children}
  </Link>
);
