// The frame of one page: its title, its actions and its content.
import { Box, Group, Text, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";
import classes from "./page.module.css";

interface PageProps {
  readonly title: string;
  /** A short text beside the title, such as a count. */
  readonly note?: ReactNode;
  readonly actions?: ReactNode;
  /** Filters and other controls below the title. */
  readonly toolbar?: ReactNode;
  /** Whether the content fills the window and scrolls inside, as tables and plots do. */
  readonly fills?: boolean;
  readonly children: ReactNode;
}

export function Page({ title, note, actions, toolbar, fills = false, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Millrace`;
  }, [title]);
  return (
    <Box className={fills ? classes["fills"] : classes["page"]}>
      <Group justify="space-between" gap="xs" mb="sm">
        <Group gap="sm" align="baseline">
          <Title order={1} size="h3">
            {title}
          </Title>
          {note !== undefined && (
            <Text component="div" size="sm" c="var(--text-quiet)">
              {note}
            </Text>
          )}
        </Group>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {toolbar && <Box mb="sm">{toolbar}</Box>}
      <Box className={classes["content"]}>{children}</Box>
    </Box>
  );
}
