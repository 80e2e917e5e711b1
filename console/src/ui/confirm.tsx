// A dialog before a deletion or another step: it describes the effect, and shows a refusal of the server.
import { Alert, Button, Group, Modal, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { messageOf } from "../api/errors.ts";
import { useReturnedFocus } from "./focus.ts";

interface ConfirmProps {
  readonly title: string;
  /** The effect of the action, also on other records. */
  readonly children: ReactNode;
  /** The label of the button: "Delete the group". */
  readonly action: string;
  /** Whether the action removes something; it does by default. */
  readonly isDanger?: boolean;
  /** Whether the effect is known; it is by default. The action waits for it. */
  readonly isEffectKnown?: boolean;
  readonly isPending: boolean;
  readonly problem: unknown;
  onConfirm(): void;
  onClose(): void;
}

export function Confirm(props: ConfirmProps) {
  useReturnedFocus();
  const { title, children, action, isDanger = true, isEffectKnown = true } = props;
  const { isPending, problem, onConfirm, onClose } = props;
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ "aria-label": "Close" }}>
      <Stack>
        <Text size="sm" component="div">
          {children}
        </Text>
        <Refusal problem={problem} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            Cancel
          </Button>
          <Button
            {...(isDanger && { color: "red.8" })}
            disabled={!isEffectKnown}
            loading={isPending}
            onClick={onConfirm}
          >
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** The reason why the server refused a change, for dialogs and forms. A long form scrolls to it. */
export function Refusal({ problem }: { problem: unknown }) {
  if (!problem) return null;
  return (
    <Alert color="red" role="alert" title="This was not done" ref={scrollTo}>
      {messageOf(problem)}
    </Alert>
  );
}

const scrollTo = (alert: HTMLElement | null) => alert?.scrollIntoView({ block: "nearest" });
