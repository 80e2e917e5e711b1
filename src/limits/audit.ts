// Limits of the audit log.
import { limit } from "./limit.ts";

export const auditLimits = {
  auditIdsMax: limit(20, "ids", "Ids and names of records in one audit record; it also has their number."),
  auditIdLengthMax: limit(128, "characters", "An id or a name in an audit record. More is cut off."),
  auditGroupMs: limit(
    1_000,
    "ms",
    "The longest time until the audit record of a write or a read is on disk. A crash loses those of it.",
  ),
  auditRecordsPerWrite: limit(1_000, "records", "Audit records that one transaction stores or reads."),
  auditWaitingMax: limit(
    20_000,
    "records",
    "Audit records that wait for a catalog that accepts no writes. Then operations to record are refused.",
  ),
  auditRetryMs: limit(1_000, "ms", "The time until refused audit records are written again."),
  auditProjectsKnown: limit(100, "projects", "Projects whose ids the audit log keeps in memory."),
  auditSweepMs: limit(3_600_000, "ms", "How often old audit records are removed."),
  auditRemovedAtOnce: limit(10_000, "records", "Old audit records that one transaction removes."),
  auditCopyEveryMs: limit(1_000, "ms", "How often new audit records are copied to a file or to syslog."),
  auditSyslogMsMax: limit(10_000, "ms", "How long a receiver of syslog over TCP may be silent."),
  auditDatagramBytesMax: limit(
    8_192,
    "bytes",
    "A message of syslog over UDP. A longer one is sent without ids, and its strings are cut off.",
  ),
  auditDatagramsAtOnce: limit(32, "messages", "Messages of syslog over UDP without a pause between them."),
  auditDatagramPauseMs: limit(5, "ms", "The pause after them, so that the receiver can read them."),
  auditListDefault: limit(100, "records", "A page of audit records without `limit`."),
} as const;
