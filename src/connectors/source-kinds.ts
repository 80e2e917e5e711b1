// The kinds of sources that a connector reads.
import { mqttKind } from "./mqtt/mqtt-source.ts";
import type { SourceKind } from "./source.ts";
import { sqlKind } from "./sql/sql-source.ts";

export const sourceKinds: Readonly<Record<string, SourceKind>> = {
  mqtt: mqttKind,
  sql: sqlKind,
};
