// The accounts in a group.
import { ActionIcon, Button, Card, Group as Row, Select, Stack, Text, Title } from "@mantine/core";
import { Plus, X } from "lucide-react";
import { useState } from "react";
import {
  type Group,
  postGroupsByGroupIdUsers,
  postGroupsByGroupIdUsersRemove,
  type User,
} from "../../api/generated.ts";
import { Refusal } from "../../ui/confirm.tsx";
import { useAccounts, useChange } from "./data.ts";

export function GroupMembers({ group }: { group: Group }) {
  const accounts = useAccounts().data ?? [];
  const [picked, setPicked] = useState<string | null>(null);
  const members = accounts.filter(({ groups }) => groups.includes(group.id));
  const add = useChange({
    change: (project, id: number) => postGroupsByGroupIdUsers(project, group.id, { items: [id] }),
    done: () => `Added an account to ${group.name}.`,
    onDone: () => setPicked(null),
  });
  const remove = useChange({
    change: (project, { id }: User) => postGroupsByGroupIdUsersRemove(project, group.id, { items: [id] }),
    done: ({ uniqueName }) => `Removed ${uniqueName} from ${group.name}.`,
  });
  const others = accounts.filter(({ groups }) => !groups.includes(group.id));
  return (
    <Card component="section" aria-label="Members">
      <Stack gap="sm">
        <Title order={3} size="h5">
          Accounts in this group
        </Title>
        {members.length === 0 && (
          <Text size="sm" c="var(--text-quiet)">
            None yet.
          </Text>
        )}
        <MemberList members={members} isPending={remove.isPending} onRemove={remove.mutate} />
        <Refusal problem={add.error ?? remove.error} />
        <Row gap="xs">
          <Select
            aria-label="Account to add"
            placeholder="Pick an account"
            data={others.map(({ id, uniqueName }) => ({ value: String(id), label: uniqueName }))}
            value={picked}
            onChange={setPicked}
            searchable
          />
          <Button
            variant="default"
            leftSection={<Plus size={15} aria-hidden />}
            disabled={picked === null}
            loading={add.isPending}
            onClick={() => add.mutate(Number(picked))}
          >
            Add
          </Button>
        </Row>
      </Stack>
    </Card>
  );
}

interface MemberListProps {
  readonly members: readonly User[];
  readonly isPending: boolean;
  onRemove(account: User): void;
}

function MemberList({ members, isPending, onRemove }: MemberListProps) {
  return (
    <Stack gap={4} component="ul" m={0} p={0} style={{ listStyle: "none" }}>
      {members.map((account) => (
        <Row key={account.id} component="li" gap="xs" wrap="nowrap">
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Remove ${account.uniqueName}`}
            disabled={isPending}
            onClick={() => onRemove(account)}
          >
            <X size={15} aria-hidden />
          </ActionIcon>
          <Text size="sm">{account.uniqueName}</Text>
        </Row>
      ))}
    </Stack>
  );
}
