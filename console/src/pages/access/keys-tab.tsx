// The API keys of all accounts, or of one.
import { ActionIcon, Button, Group, Select, Text } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Gauge, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { type ApiKey, deleteApikeysByKeyId, type User } from "../../api/generated.ts";
import { ageText, timeText } from "../../lib/format.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Empty, Failure, Loading } from "../../ui/page-states.tsx";
import { useNow } from "../../ui/use-now.ts";
import { type TableColumn, VirtualTable } from "../../ui/virtual-table.tsx";
import classes from "./access.module.css";
import { useAccounts, useChange, useKeys } from "./data.ts";
import { LimitKey, limitTexts } from "./limit-key.tsx";
import { NewKey } from "./new-key.tsx";

const nowEveryMs = 30_000;
/** Two lines: narrow windows show when a key expires below its account, and then its limits. */
const rowHeight = 46;
const limitHeight = 18;

export function KeysTab() {
  const { account } = useSearch({ from: "/frame/access" });
  const keys = useKeys();
  const accounts = useAccounts();
  const [deleted, setDeleted] = useState<ApiKey>();
  const nameOf = (id: number) => accounts.data?.find((one) => one.id === id)?.uniqueName ?? String(id);
  const [limited, setLimited] = useState<ApiKey>();
  const columns = useColumns(nameOf, { onLimit: setLimited, onDelete: setDeleted });
  const isNarrow = useMediaQuery("(max-width: 48em)");
  if (keys.isPending) return <Loading what="the keys" />;
  if (keys.isError) return <Failure problem={keys.error} onRetry={() => void keys.refetch()} />;
  const rows = keys.data.filter(({ userId }) => account === undefined || userId === account);
  const limitLines = isNarrow ? Math.max(0, ...rows.map(({ limits }) => limitTexts(limits).length)) : 0;
  return (
    <div className={classes["table"]}>
      <KeysToolbar accounts={accounts.data ?? []} account={account} />
      <VirtualTable
        label="Keys"
        columns={columns}
        rows={rows}
        rowKey={({ id }) => id}
        rowHeight={rowHeight + limitLines * limitHeight}
        empty={<Empty title="There are no keys">Pick an account above and create one.</Empty>}
      />
      {deleted && (
        <DeleteKey apiKey={deleted} account={nameOf(deleted.userId)} onClose={() => setDeleted(undefined)} />
      )}
      {limited && (
        <LimitKey apiKey={limited} account={nameOf(limited.userId)} onClose={() => setLimited(undefined)} />
      )}
    </div>
  );
}

function KeysToolbar({ accounts, account }: { accounts: readonly User[]; account: number | undefined }) {
  const navigate = useNavigate({ from: "/access" });
  const [isNew, setIsNew] = useState(false);
  const picked = accounts.find(({ id }) => id === account);
  const pick = (id: string | null) =>
    void navigate({ search: { tab: "keys", account: id === null ? undefined : Number(id) }, replace: true });
  return (
    <Group justify="space-between" gap="xs">
      <Select
        aria-label="Keys of the account"
        placeholder="Keys of all accounts"
        data={accounts.map(({ id, uniqueName }) => ({ value: String(id), label: uniqueName }))}
        value={picked ? String(picked.id) : null}
        onChange={pick}
        searchable
        clearable
        clearButtonProps={{ "aria-label": "Keys of all accounts" }}
      />
      <Group gap="xs">
        {!picked && (
          <Text size="sm" c="var(--text-quiet)">
            Pick an account to create a key for it.
          </Text>
        )}
        <Button
          leftSection={<Plus size={15} aria-hidden />}
          disabled={!picked}
          onClick={() => setIsNew(true)}
        >
          New key
        </Button>
      </Group>
      {isNew && picked && <NewKey account={picked} onClose={() => setIsNew(false)} />}
    </Group>
  );
}

interface KeyActions {
  onLimit(key: ApiKey): void;
  onDelete(key: ApiKey): void;
}

function useColumns(
  nameOf: (id: number) => string,
  { onLimit, onDelete }: KeyActions,
): TableColumn<ApiKey>[] {
  const nowMs = useNow(nowEveryMs);
  return [
    {
      ...{ key: "account", label: "Account", width: "minmax(110px, 1fr)" },
      cell: ({ userId, expiresTime, limits }) => (
        <>
          {nameOf(userId)}
          {[shortExpiryText(expiresTime, nowMs), ...limitTexts(limits)].map((line) => (
            <Text key={line} size="xs" c="var(--text-quiet)" hiddenFrom="sm">
              {line}
            </Text>
          ))}
        </>
      ),
    },
    { key: "id", label: "Key id", width: "170px", isOptional: true, cell: ({ id }) => id },
    {
      ...{ key: "created", label: "Created", width: "160px", isOptional: true },
      cell: ({ createdTime }) => timeText(createdTime),
    },
    {
      ...{ key: "expires", label: "Expires", width: "minmax(90px, 1fr)", isOptional: true },
      cell: ({ expiresTime }) => (expiresTime === undefined ? "never" : expiryText(expiresTime, nowMs)),
    },
    {
      ...{ key: "used", label: "Last used", width: "minmax(90px, 1fr)" },
      cell: ({ lastUsedTime }) => (lastUsedTime === undefined ? "never" : ageText(lastUsedTime, nowMs)),
    },
    {
      ...{ key: "limits", label: "Limits", width: "minmax(120px, 2fr)", isOptional: true },
      cell: ({ limits }) => limitTexts(limits).join(", ") || "none",
    },
    {
      ...{ key: "actions", label: "", width: "64px" },
      cell: (key) => (
        <Group gap={0} wrap="nowrap">
          <ActionIcon
            variant="subtle"
            aria-label={`Limit the key ${key.id} of ${nameOf(key.userId)}`}
            onClick={() => onLimit(key)}
          >
            <Gauge size={16} aria-hidden />
          </ActionIcon>
          <ActionIcon
            variant="subtle"
            color="red"
            aria-label={`Delete the key ${key.id} of ${nameOf(key.userId)}`}
            onClick={() => onDelete(key)}
          >
            <Trash2 size={16} aria-hidden />
          </ActionIcon>
        </Group>
      ),
    },
  ];
}

const expiryText = (timeMs: number, nowMs: number): string =>
  timeMs <= nowMs ? `expired ${ageText(timeMs, nowMs)}` : timeText(timeMs);

/** For a narrow column: the day alone. */
function shortExpiryText(timeMs: number | undefined, nowMs: number): string {
  if (timeMs === undefined) return "never expires";
  const [day] = timeText(timeMs).split(" ");
  return timeMs <= nowMs ? `expired ${day}` : `expires ${day}`;
}

function DeleteKey({ apiKey, account, onClose }: { apiKey: ApiKey; account: string; onClose(): void }) {
  const remove = useChange({
    change: (project, id: number) => deleteApikeysByKeyId(project, id),
    done: () => `Deleted a key of ${account}.`,
    onDone: onClose,
  });
  return (
    <Confirm
      title={`Delete the key ${apiKey.id} of ${account}?`}
      action="Delete the key"
      isPending={remove.isPending}
      problem={remove.error}
      onConfirm={() => remove.mutate(apiKey.id)}
      onClose={onClose}
    >
      Programs that use it, and the keys created with it, stop working at once. This cannot be undone.
    </Confirm>
  );
}
