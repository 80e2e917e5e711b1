// The fields of a record as pairs of label and value; fields without a value are left out.
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
