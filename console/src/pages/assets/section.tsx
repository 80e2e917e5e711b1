// A part of the page of an asset: a title, a note and a list that may have more than it shows.
import { Anchor, Card, Group, Skeleton, Text, Title } from "@mantine/core";
import type { UseInfiniteQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { messageOf, statusOf } from "../../api/errors.ts";

interface SectionProps {
  readonly title: string;
  readonly note?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Section({ title, note, actions, children }: SectionProps) {
  return (
    <Card component="section" aria-label={title}>
      <Group justify="space-between" mb={6}>
        <Group gap={8} align="baseline">
          <Title order={3} size="h5">
            {title}
          </Title>
          {note !== undefined && (
            <Text size="xs" c="var(--text-quiet)">
              {note}
            </Text>
          )}
        </Group>
        {actions}
      </Group>
      {children}
    </Card>
  );
}

/** Pages of records that are linked to an asset. */
export type RecordPages<Row> = UseInfiniteQueryResult<{
  readonly pages: readonly { readonly items: readonly Row[]; readonly nextCursor?: string }[];
}>;

export const recordsOf = <Row,>({ data }: RecordPages<Row>): readonly Row[] =>
  data?.pages.flatMap(({ items }) => items) ?? [];

interface RecordsProps<Row> {
  readonly title: string;
  readonly records: RecordPages<Row>;
  readonly empty: string;
  readonly actions?: ReactNode;
  children(rows: readonly Row[]): ReactNode;
}

/** A section with the records; without the right to read them there is none. */
export function RecordSection<Row>({ title, records, empty, actions, children }: RecordsProps<Row>) {
  if (statusOf(records.error) === 403) return null;
  const rows = recordsOf(records);
  const more = records.hasNextPage ? " and more" : "";
  return (
    <Section
      title={title}
      note={rows.length > 0 ? `${rows.length}${more}` : undefined}
      actions={rows.length > 0 ? actions : undefined}
    >
      {records.isPending && <Skeleton height={36} aria-label={`Loading ${title.toLowerCase()}`} />}
      {records.isError && (
        <Text size="sm" role="alert">
          {messageOf(records.error)}
        </Text>
      )}
      {records.isSuccess && rows.length === 0 && (
        <Text size="sm" c="var(--text-quiet)">
          {empty}
        </Text>
      )}
      {rows.length > 0 && children(rows)}
      {records.hasNextPage && (
        <Anchor
          component="button"
          type="button"
          size="sm"
          mt={6}
          onClick={() => void records.fetchNextPage()}
          disabled={records.isFetchingNextPage}
        >
          {records.isFetchingNextPage ? "Loading…" : "Show more"}
        </Anchor>
      )}
    </Section>
  );
}
