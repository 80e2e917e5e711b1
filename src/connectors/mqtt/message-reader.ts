// The interface of the formats of messages.
import type { SourceRecords } from "../records.ts";

/** The records of a message. Throws if the message cannot be read. */
export type MessageReader = (
  levels: readonly string[],
  payload: Uint8Array,
  nowMs: number,
) => SourceRecords | Promise<SourceRecords>;
