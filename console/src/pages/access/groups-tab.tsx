// The groups, their rights in short, and how many accounts are in them.
import { ActionIcon, Badge, Button, Group as Row, Text, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Eye, Plus } from "lucide-react";
import { useState } from "react";
import { type Group, postGroups } from "../../api/generated.ts";
import { seeAs } from "../../session/see-as.ts";
import { EditDialog } from "../../ui/edit-dialog.tsx";
import { Empty, Failure, Loading } from "../../ui/page-states.tsx";
import { type TableColumn, VirtualTable } from "../../ui/virtual-table.tsx";
import classes from "./access.module.css";
import { useAccounts, useChange, useGroups, useProjectSettings } from "./data.ts";
import { summaryOf } from "./rights.ts";

export function GroupsTab() {
  const groups = useGroups();
  const navigate = useNavigate({ from: "/access" });
  const [isNew, setIsNew] = useState(false);
  const columns = useColumns();
  if (groups.isPending) return <Loading what="the groups" />;
  if (groups.isError) return <Failure problem={groups.error} onRetry={() => void groups.refetch()} />;
  const open = (group: number) => void navigate({ search: { tab: "groups", group } });
  return (
    <div className={classes["table"]}>
      <Row justify="flex-end">
        <Button leftSection={<Plus size={15} aria-hidden />} onClick={() => setIsNew(true)}>
          New group
        </Button>
      </Row>
      <VirtualTable
        label="Groups"
        columns={columns}
        rows={groups.data}
        rowKey={({ id }) => id}
        onOpen={({ id }) => open(id)}
        empty={<Empty title="There are no groups">Groups grant rights to accounts.</Empty>}
      />
      {isNew && <NewGroup onClose={() => setIsNew(false)} onCreated={open} />}
    </div>
  );
}

function useColumns(): TableColumn<Group>[] {
  const accounts = useAccounts().data ?? [];
  const defaultGroup = useProjectSettings().data?.defaultGroupId;
  return [
    {
      ...{ key: "name", label: "Name", width: "minmax(110px, 2fr)" },
      cell: ({ id, name }) => (
        <Row gap="xs" wrap="nowrap">
          <Text span inherit truncate title={name}>
            {name}
          </Text>
          {id === defaultGroup && (
            <Badge variant="default" tt="none">
              default
            </Badge>
          )}
        </Row>
      ),
    },
    {
      ...{ key: "rights", label: "Rights", width: "minmax(110px, 3fr)" },
      cell: ({ capabilities, permissions }) =>
        permissions ? `${summaryOf(capabilities)}; older permissions` : summaryOf(capabilities),
    },
    {
      ...{ key: "source", label: "Provider's group", width: "minmax(90px, 1fr)", isOptional: true },
      cell: ({ sourceId }) => sourceId ?? "",
    },
    {
      ...{ key: "members", label: "Accounts", width: "80px", isNumeric: true, isOptional: true },
      cell: ({ id }) => accounts.filter(({ groups }) => groups.includes(id)).length,
    },
    {
      ...{ key: "see", label: "", width: "36px" },
      cell: (group) => <SeeAsButton group={group} />,
    },
  ];
}

function SeeAsButton({ group }: { group: Group }) {
  const start = useSeeAs(group.id);
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      loading={start.isPending}
      aria-label={`See as ${group.name}`}
      title="See as this group"
      onClick={() => start.mutate()}
    >
      <Eye size={16} aria-hidden />
    </ActionIcon>
  );
}

/** Begins to see as the group, on the first page. */
export function useSeeAs(groupId: number) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: () => seeAs(queryClient, groupId),
    onSuccess: () => navigate({ to: "/" }),
  });
}

function NewGroup({ onClose, onCreated }: { onClose(): void; onCreated(id: number): void }) {
  const [name, setName] = useState("");
  const create = useChange({
    change: async (project, item: string) => {
      const { data } = await postGroups(project, { items: [{ name: item, capabilities: [] }] });
      return data.items[0]!.id;
    },
    done: (item) => `Created the group ${item}. It grants nothing yet.`,
    onDone: onCreated,
  });
  return (
    <EditDialog
      title="New group"
      action="Create and set rights"
      isComplete={name.trim() !== ""}
      {...{ isPending: create.isPending, problem: create.error, onClose }}
      onSave={() => create.mutate(name.trim())}
    >
      <TextInput
        label="Name"
        description="For people with the same rights, such as operators of unit 24"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={255}
        data-autofocus
        required
      />
    </EditDialog>
  );
}
