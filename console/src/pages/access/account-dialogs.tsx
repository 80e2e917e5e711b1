// Dialogs that create an account and change its groups.
import { MultiSelect, TextInput } from "@mantine/core";
import { useState } from "react";
import {
  postGroupsByGroupIdUsers,
  postGroupsByGroupIdUsersRemove,
  postUsers,
  type User,
} from "../../api/generated.ts";
import { EditDialog } from "../../ui/edit-dialog.tsx";
import { useChange, useGroups } from "./data.ts";

export function NewAccount({ onClose }: { onClose(): void }) {
  const [uniqueName, setName] = useState("");
  const [groups, setGroups] = useState<string[]>([]);
  const create = useChange({
    change: (project, item: { uniqueName: string; groups: number[] }) =>
      postUsers(project, { items: [item] }),
    done: (item) => `Created the account ${item.uniqueName}. Give it a key to use it.`,
    onDone: onClose,
  });
  return (
    <EditDialog
      title="New account"
      action="Create"
      isComplete={uniqueName.trim() !== ""}
      {...{ isPending: create.isPending, problem: create.error, onClose }}
      onSave={() => create.mutate({ uniqueName: uniqueName.trim(), groups: groups.map(Number) })}
    >
      <TextInput
        label="Name"
        description="A person or a program, such as dashboard-hall-3"
        value={uniqueName}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={255}
        data-autofocus
        required
      />
      <GroupSelect value={groups} onChange={setGroups} />
    </EditDialog>
  );
}

interface GroupChangeInput {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export function AccountGroups({ account, onClose }: { account: User; onClose(): void }) {
  const [groups, setGroups] = useState(account.groups.map(String));
  const change = useChange({
    change: async (project, { added, removed }: GroupChangeInput) => {
      const items = [account.id];
      for (const id of added) await postGroupsByGroupIdUsers(project, Number(id), { items });
      for (const id of removed) await postGroupsByGroupIdUsersRemove(project, Number(id), { items });
    },
    done: () => `Changed the groups of ${account.uniqueName}.`,
    onDone: onClose,
  });
  const save = () => {
    const before = account.groups.map(String);
    const added = groups.filter((id) => !before.includes(id));
    change.mutate({ added, removed: before.filter((id) => !groups.includes(id)) });
  };
  return (
    <EditDialog
      title={`Groups of ${account.uniqueName}`}
      {...{ isPending: change.isPending, problem: change.error, onClose }}
      onSave={save}
    >
      <GroupSelect value={groups} onChange={setGroups} />
    </EditDialog>
  );
}

function GroupSelect({ value, onChange }: { value: string[]; onChange(value: string[]): void }) {
  const groups = useGroups().data ?? [];
  return (
    <MultiSelect
      label="Groups"
      description="Groups grant the rights. Without any, the default group counts"
      placeholder={value.length === 0 ? "Pick groups" : ""}
      data={groups.map(({ id, name }) => ({ value: String(id), label: name }))}
      value={value}
      onChange={onChange}
      searchable
      clearButtonProps={{ "aria-label": "Clear the groups" }}
      hidePickedOptions
    />
  );
}
