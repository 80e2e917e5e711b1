// Preloaded into a server (`--import`): moves points into blocks every few requests instead of every few
// minutes, so that a test which kills it now and then meets it in the midst of that.
import { limits } from "../../src/limits.ts";

Object.assign(limits, { journalCheckpointBytes: 40_000, journalIdleMs: 30, journalIdleBytes: 0 });
