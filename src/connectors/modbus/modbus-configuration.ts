// The part `source` of a configuration that polls Modbus devices.
import { type Static, Type } from "typebox";
import { integers64Schema } from "../integers.ts";
import { oneOf } from "../one-of.ts";

const strict = { additionalProperties: false };

const functions = ["holding", "input", "coil", "discrete"] as const;
const types = ["int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64", "bit"] as const;

const registerSchema = Type.Object(
  {
    series: Type.String({ minLength: 1 }),
    function: Type.Optional(oneOf(functions, "The table of the device; default `holding`")),
    address: Type.Integer({ minimum: 0, maximum: 65_535, description: "The first register, counted from 0" }),
    type: Type.Optional(oneOf(types, "Default `uint16`; coils and discrete inputs are always bits")),
    bit: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 15, description: "With the type `bit`: 0 is the lowest" }),
    ),
    lowWordFirst: Type.Optional(
      Type.Boolean({ description: "The order of the registers of a longer value" }),
    ),
    scale: Type.Optional(Type.Number({ description: "The value is the number times `scale` plus `offset`" })),
    offset: Type.Optional(Type.Number()),
    unit: Type.Optional(Type.String({ description: "The engineering unit" })),
    description: Type.Optional(Type.String()),
  },
  strict,
);

export const modbusSchema = Type.Object(
  {
    type: Type.Literal("modbus"),
    host: Type.String({ minLength: 1 }),
    port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, description: "Default 502" })),
    every: Type.Optional(Type.String({ description: "How often the registers are read; default 1s" })),
    integers64: Type.Optional(integers64Schema),
    timeout: Type.Optional(Type.String({ description: "The longest wait for a response; default 2s" })),
    devices: Type.Array(
      Type.Object(
        {
          unit: Type.Integer({ minimum: 0, maximum: 255, description: "The unit id" }),
          registers: Type.Array(registerSchema, { minItems: 1 }),
        },
        strict,
      ),
      { minItems: 1 },
    ),
  },
  strict,
);

export type ModbusConfiguration = Static<typeof modbusSchema>;
export type RegisterType = (typeof types)[number];
export type DeviceFunction = (typeof functions)[number];

export interface Register {
  readonly series: string;
  readonly function?: DeviceFunction;
  readonly address: number;
  readonly type?: RegisterType;
  readonly bit?: number;
  readonly lowWordFirst?: boolean;
  readonly scale?: number;
  readonly offset?: number;
  readonly unit?: string;
  readonly description?: string;
}
