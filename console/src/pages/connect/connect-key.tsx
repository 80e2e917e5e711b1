// Creates a key for one tool: of a new account that is named after it, or of the account of the session.
import { NativeSelect, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { getGroups, postApikeys, postUsers } from "../../api/generated.ts";
import { type Session, useSession } from "../../session/session.ts";
import { EditDialog } from "../../ui/edit-dialog.tsx";

export interface NewConnectKey {
  readonly value: string;
  readonly account: string;
}

interface ConnectKeyProps {
  readonly tool: string;
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
  const [name, setName] = useState(() => nameFor(tool, session));
  const [group, setGroup] = useState("");
  const create = useCreateKey(session, onCreated);
  return (
    <EditDialog
      title={`New key for ${tool}`}
      action="Create the key"
      {...{ isPending: create.isPending, problem: create.error, onClose }}
      onSave={() => create.mutate({ name: name.trim(), group })}
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
          <RightsSelect value={group} onChange={setGroup} />
        </>
      ) : (
        <Text size="sm">The key has your own rights, and is listed as a key of {session.account.name}.</Text>
      )}
    </EditDialog>
  );
}

function RightsSelect({ value, onChange }: { value: string; onChange(value: string): void }) {
  const { project } = useSession();
  const { data: groups = [] } = useQuery({
    queryKey: ["connect", project, "groups"],
    queryFn: async ({ signal }) => (await getGroups(project, { all: true }, { signal })).data.items,
  });
  return (
    <NativeSelect
      label="Rights of the group"
      description="Pick one that may only read what the tool needs"
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
function nameFor(tool: string, { account }: Session): string {
  const day = new Date().toISOString().slice(0, 10);
  return `${tool.toLowerCase().replaceAll(" ", "-")} ${account.name} ${day}`;
}

function useCreateKey(session: Session, onCreated: (key: NewConnectKey) => void) {
  const queryClient = useQueryClient();
  const { project, isAdministrator, account } = session;
  return useMutation({
    mutationFn: async ({ name, group }: { name: string; group: string }): Promise<NewConnectKey> => {
      const owner = isAdministrator ? await createAccount(project, name, Number(group)) : account;
      const { data } = await postApikeys(project, { items: [{ userId: owner.id! }] });
      return { value: data.items[0]!.value, account: owner.name };
    },
    onSuccess: async (key) => {
      onCreated(key);
      await queryClient.invalidateQueries({ queryKey: ["access"] });
    },
  });
}

async function createAccount(project: string, name: string, group: number) {
  const { data } = await postUsers(project, { items: [{ uniqueName: name, groups: [group] }] });
  return { id: data.items[0]!.id, name };
}
