// The dialog with a form that edits a record: its fields, the refusal of the server, and the buttons.
import { Button, Group, Modal, Stack } from "@mantine/core";
import type { FormEvent, ReactNode } from "react";
import { Refusal } from "./confirm.tsx";

interface EditDialogProps {
  readonly title: string;
  readonly isPending: boolean;
  readonly problem: unknown;
  onSave(): void;
  onClose(): void;
  /** The fields. */
  readonly children: ReactNode;
}

export function EditDialog({ title, isPending, problem, onSave, onClose, children }: EditDialogProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSave();
  };
  return (
    <Modal opened onClose={onClose} title={title} size="lg" closeButtonProps={{ "aria-label": "Close" }}>
      <form onSubmit={submit}>
        <Stack>
          {children}
          <Refusal problem={problem} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
