// The trends that are saved in the project: open, save, rename and delete.
import { Button, Menu, ScrollArea, Text, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Bookmark, Pencil, Save, SaveAll, Trash2 } from "lucide-react";
import { useState } from "react";
import { messageOf } from "../../api/errors.ts";
import {
  deleteTrendsByTrendId,
  getTrends,
  postTrends,
  postTrendsUpdate,
  type Trend,
} from "../../api/generated.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { EditDialog } from "../../ui/edit-dialog.tsx";
import { type TrendSearch, trendSearch } from "./search.ts";
import { useTrendActions, useTrendSearch } from "./trend-state.tsx";

const trendsMax = 1_000;

interface SavedTrendsProps {
  /** Shows another trend in place of this one. */
  onOpen(search: TrendSearch): void;
}

type Dialog = "save" | "rename" | "delete";

/** The menu; people who may not read saved trends have none. */
export const SavedTrends = (props: SavedTrendsProps) =>
  mayDo(useSession(), "trendsAcl", "READ") ? <TrendsMenu {...props} /> : null;

function TrendsMenu({ onOpen }: SavedTrendsProps) {
  const trends = useTrends();
  const mayWrite = mayDo(useSession(), "trendsAcl", "WRITE");
  const [dialog, setDialog] = useState<Dialog>();
  const openId = useTrendSearch(({ trend }) => trend);
  const current = trends.data?.find(({ id }) => id === openId);
  const change = useTrendChange({ current, onOpen, onDone: () => setDialog(undefined) });
  const close = () => {
    change.reset();
    setDialog(undefined);
  };
  return (
    <>
      <Menu position="bottom-end" width={280}>
        <Menu.Target>
          <Button variant="default" size="xs" leftSection={<Bookmark size={14} aria-hidden />} maw={220}>
            {current ? current.name : "Saved"}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {current && mayWrite && (
            <>
              <Menu.Item
                leftSection={<Save size={15} aria-hidden />}
                onClick={() => change.mutate({ kind: "keep" })}
              >
                Save changes
              </Menu.Item>
              <Menu.Item leftSection={<Pencil size={15} aria-hidden />} onClick={() => setDialog("rename")}>
                Rename
              </Menu.Item>
              <Menu.Item leftSection={<Trash2 size={15} aria-hidden />} onClick={() => setDialog("delete")}>
                Delete
              </Menu.Item>
            </>
          )}
          {mayWrite && (
            <>
              <Menu.Item leftSection={<SaveAll size={15} aria-hidden />} onClick={() => setDialog("save")}>
                Save as
              </Menu.Item>
              <Menu.Divider />
            </>
          )}
          <TrendItems trends={trends.data} problem={trends.error} onOpen={onOpen} />
        </Menu.Dropdown>
      </Menu>
      {dialog && <TrendDialog {...{ dialog, current, change }} onClose={close} />}
    </>
  );
}

interface TrendDialogProps {
  readonly dialog: Dialog;
  readonly current: Trend | undefined;
  readonly change: ReturnType<typeof useTrendChange>;
  onClose(): void;
}

function TrendDialog({ dialog, current, change, onClose }: TrendDialogProps) {
  const { isPending, error: problem, mutate } = change;
  if (dialog !== "delete")
    return (
      <NameDialog
        title={dialog === "rename" ? "Rename the trend" : "Save the trend"}
        name={dialog === "rename" ? (current?.name ?? "") : ""}
        {...{ isPending, problem, onClose }}
        onName={(name) => mutate({ kind: dialog === "rename" ? "rename" : "create", name })}
      />
    );
  return (
    <Confirm
      title="Delete the trend?"
      action="Delete"
      {...{ isPending, problem, onClose }}
      onConfirm={() => mutate({ kind: "delete" })}
    >
      The trend “{current?.name}” is deleted for all people. The data of its series stays.
    </Confirm>
  );
}

export function useTrends() {
  const project = useProject();
  return useQuery({
    enabled: mayDo(useSession(), "trendsAcl", "READ"),
    queryKey: ["saved trends", project],
    queryFn: async ({ signal }) => (await getTrends(project, { limit: trendsMax }, { signal })).data.items,
  });
}

interface TrendItemsProps {
  readonly trends: readonly Trend[] | undefined;
  readonly problem: unknown;
  onOpen(search: TrendSearch): void;
}

function TrendItems({ trends, problem, onOpen }: TrendItemsProps) {
  if (problem) return <Menu.Label>{messageOf(problem)}</Menu.Label>;
  if (!trends || trends.length === 0) return <Menu.Label>No trend is saved yet</Menu.Label>;
  return (
    <ScrollArea.Autosize mah={300}>
      {trends.map(({ id, name, owner, definition }) => (
        <Menu.Item key={id} onClick={() => onOpen({ ...trendSearch(definition ?? {}), trend: id })}>
          <Text size="sm" truncate>
            {name}
          </Text>
          <Text size="xs" c="var(--text-quiet)" truncate>
            {owner}
          </Text>
        </Menu.Item>
      ))}
    </ScrollArea.Autosize>
  );
}

interface NameDialogProps {
  readonly title: string;
  readonly name: string;
  readonly isPending: boolean;
  readonly problem: unknown;
  onClose(): void;
  onName(name: string): void;
}

function NameDialog({ title, name: first, onName, ...dialog }: NameDialogProps) {
  const [name, setName] = useState(first);
  return (
    <EditDialog title={title} isComplete={name.trim() !== ""} {...dialog} onSave={() => onName(name.trim())}>
      <TextInput
        data-autofocus
        label="Name"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
    </EditDialog>
  );
}

type TrendChangeWanted =
  | { readonly kind: "create" | "rename"; readonly name: string }
  | { readonly kind: "keep" | "delete" };

interface TrendChangeSetting extends SavedTrendsProps {
  readonly current: Trend | undefined;
  onDone(): void;
}

function useTrendChange({ current, onOpen, onDone }: TrendChangeSetting) {
  const project = useProject();
  const client = useQueryClient();
  const { shown } = useTrendActions();
  const definitionNow = () => {
    const { trend: _, ...definition } = shown().search;
    return definition;
  };
  return useMutation({
    mutationFn: async (wanted: TrendChangeWanted): Promise<number | undefined> => {
      const definition = definitionNow();
      if (wanted.kind === "create") {
        const { data } = await postTrends(project, { items: [{ name: wanted.name, definition }] });
        return data.items[0]!.id;
      }
      const { id } = current!;
      if (wanted.kind === "delete") await deleteTrendsByTrendId(project, id);
      else if (wanted.kind === "rename")
        await postTrendsUpdate(project, { items: [{ id, name: { set: wanted.name } }] });
      else await postTrendsUpdate(project, { items: [{ id, definition: { set: definition } }] });
      return wanted.kind === "delete" ? undefined : id;
    },
    onSuccess: async (id, wanted) => {
      await client.invalidateQueries({ queryKey: ["saved trends", project] });
      onDone();
      onOpen({ ...definitionNow(), ...(id !== undefined && { trend: id }) });
      const texts = { create: "saved", keep: "saved", rename: "renamed", delete: "deleted" };
      notifications.show({ message: `The trend is ${texts[wanted.kind]}.` });
    },
    // The dialogs show their refusals themselves.
    onError: (problem, { kind }) =>
      kind === "keep" && notifications.show({ color: "red", message: messageOf(problem) }),
  });
}
