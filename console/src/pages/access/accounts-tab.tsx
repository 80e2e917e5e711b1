// The service accounts: create, put into groups, give a key, delete.
import { ActionIcon, Button, Group, Menu, Text, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { CircleHelp, EllipsisVertical, KeyRound, Plus, Search, Trash2, UsersRound } from "lucide-react";
import { useState } from "react";
import { deleteUsersByUserId, type User } from "../../api/generated.ts";
import { useSession } from "../../session/session.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Empty, Failure, Loading } from "../../ui/page-states.tsx";
import { type TableColumn, VirtualTable } from "../../ui/virtual-table.tsx";
import classes from "./access.module.css";
import { AccountGroups, NewAccount } from "./account-dialogs.tsx";
import { useAccounts, useChange, useGroups, useKeys } from "./data.ts";
import { NewKey } from "./new-key.tsx";

type Dialog =
  | { readonly kind: "new" }
  | { readonly kind: "key" | "groups" | "delete"; readonly account: User };

export function AccountsTab() {
  const accounts = useAccounts();
  const [text, setText] = useState("");
  const [dialog, setDialog] = useState<Dialog>();
  const columns = useColumns(setDialog);
  const wanted = text.trim().toLowerCase();
  if (accounts.isPending) return <Loading what="the accounts" />;
  if (accounts.isError) return <Failure problem={accounts.error} onRetry={() => void accounts.refetch()} />;
  return (
    <div className={classes["table"]}>
      <Group justify="space-between" gap="xs">
        <TextInput
          aria-label="Find an account"
          placeholder="Find an account"
          leftSection={<Search size={15} aria-hidden />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Button leftSection={<Plus size={15} aria-hidden />} onClick={() => setDialog({ kind: "new" })}>
          New account
        </Button>
      </Group>
      <VirtualTable
        label="Accounts"
        columns={columns}
        rows={accounts.data.filter(({ uniqueName }) => uniqueName.toLowerCase().includes(wanted))}
        rowKey={({ id }) => id}
        empty={<Empty title="No account is called that">Search for another part of the name.</Empty>}
      />
      <AccountDialog dialog={dialog} onClose={() => setDialog(undefined)} />
    </div>
  );
}

function useColumns(open: (dialog: Dialog) => void): TableColumn<User>[] {
  const groups = useGroups().data ?? [];
  const keys = useKeys().data ?? [];
  const nameOf = (id: number) => groups.find((group) => group.id === id)?.name ?? String(id);
  return [
    { key: "name", label: "Name", width: "minmax(120px, 2fr)", cell: ({ uniqueName }) => uniqueName },
    {
      ...{ key: "groups", label: "Groups", width: "minmax(100px, 3fr)" },
      cell: (account) => account.groups.map(nameOf).join(", ") || <Quiet>None: default group</Quiet>,
    },
    {
      ...{ key: "keys", label: "Keys", width: "60px", isNumeric: true, isOptional: true },
      cell: ({ id }) => keys.filter(({ userId, status }) => userId === id && status === "ACTIVE").length,
    },
    {
      ...{ key: "actions", label: "", width: "36px" },
      cell: (account) => <AccountActions account={account} open={open} />,
    },
  ];
}

const Quiet = ({ children }: { children: string }) => (
  <Text span size="sm" c="var(--text-quiet)">
    {children}
  </Text>
);

function AccountActions({ account, open }: { account: User; open(dialog: Dialog): void }) {
  const navigate = useNavigate({ from: "/access" });
  const goTo = (tab: "keys" | "explain") => () => void navigate({ search: { tab, account: account.id } });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Actions of ${account.uniqueName}`}>
          <EllipsisVertical size={16} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<KeyRound size={15} />} onClick={() => open({ kind: "key", account })}>
          New key
        </Menu.Item>
        <Menu.Item leftSection={<Search size={15} />} onClick={goTo("keys")}>
          Show its keys
        </Menu.Item>
        <Menu.Item leftSection={<UsersRound size={15} />} onClick={() => open({ kind: "groups", account })}>
          Change groups
        </Menu.Item>
        <Menu.Item leftSection={<CircleHelp size={15} />} onClick={goTo("explain")}>
          Why may it see something?
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item
          leftSection={<Trash2 size={15} />}
          c="var(--text-danger)"
          onClick={() => open({ kind: "delete", account })}
        >
          Delete
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function AccountDialog({ dialog, onClose }: { dialog: Dialog | undefined; onClose(): void }) {
  if (!dialog) return null;
  if (dialog.kind === "new") return <NewAccount onClose={onClose} />;
  if (dialog.kind === "key") return <NewKey account={dialog.account} onClose={onClose} />;
  if (dialog.kind === "groups") return <AccountGroups account={dialog.account} onClose={onClose} />;
  return <DeleteAccount account={dialog.account} onClose={onClose} />;
}

function DeleteAccount({ account, onClose }: { account: User; onClose(): void }) {
  const { account: own } = useSession();
  const remove = useChange({
    change: (project, id: number) => deleteUsersByUserId(project, id),
    done: () => `Deleted the account ${account.uniqueName}.`,
    onDone: onClose,
  });
  return (
    <Confirm
      title={`Delete the account ${account.uniqueName}?`}
      action="Delete the account"
      isPending={remove.isPending}
      problem={remove.error}
      onConfirm={() => remove.mutate(account.id)}
      onClose={onClose}
    >
      Its keys, and the keys created with them, stop working at once. The data stays.
      {own.id === account.id && " This is your own account: you will be signed out."}
    </Confirm>
  );
}
