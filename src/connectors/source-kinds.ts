// The kinds of sources that a connector reads.
import { modbusKind } from "./modbus/modbus-source.ts";
import { mqttKind } from "./mqtt/mqtt-source.ts";
import { opcUaKind } from "./opcua/opcua-source.ts";
import type { SourceKind } from "./source.ts";
import { sqlKind } from "./sql/sql-source.ts";

export const sourceKinds: Readonly<Record<string, SourceKind>> = {
  modbus: modbusKind,
  mqtt: mqttKind,
  opcua: opcUaKind,
  sql: sqlKind,
};
