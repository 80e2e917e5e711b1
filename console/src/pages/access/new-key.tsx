// Creates a key of an account and shows it once.
import { Button, Modal, NativeSelect, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { postApikeys, type User } from "../../api/generated.ts";
import { EditDialog } from "../../ui/edit-dialog.tsx";
import { useReturnedFocus } from "../../ui/focus.ts";
import { Secret } from "../../ui/secret.tsx";
import { useChange } from "./data.ts";

const dayMs = 86_400_000;

/** The values are days; an empty one is no end of its own. */
const lifetimes = [
  { value: "", label: "No end of its own" },
  { value: "1", label: "1 day" },
  { value: "30", label: "30 days" },
  { value: "365", label: "1 year" },
];

export function NewKey({ account, onClose }: { account: Pick<User, "id" | "uniqueName">; onClose(): void }) {
  useReturnedFocus();
  const [days, setDays] = useState("");
  const create = useChange({
    change: async (project, expiresTime: number | undefined) => {
      const { data } = await postApikeys(project, { items: [{ userId: account.id, expiresTime }] });
      return data.items[0]!.value;
    },
    done: () => `Created a key of ${account.uniqueName}.`,
  });
  const title = `New key of ${account.uniqueName}`;
  if (create.data === undefined)
    return (
      <EditDialog
        title={title}
        action="Create the key"
        {...{ isPending: create.isPending, problem: create.error, onClose }}
        onSave={() => create.mutate(days === "" ? undefined : Date.now() + Number(days) * dayMs)}
      >
        <NativeSelect
          label="Valid for"
          data={lifetimes}
          value={days}
          onChange={(event) => setDays(event.currentTarget.value)}
          data-autofocus
        />
        <Text size="sm" c="var(--text-quiet)">
          The key ends no later than the key or login that you signed in with. After a sign-in by a one-time
          link it depends on nothing.
        </Text>
      </EditDialog>
    );
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      closeOnClickOutside={false}
      closeOnEscape={false}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <Stack>
        <Secret value={create.data} account={account.uniqueName} />
        <Button variant="default" onClick={onClose}>
          I have copied it
        </Button>
      </Stack>
    </Modal>
  );
}
