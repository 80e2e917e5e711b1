// Creates a key for one tool: of a new account that is named after it, or of the account of the session. The
// new account of a connector has rights in the subtree of one asset; other tools get those of a group.
import { NativeSelect, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import {
  getGroups,
  postApikeys,
  postGroups,
  postGroupsByGroupIdUsers,
  postUsers,
} from "../../api/generated.ts";
import { type Session, useSession } from "../../session/session.ts";
import { AssetSelect } from "../../ui/asset-select.tsx";
import { EditDialog } from "../../ui/edit-dialog.tsx";
import { connectorCapabilities } from "./connector-rights.ts";
import { guides } from "./guides.ts";
import type { Tool } from "./search.ts";

export interface NewConnectKey {
  readonly value: string;
  readonly account: string;
  /** The asset that the key of a connector is limited to. */
  readonly asset?: number;
}

interface ConnectKeyProps {
  readonly tool: Tool;
  onCreated(key: NewConnectKey): void;
  onClose(): void;
}

/** Administrators create accounts; others may have the right to create keys of their own account. */
export function useMayCreateKeys(): boolean {
  const { isAdministrator, account, capabilities } = useSession();
  const mayCreateOwn = capabilities.some(({ apikeysAcl }) => apikeysAcl?.actions.includes("CREATE"));
  return isAdministrator || (account.id !== undefined && mayCreateOwn);
}

export function ConnectKey({ tool, onCreated, onClose }: ConnectKeyProps) {
  const session = useSession();
  const { label } = guides[tool];
  const [name, setName] = useState(() => nameFor(label, session));
  const [group, setGroup] = useState("");
  const [assets, setAssets] = useState<readonly number[]>([]);
  const isScoped = tool === "connector" && session.isAdministrator;
  const create = useCreateKey(session, onCreated);
  return (
    <EditDialog
      title={`New key for ${guides[tool].keyFor ?? label}`}
      action="Create the key"
      isComplete={!isScoped || assets.length === 1}
      {...{ isPending: create.isPending, problem: create.error, onClose }}
      onSave={() =>
        create.mutate({ name: name.trim(), rights: isScoped ? { asset: assets[0]! } : { group } })
      }
    >
      {session.isAdministrator ? (
        <>
          <TextInput
            label="Name"
            description="The key belongs to a new account with this name"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            maxLength={255}
            data-autofocus
            required
          />
          {isScoped ? (
            <AssetSelect
              label="Asset"
              description="The key reads and writes time series and events of this asset and all below it"
              placeholder={assets.length === 0 ? "Words of its name" : undefined}
              maxValues={1}
              value={assets}
              onChange={setAssets}
              required
            />
          ) : (
            <RightsSelect {...{ tool }} value={group} onChange={setGroup} />
          )}
        </>
      ) : (
        <Text size="sm">The key has your own rights, and is listed as a key of {session.account.name}.</Text>
      )}
    </EditDialog>
  );
}

interface RightsSelectProps {
  readonly tool: Tool;
  readonly value: string;
  onChange(value: string): void;
}

function RightsSelect({ tool, value, onChange }: RightsSelectProps) {
  const { project } = useSession();
  const { data: groups = [] } = useQuery({
    queryKey: ["connect", project, "groups"],
    queryFn: async ({ signal }) => (await getGroups(project, { all: true }, { signal })).data.items,
  });
  return (
    <NativeSelect
      label="Rights of the group"
      description={
        tool === "csv"
          ? "Pick one that may change time series"
          : "Pick one that may only read what the tool needs"
      }
      data={[
        { value: "", label: "Pick a group" },
        ...groups.map(({ id, name }) => ({ value: String(id), label: name })),
      ]}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      required
    />
  );
}

/** `power-bi`, with a date, because names of accounts are unique. */
function nameFor(label: string, { account }: Session): string {
  const day = new Date().toISOString().slice(0, 10);
  return `${label.toLowerCase().replaceAll(" ", "-")} ${account.name} ${day}`;
}

interface NewAccount {
  readonly name: string;
  readonly rights: { readonly group: string } | { readonly asset: number };
}

function useCreateKey(session: Session, onCreated: (key: NewConnectKey) => void) {
  const queryClient = useQueryClient();
  const { project, isAdministrator, account } = session;
  return useMutation({
    mutationFn: async ({ name, rights }: NewAccount): Promise<NewConnectKey> => {
      const owner = isAdministrator ? await createAccount(project, { name, rights }) : account;
      const { data } = await postApikeys(project, { items: [{ userId: owner.id! }] });
      const asset = "asset" in rights ? { asset: rights.asset } : {};
      return { value: data.items[0]!.value, account: owner.name, ...asset };
    },
    onSuccess: async (key) => {
      onCreated(key);
      await queryClient.invalidateQueries({ queryKey: ["access"] });
    },
  });
}

async function createAccount(project: string, { name, rights }: NewAccount) {
  const groups = "group" in rights ? [Number(rights.group)] : [];
  const { data } = await postUsers(project, { items: [{ uniqueName: name, groups }] });
  const { id } = data.items[0]!;
  if ("asset" in rights) await createGroup(project, { name, asset: rights.asset, member: id });
  return { id, name };
}

interface ConnectorGroup {
  readonly name: string;
  readonly asset: number;
  readonly member: number;
}

/** Follows the account: a name that is taken is refused before there is a group. */
async function createGroup(project: string, { name, asset, member }: ConnectorGroup): Promise<void> {
  const { data } = await postGroups(project, {
    items: [{ name, capabilities: connectorCapabilities(asset) }],
  });
  await postGroupsByGroupIdUsers(project, data.items[0]!.id, { items: [member] });
}
