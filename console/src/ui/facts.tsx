// The fields of a record as pairs of label and value; fields without a value are left out.
import { Card, Title } from "@mantine/core";
import { Fragment, type ReactNode } from "react";
import classes from "./facts.module.css";

export interface Fact {
  readonly label: string;
  readonly value: ReactNode;
}

export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className={classes["facts"]}>
      {facts
        .filter(({ value }) => value !== undefined && value !== "" && value !== false)
        .map(({ label, value }) => (
          <Fragment key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
    </dl>
  );
}

/** The metadata of a record in a card of its own; nothing without metadata. */
export function MetadataCard({ metadata = {} }: { metadata?: Readonly<Record<string, string>> }) {
  const facts = Object.entries(metadata).map(([label, value]) => ({ label, value }));
  if (facts.length === 0) return null;
  return (
    <Card>
      <Title order={2} size="h5" mb="xs">
        Metadata
      </Title>
      <Facts facts={facts} />
    </Card>
  );
}
