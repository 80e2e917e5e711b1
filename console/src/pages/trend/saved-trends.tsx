// The trends that are saved in the project: open, save, rename and delete.
import { Button, Menu, ScrollArea, Text, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Bookmark, Pencil, Save, SaveAll, Trash2 } from "lucide-react";
import { useState } from "react";
import { messageOf, statusOf } from "../../api/errors.ts";
import {
  deleteTrendsByTrendId,
  getTrends,
  getTrendsByTrendId,
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

type Dialog = "save" | "rename" | "overwrite" | "delete";

/** The menu; people who may not read saved trends have none. */
export const SavedTrends = (props: SavedTrendsProps) =>
  mayDo(useSession(), "trendsAcl", "READ") ? <TrendsMenu {...props} /> : null;

function TrendsMenu({ onOpen }: SavedTrendsProps) {
  const trends = useTrends();
  const mayWrite = mayDo(useSession(), "trendsAcl", "WRITE");
  const [dialog, setDialog] = useState<Dialog>();
  const openId = useTrendSearch(({ trend }) => trend);
  const current = trends.data?.find(({ id }) => id === openId);
  const [opened, setOpened] = useState<Trend>();
  if (current && opened?.id !== current.id) setOpened(current);
  const change = useTrendChange({
    ...{ current, opened, onOpen, onWritten: setOpened },
    onDone: () => setDialog(undefined),
    onConflict: () => setDialog("overwrite"),
  });
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
            <CurrentItems onKeep={() => change.mutate({ kind: "keep" })} onDialog={setDialog} />
          )}
          {mayWrite && (
            <>
              <Menu.Item leftSection={<SaveAll size={15} aria-hidden />} onClick={() => setDialog("save")}>
                Save as
              </Menu.Item>
              <Menu.Divider />
            </>
          )}
          <TrendItems
            trends={trends.data}
            problem={trends.error}
            onOpen={(trend) => {
              setOpened(trend);
              onOpen({ ...trendSearch(trend.definition ?? {}), trend: trend.id });
            }}
          />
        </Menu.Dropdown>
      </Menu>
      {dialog && <TrendDialog {...{ dialog, current, change }} onClose={close} />}
    </>
  );
}

interface CurrentItemsProps {
  onKeep(): void;
  onDialog(dialog: Dialog): void;
}

/** The steps on the open trend. */
const CurrentItems = ({ onKeep, onDialog }: CurrentItemsProps) => (
  <>
    <Menu.Item leftSection={<Save size={15} aria-hidden />} onClick={onKeep}>
      Save changes
    </Menu.Item>
    <Menu.Item leftSection={<Pencil size={15} aria-hidden />} onClick={() => onDialog("rename")}>
      Rename
    </Menu.Item>
    <Menu.Item leftSection={<Trash2 size={15} aria-hidden />} onClick={() => onDialog("delete")}>
      Delete
    </Menu.Item>
  </>
);

interface TrendDialogProps {
  readonly dialog: Dialog;
  readonly current: Trend | undefined;
  readonly change: ReturnType<typeof useTrendChange>;
  onClose(): void;
}

function TrendDialog({ dialog, current, change, onClose }: TrendDialogProps) {
  const { isPending, error: problem, mutate } = change;
  if (dialog === "overwrite")
    return (
      <Confirm
        title="Overwrite the trend?"
        action="Overwrite"
        problem={problem instanceof ChangedMeanwhile ? undefined : problem}
        {...{ isPending, onClose }}
        onConfirm={() => mutate({ kind: "overwrite" })}
      >
        Another window or person saved changes of the trend “{current?.name}” after you opened it. They are
        lost if you overwrite it. To keep both, cancel and choose “Save as”.
      </Confirm>
    );
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
  onOpen(trend: Trend): void;
}

function TrendItems({ trends, problem, onOpen }: TrendItemsProps) {
  if (problem) return <Menu.Label>{messageOf(problem)}</Menu.Label>;
  if (!trends || trends.length === 0) return <Menu.Label>No trend is saved yet</Menu.Label>;
  return (
    <ScrollArea.Autosize mah={300}>
      {trends.map((trend) => (
        <Menu.Item key={trend.id} onClick={() => onOpen(trend)}>
          <Text size="sm" truncate>
            {trend.name}
          </Text>
          <Text size="xs" c="var(--text-quiet)" truncate>
            {trend.owner}
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
  | { readonly kind: "keep" | "overwrite" | "delete" };

/** The saved trend is no longer the one that was opened. */
class ChangedMeanwhile extends Error {}

interface TrendChangeSetting extends SavedTrendsProps {
  readonly current: Trend | undefined;
  /** The current trend as it was saved when it was opened, or saved here. */
  readonly opened: Trend | undefined;
  onWritten(trend: Trend): void;
  onConflict(): void;
  onDone(): void;
}

function useTrendChange(setting: TrendChangeSetting) {
  const { current, opened, onOpen, onWritten, onConflict, onDone } = setting;
  const project = useProject();
  const client = useQueryClient();
  const { shown } = useTrendActions();
  const definitionNow = () => {
    const { trend: _, ...definition } = shown().search;
    return definition;
  };
  return useMutation({
    mutationFn: async (wanted: TrendChangeWanted): Promise<Trend | undefined> => {
      const definition = definitionNow();
      if (wanted.kind === "create")
        return (await postTrends(project, { items: [{ name: wanted.name, definition }] })).data.items[0]!;
      const { id } = current!;
      if (wanted.kind === "delete") {
        await deleteTrendsByTrendId(project, id);
        return undefined;
      }
      if (wanted.kind === "keep") await refuseChanged(project, opened!);
      const change =
        wanted.kind === "rename" ? { name: { set: wanted.name } } : { definition: { set: definition } };
      return (await postTrendsUpdate(project, { items: [{ id, ...change }] })).data.items[0]!;
    },
    onSuccess: async (trend, { kind }) => {
      // A new name is no look at the changes that others saved.
      if (trend && kind !== "rename") onWritten(trend);
      await client.invalidateQueries({ queryKey: ["saved trends", project] });
      onDone();
      onOpen({ ...definitionNow(), ...(trend && { trend: trend.id }) });
      notifications.show({ message: `The trend is ${doneTexts[kind]}.` });
    },
    // The dialogs show their refusals themselves.
    onError: (problem, { kind }) => {
      if (problem instanceof ChangedMeanwhile) onConflict();
      else if (kind === "keep")
        notifications.show({
          color: "red",
          message: statusOf(problem) === 404 ? deletedText : messageOf(problem),
        });
    },
  });
}

const doneTexts = {
  ...{ create: "saved", keep: "saved", overwrite: "saved", rename: "renamed", delete: "deleted" },
} as const;
const deletedText = "This trend was deleted meanwhile. “Save as” saves what you see.";

/** Two people, or two windows, can have the same trend open: the second one to save would undo the first. */
async function refuseChanged(project: string, { id, definition }: Trend): Promise<void> {
  const { data } = await getTrendsByTrendId(project, id);
  if (JSON.stringify(data.items[0]!.definition) !== JSON.stringify(definition)) throw new ChangedMeanwhile();
}
