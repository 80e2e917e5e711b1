// Preloaded into a server (`--import`): flushes points to blocks every few requests instead of every few
// minutes, so that kills at random times often interrupt a flush.
import { limits } from "../../src/limits.ts";

Object.assign(limits, { journalCheckpointBytes: 40_000, journalIdleMs: 30, journalIdleBytes: 0 });
