// The dialog with a form for a record: its fields, the refusal of the server, and the buttons.
import { Button, Group, Modal, Stack } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import { Refusal } from "./confirm.tsx";
import { useReturnedFocus } from "./focus.ts";

interface EditDialogProps {
  readonly title: string;
  /** The label of the button that submits the form. */
  readonly action?: string;
  /** `lg` for forms with many fields. */
  readonly size?: "md" | "lg";
  /** Whether the fields are filled in well enough to submit them. */
  readonly isComplete?: boolean;
  readonly isPending: boolean;
  readonly problem: unknown;
  onSave(): void;
  onClose(): void;
  /** The fields. */
  readonly children: ReactNode;
}

export function EditDialog({
  title,
  action = "Save",
  size = "md",
  isComplete = true,
  isPending,
  problem,
  onSave,
  onClose,
  children,
}: EditDialogProps) {
  useReturnedFocus();
  const [isChanged, setIsChanged] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isComplete) onSave();
  };
  return (
    <Modal
      opened
      {...{ onClose, title, size }}
      // Once a person has typed, a click beside the dialog does not close it.
      closeOnClickOutside={!isChanged}
      closeOnEscape={!isChanged}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <form onSubmit={submit} onChange={() => setIsChanged(true)}>
        <Stack>
          {children}
          <Refusal problem={problem} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={isPending} disabled={!isComplete}>
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
