// The catalogue of failures: every refusal that a caller can get, with its status, message and extra members.
//
// The entries are in `src/errors/`, one file for each area; docs/ERRORS.md is generated from them. Internal
// errors are not here: they are invariants.

import { accessFailures } from "./errors/access.ts";
import { analyticsFailures } from "./errors/analytics.ts";
import { backupFailures } from "./errors/backups.ts";
import { configurationFailures } from "./errors/configuration.ts";
import { datapointFailures } from "./errors/datapoints.ts";
import { demoFailures } from "./errors/demo.ts";
import type { ErrorEntry, ErrorMembers } from "./errors/entry.ts";
import { fileFailures } from "./errors/files.ts";
import { influxFailures } from "./errors/influx.ts";
import { modelFailures } from "./errors/models.ts";
import { odataFailures } from "./errors/odata.ts";
import { recordFailures } from "./errors/records.ts";
import { requestFailures } from "./errors/requests.ts";
import { retentionFailures } from "./errors/retention.ts";
import { suggestionFailures } from "./errors/suggestions.ts";
import { transformationFailures } from "./errors/transformations.ts";
import { invariant } from "./lib/invariant.ts";

export const catalogue = {
  ...accessFailures,
  ...requestFailures,
  ...recordFailures,
  ...datapointFailures,
  ...analyticsFailures,
  ...demoFailures,
  ...fileFailures,
  ...backupFailures,
  ...modelFailures,
  ...retentionFailures,
  ...suggestionFailures,
  ...transformationFailures,
  ...configurationFailures,
  ...odataFailures,
  ...influxFailures,
} as const;

export type FailureCode = keyof typeof catalogue;
export type DetailsOf<Code extends FailureCode> = Parameters<(typeof catalogue)[Code]["message"]>[0];

interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly members: ErrorMembers;
  readonly details: unknown;
}

/** A refusal on its way to the caller. */
export class Failure extends Error {
  readonly failure: FailureCode;
  readonly status: number;
  readonly members: ErrorMembers;
  readonly details: unknown;
  constructor(failure: FailureCode, refusal: Refusal) {
    super(refusal.message);
    this.name = "Failure";
    this.failure = failure;
    this.status = refusal.status;
    this.members = refusal.members;
    this.details = refusal.details;
  }
}

/** `throw fail("forbidden", { ... })`: the catalogue entry with its details filled in. */
export function fail<Code extends FailureCode>(code: Code, details: DetailsOf<Code>): Failure {
  const found = catalogue[code] as ErrorEntry<DetailsOf<Code>>;
  const status = (details as { status?: number }).status ?? found.status;
  invariant(
    [found.status, ...(found.otherStatuses ?? [])].includes(status),
    `${code} lists the status ${status}`,
  );
  const members = found.members?.(details) ?? {};
  return new Failure(code, { status, message: found.message(details), members, details });
}

/** Whether the server failed. 501 is a mistake of the client: it uses something that is not served. */
export const isServerError = (status: number): boolean => status >= 500 && status !== 501;
