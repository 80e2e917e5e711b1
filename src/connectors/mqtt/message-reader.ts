// The interface of the formats of messages.
import type { SourceRecords } from "../records.ts";

/** Values that cannot be kept. They are counted, and the reason is shown. */
export interface RefusedValues {
  readonly items: number;
  readonly why: string;
}

export interface MessageRecords extends SourceRecords {
  readonly refused?: RefusedValues;
}

/** The records of a message. Throws if the message cannot be read. */
export type MessageReader = (
  levels: readonly string[],
  payload: Uint8Array,
  nowMs: number,
) => MessageRecords | Promise<MessageRecords>;
