// One row as JSON, with every digit of its numbers.
import { Box, Button, CopyButton, Drawer, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Check, Copy, Trash2 } from "lucide-react";
import { useState } from "react";
import { timeText } from "../../lib/format.ts";
import { mayDo } from "../../session/rights.ts";
import { useSession } from "../../session/session.ts";
import { useReturnedFocus } from "../../ui/focus.ts";
import { Failure, Loading } from "../../ui/page-states.tsx";
import { DeleteRow } from "./delete-dialogs.tsx";
import classes from "./raw.module.css";
import { type RawRow, rowQuery, type TableName } from "./raw-data.ts";

interface RowDrawerProps {
  readonly name: TableName;
  readonly rowKey: string;
  onClose(): void;
}

export function RowDrawer({ name, rowKey, onClose }: RowDrawerProps) {
  useReturnedFocus();
  const row = useQuery(rowQuery(name, rowKey));
  const [isDeleting, setIsDeleting] = useState(false);
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="lg"
      title={`Row ${rowKey}`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {row.isPending && <Loading what="the row" />}
      {row.isError && <Failure problem={row.error} />}
      {row.data && <RowDetail row={row.data} onDelete={() => setIsDeleting(true)} />}
      {isDeleting && (
        <DeleteRow {...{ name, rowKey }} onClose={() => setIsDeleting(false)} onDeleted={onClose} />
      )}
    </Drawer>
  );
}

function RowDetail({ row, onDelete }: { row: RawRow; onDelete(): void }) {
  const mayWrite = mayDo(useSession(), "rawAcl", "WRITE");
  const text = JSON.stringify(row.columns, null, 2);
  return (
    <Stack gap="sm">
      <Text size="sm" c="var(--text-quiet)">
        Last written {timeText(row.lastUpdatedTime)}
      </Text>
      <Box
        component="pre"
        className={classes["code"]}
        tabIndex={0}
        role="region"
        aria-label="The columns as JSON"
      >
        {text}
      </Box>
      <Group>
        <CopyButton value={text}>
          {({ copied, copy }) => (
            <Button
              size="xs"
              variant="default"
              leftSection={copied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
              onClick={copy}
            >
              {copied ? "Copied" : "Copy JSON"}
            </Button>
          )}
        </CopyButton>
        {mayWrite && (
          <Button
            size="xs"
            variant="default"
            leftSection={<Trash2 size={14} aria-hidden />}
            onClick={onDelete}
          >
            Delete the row
          </Button>
        )}
      </Group>
    </Stack>
  );
}
