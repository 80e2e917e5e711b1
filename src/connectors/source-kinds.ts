// The kinds of sources that a connector reads.
import { folderKind } from "./folder/folder-source.ts";
import { modbusKind } from "./modbus/modbus-source.ts";
import { mqttKind } from "./mqtt/mqtt-source.ts";
import { opcUaKind } from "./opcua/opcua-source.ts";
import type { SourceKind } from "./source.ts";
import { sqlKind } from "./sql/sql-source.ts";

export const sourceKinds: Readonly<Record<string, SourceKind>> = {
  folder: folderKind,
  modbus: modbusKind,
  mqtt: mqttKind,
  opcua: opcUaKind,
  sql: sqlKind,
};
