// Settings: from the environment and one optional file, checked before anything starts.
import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type AuditMode, auditModes } from "./audit/audit-log.ts";
import { parseSyslogAddress, type SyslogAddress } from "./audit/copy-targets.ts";
import { type BackupPlan, parseSchedule } from "./backup/backup-plan.ts";
import { parseKeep } from "./backup/keep.ts";
import { isS3Place, placeNamed } from "./backup/place.ts";
import { StartRefused } from "./data-folder.ts";
import { isNetwork } from "./lib/address-policy.ts";
import { withPaths } from "./lib/doc-links.ts";
import { limits } from "./limits.ts";
import { problemOfS3Url, type S3Access, s3AccessIn, s3SettingAt } from "./s3-access.ts";
import { settingsIn } from "./settings-file.ts";
import {
  type ClickHouseShards,
  clickHouseUrlForm,
  parseClickHouseShards,
} from "./storage/clickhouse-points/location.ts";
import type { S3Setting } from "./storage/s3-blobs/s3-blobs.ts";
import { s3UrlForm } from "./storage/s3-blobs/s3-location.ts";
import { postgresUrls } from "./storage/sql/dialects/postgres/location.ts";

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

export interface Settings {
  readonly host: string;
  readonly port: number;
  /** Absolute path of the data folder. */
  readonly data: string;
  /** The S3 store of the bytes of files; absent when they are in the data folder. */
  readonly blobs?: S3Setting;
  /** Reaches S3 stores of backups. */
  readonly s3?: S3Access;
  /** The ClickHouse database of the datapoints; absent when they are in the data folder. */
  readonly points?: ClickHouseShards;
  /** The server's public address, without a slash at its end; absent when it is the address it listens on. */
  readonly baseUrl?: string;
  /** The address of the catalog's database; absent when it is in the data folder. */
  readonly catalogUrl?: string;
  readonly project: string;
  readonly adminKey?: string;
  readonly logLevel: LogLevel;
  readonly trustedProxies: readonly string[];
  /** Threads that receive requests beside the main thread; none when absent. */
  readonly frontThreads?: number | "auto";
  /** Networks beyond the public internet that the server may call on behalf of a project. */
  readonly outboundNetworks: readonly string[];
  readonly attemptsPerMinute: number;
  readonly aggregateCacheBytes?: number;
  /** Which operations the audit log records. */
  readonly audit?: AuditSettings;
  /** Whether this machine runs code of users. */
  readonly hostsModels?: boolean;
  /** The folder of connectors that the server runs beside itself; absolute. */
  readonly connectors?: string;
  /** The backups that the server makes by itself. */
  readonly backups?: BackupPlan;
  /** The folder of the console's build; there may be none. No environment variable sets it. */
  readonly consoleFolder: string;
}

export interface AuditSettings {
  readonly mode: AuditMode;
  /** Older records are removed; all stay without it. */
  readonly days?: number;
  /** The absolute path of a file that gets a copy of each record. */
  readonly file?: string;
  /** The receiver of syslog that gets a copy of each record. */
  readonly syslog?: SyslogAddress;
}

/** Where `npm run build` puts the console. */
const builtConsole = fileURLToPath(new URL("../console/dist", import.meta.url));

interface Setting {
  readonly meaning: string;
  readonly byDefault?: string;
  /** The form of a valid value, for the error message of another one. */
  readonly expected: string;
  readonly isGood: (value: string) => boolean;
  /** Which part of an invalid value is wrong, instead of `expected` and the whole value. */
  readonly problemOf?: (value: string) => string;
  /** No message shows its value. */
  readonly isSecret?: true;
}

/** All settings; docs/SETTINGS.md lists them. */
export const described = {
  MILLRACE_HOST: {
    meaning: "Address to listen on; 0.0.0.0 for all",
    byDefault: "127.0.0.1",
    expected: "a host name or an IP address",
    isGood: (value) => /^[\w.:-]+$/.test(value),
  },
  MILLRACE_PORT: {
    meaning: "Port to listen on; 0 for any free port",
    byDefault: "8787",
    expected: "a number from 0 to 65535",
    isGood: (value) => /^\d{1,5}$/.test(value) && Number(value) <= 65535,
  },
  MILLRACE_DATA: {
    meaning: "The data folder, which holds all data",
    byDefault: "./millrace-data",
    expected: "a path",
    isGood: (value) => value !== "",
  },
  MILLRACE_CATALOG: {
    meaning:
      "The PostgreSQL database of the catalog, instead of a file; several hosts are separated by commas " +
      "([scale.md](scale.md#several-hosts))",
    expected: "an address such as postgres://user:password@host:5432/database",
    isGood: (value) => postgresUrls(value).length > 0,
    isSecret: true,
  },
  MILLRACE_POINTS: {
    meaning:
      "The ClickHouse database of the datapoints, instead of the data folder; commas separate replicas, " +
      "semicolons separate shards ([scale.md](scale.md#datapoints-in-clickhouse))",
    expected: `an address such as ${clickHouseUrlForm}`,
    isGood: (value) => parseClickHouseShards(value) !== undefined,
    isSecret: true,
  },
  MILLRACE_BLOBS: {
    meaning: "The S3 store of the bytes of files, instead of the data folder ([scale.md](scale.md))",
    expected: s3UrlForm,
    isGood: (value) => problemOfS3Url(value) === undefined,
    problemOf: (value) => problemOfS3Url(value)!,
  },
  MILLRACE_BASE_URL: {
    meaning: "Public address of the server, for links in responses",
    expected: "an address such as https://millrace.example.com",
    isGood: isBaseUrl,
  },
  MILLRACE_PROJECT: {
    meaning: "The project that the start creates if it does not exist",
    byDefault: "default",
    expected: `at most ${limits.projectNameLengthMax} letters, digits and hyphens, with no hyphen at an end`,
    isGood: isProjectName,
  },
  MILLRACE_ADMIN_KEY: {
    meaning: "The API key of that project's administrator, instead of one that the first start creates",
    expected: "at least 16 characters without blanks",
    isGood: (value) => /^[\x21-\x7e]{16,}$/.test(value),
    isSecret: true,
  },
  MILLRACE_TRUSTED_PROXIES: {
    meaning: "Addresses of proxies that name their clients in X-Forwarded-For",
    byDefault: "",
    expected: "IP addresses or networks such as 10.0.0.0/8, separated by commas",
    isGood: (value) => addressesIn(value).every(isNetwork),
  },
  MILLRACE_OUTBOUND_NETWORKS: {
    meaning: "Private networks that the server may call for a project, such as that of its identity provider",
    byDefault: "",
    expected: "IP addresses or networks such as 10.0.0.0/8, separated by commas",
    isGood: (value) => addressesIn(value).every(isNetwork),
  },
  MILLRACE_FRONT_THREADS: {
    meaning:
      "Threads that receive requests beside the main thread, and serve those for datapoints; `auto` is two " +
      "less than there are cores, at most 7 ([operations.md](operations.md#front-threads))",
    byDefault: "auto",
    expected: `auto or a whole number from 0 to ${limits.frontThreadsMax}`,
    isGood: (value) =>
      value === "auto" || (/^\d{1,2}$/.test(value) && Number(value) <= limits.frontThreadsMax),
  },
  MILLRACE_ATTEMPTS_PER_MINUTE: {
    meaning: "Failed credentials, and logins in a browser, that one address may have per minute",
    byDefault: "120",
    expected: "a number from 1 to 1000000",
    isGood: (value) => /^[1-9]\d{0,6}$/.test(value) && Number(value) <= 1_000_000,
  },
  MILLRACE_AUDIT: {
    meaning:
      "Which operations the audit log records: `changes` of rights, keys and settings, with deletions, " +
      "exports and sign-ins; also all `writes`; `all`, reads too; or `off` ([audit.md](audit.md))",
    byDefault: "changes",
    expected: `one of ${auditModes.join(", ")}`,
    isGood: (value) => (auditModes as readonly string[]).includes(value),
  },
  MILLRACE_AUDIT_DAYS: {
    meaning: "Days after which records of the audit log are removed ([audit.md](audit.md#retention))",
    byDefault: "3650",
    expected: "a number from 1 to 36500",
    isGood: (value) => /^[1-9]\d{0,4}$/.test(value) && Number(value) <= 36_500,
  },
  MILLRACE_AUDIT_FILE: {
    meaning: "A file that gets each record of the audit log as a line of JSON ([audit.md](audit.md#copies))",
    expected: "a path",
    isGood: (value) => value !== "",
  },
  MILLRACE_AUDIT_SYSLOG: {
    meaning: "A receiver of syslog that gets each record of the audit log ([audit.md](audit.md#copies))",
    expected: "an address such as udp://host:514 or tcp://host:601",
    isGood: (value) => parseSyslogAddress(value) !== undefined,
  },
  MILLRACE_AGGREGATE_CACHE: {
    meaning:
      "Memory for aggregates that were read before, in MiB for each core or shard of ClickHouse; 0: none",
    byDefault: "16",
    expected: "a whole number from 0 to 4096",
    isGood: (value) => /^\d{1,4}$/.test(value) && Number(value) <= 4096,
  },
  MILLRACE_MODELS: {
    meaning: "`on` enables model hosting, which runs code of users on this machine (docs/models.md)",
    byDefault: "off",
    expected: "on or off",
    isGood: (value) => /^(on|off)$/.test(value),
  },
  MILLRACE_CONNECTORS: {
    meaning:
      "A folder of files of connectors, which the server runs and restarts " +
      "([connectors.md](connectors.md#run-by-the-server))",
    expected: "a path",
    isGood: (value) => value !== "",
  },
  MILLRACE_BACKUP_TO: {
    meaning:
      "The folder, or the S3 store, of the backups that the server makes by itself; `millrace backup` " +
      "makes the first one ([backup.md](backup.md#by-the-server))",
    expected: "a path or s3://bucket/prefix?endpoint=https://s3.example.com:9000",
    isGood: (value) => (isS3Place(value) ? problemOfS3Url(value) === undefined : value !== ""),
    problemOf: (value) => (isS3Place(value) ? problemOfS3Url(value)! : "must be a path"),
  },
  MILLRACE_BACKUP_SCHEDULE: {
    meaning: "The times of these backups",
    byDefault: "0 2 * * * UTC",
    expected:
      "minute, hour, day of month, month and weekday as in cron, and a time zone, such as " +
      "0 2 * * * Europe/Oslo",
    isGood: (value) => parseSchedule(value) !== undefined,
  },
  MILLRACE_BACKUP_KEEP: {
    meaning:
      "Of how many days, weeks and months the newest backup stays; others are removed. All stay without it",
    expected: "three numbers such as 7,4,12",
    isGood: (value) => parseKeep(value) !== undefined,
  },
  MILLRACE_BACKUP_JOURNAL: {
    meaning:
      "Every so many seconds, the server copies what has changed since the last backup, for " +
      "`millrace restore --until` ([backup.md](backup.md#between-two-backups)); or `off`",
    byDefault: "off",
    expected: "off or a number of seconds from 1 to 86400",
    isGood: (value) => value === "off" || (/^[1-9]\d{0,4}$/.test(value) && Number(value) <= 86_400),
  },
  MILLRACE_BACKUP_PASSPHRASE_FILE: {
    meaning: "A file with the passphrase of encrypted backups",
    expected: "a path",
    isGood: (value) => value !== "",
  },
  MILLRACE_LOG_LEVEL: {
    meaning: "The least severe level that is logged",
    byDefault: "info",
    expected: `one of ${logLevels.join(", ")}`,
    isGood: (value) => (logLevels as readonly string[]).includes(value),
  },
} as const satisfies Record<string, Setting>;

type Name = keyof typeof described;
const names = Object.keys(described) as Name[];

/** Settings of clients, which the server accepts in the same environment. */
const elsewhere = ["MILLRACE_KEY", "MILLRACE_SERVER"];

const addressesIn = (value: string) => value.split(",").flatMap((one) => one.trim() || []);

/** An address to which paths can be appended. */
function isBaseUrl(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || url.username || url.password) return false;
  return /^https?:$/.test(url.protocol) && !/[?#]/.test(value);
}

/** Letters and digits of any script, and hyphens that are not at either end. */
export function isProjectName(name: string): boolean {
  return (
    name.length <= limits.projectNameLengthMax && /^[\p{L}\p{M}\p{N}]+(-+[\p{L}\p{M}\p{N}]+)*$/u.test(name)
  );
}

/** The settings in `environment`, then in the file `millrace.env` of `folder`; throws `StartRefused`. */
export function readSettings(
  environment: Readonly<Record<string, string | undefined>>,
  folder: string,
): Settings {
  return settingsFrom({ ...settingsIn(resolve(folder, "millrace.env")), ...environment }, folder);
}

/** The credentials of S3 stores in `environment`, then in the file `millrace.env` of `folder`. */
export const readS3Access = (
  environment: Readonly<Record<string, string | undefined>>,
  folder: string,
): S3Access => s3AccessIn({ ...settingsIn(resolve(folder, "millrace.env")), ...environment });

/**
 * The settings of another installation: those in a file, whose relative paths begin at its folder, with the
 * credentials of the environment; or those of a data folder that has everything.
 */
export function readSettingsAt(
  path: string,
  environment: Readonly<Record<string, string | undefined>>,
): Settings {
  const found = statSync(path, { throwIfNoEntry: false });
  const own = Object.entries(environment).filter(([name]) => !name.startsWith("MILLRACE_"));
  if (!found?.isFile()) return settingsFrom({ MILLRACE_DATA: resolve(path) }, resolve(path));
  return settingsFrom({ ...Object.fromEntries(own), ...settingsIn(path) }, dirname(resolve(path)));
}

function settingsFrom(given: Given, folder: string): Settings {
  refuseUnknown(Object.keys(given));
  const value = (name: Name): string | undefined => {
    const setting: Setting = described[name];
    const found = given[name];
    if (found === undefined) return setting.byDefault;
    if (!setting.isGood(found)) {
      const shown = setting.isSecret ? "" : `, but is "${found}"`;
      const problem = setting.problemOf?.(found) ?? `must be ${setting.expected}${shown}`;
      throw new StartRefused(`${name} ${problem}`);
    }
    return found;
  };
  const baseUrl = value("MILLRACE_BASE_URL")?.replace(/\/+$/, "");
  const adminKey = value("MILLRACE_ADMIN_KEY");
  const blobs = value("MILLRACE_BLOBS");
  const connectors = value("MILLRACE_CONNECTORS");
  const catalogUrl = value("MILLRACE_CATALOG");
  const points = parseClickHouseShards(value("MILLRACE_POINTS") ?? "");
  const frontThreads = value("MILLRACE_FRONT_THREADS")!;
  const backups = backupPlan(value, given, folder);
  const s3 = s3AccessIn(given);
  return {
    host: value("MILLRACE_HOST")!,
    port: Number(value("MILLRACE_PORT")),
    data: resolve(folder, value("MILLRACE_DATA")!),
    project: value("MILLRACE_PROJECT")!.normalize("NFC"),
    logLevel: value("MILLRACE_LOG_LEVEL") as LogLevel,
    trustedProxies: addressesIn(value("MILLRACE_TRUSTED_PROXIES")!),
    frontThreads: frontThreads === "auto" ? frontThreads : Number(frontThreads),
    outboundNetworks: addressesIn(value("MILLRACE_OUTBOUND_NETWORKS")!),
    attemptsPerMinute: Number(value("MILLRACE_ATTEMPTS_PER_MINUTE")),
    aggregateCacheBytes: Number(value("MILLRACE_AGGREGATE_CACHE")) * 2 ** 20,
    audit: auditSettings(value, folder),
    hostsModels: value("MILLRACE_MODELS") === "on",
    s3,
    consoleFolder: builtConsole,
    ...(blobs !== undefined && { blobs: s3SettingAt(blobs, s3, "MILLRACE_BLOBS") }),
    ...(points !== undefined && { points }),
    ...(backups !== undefined && { backups }),
    ...(connectors !== undefined && { connectors: resolve(folder, connectors) }),
    ...(baseUrl !== undefined && { baseUrl }),
    ...(adminKey !== undefined && { adminKey }),
    ...(catalogUrl !== undefined && { catalogUrl }),
  };
}

function auditSettings(value: (name: Name) => string | undefined, folder: string): AuditSettings {
  const file = value("MILLRACE_AUDIT_FILE");
  const syslog = parseSyslogAddress(value("MILLRACE_AUDIT_SYSLOG") ?? "");
  return {
    mode: value("MILLRACE_AUDIT") as AuditMode,
    days: Number(value("MILLRACE_AUDIT_DAYS")),
    ...(file !== undefined && { file: resolve(folder, file) }),
    ...(syslog && { syslog }),
  };
}

function backupPlan(
  value: (name: Name) => string | undefined,
  given: Given,
  folder: string,
): BackupPlan | undefined {
  const place = value("MILLRACE_BACKUP_TO");
  const times = value("MILLRACE_BACKUP_SCHEDULE")!;
  const keep = parseKeep(value("MILLRACE_BACKUP_KEEP") ?? "");
  const passphraseFile = value("MILLRACE_BACKUP_PASSPHRASE_FILE");
  const journal = value("MILLRACE_BACKUP_JOURNAL")!;
  const more = names.find((name) => name.startsWith("MILLRACE_BACKUP_") && given[name] !== undefined);
  if (place === undefined && more) throw new StartRefused(`${more} is set, but MILLRACE_BACKUP_TO is not`);
  if (place === undefined) return undefined;
  return {
    ...{ place: placeNamed(place, folder), schedule: parseSchedule(times)! },
    ...(keep && { keep }),
    ...(journal !== "off" && { journalSeconds: Number(journal) }),
    ...(passphraseFile !== undefined && { passphraseFile: resolve(folder, passphraseFile) }),
  };
}

type Given = Readonly<Record<string, string | undefined>>;

function refuseUnknown(given: readonly string[]): void {
  const unknown = given.filter(
    (name) => name.startsWith("MILLRACE_") && !names.includes(name as Name) && !elsewhere.includes(name),
  );
  const known = names.map((name) => `  ${name}  ${withPaths(described[name].meaning)}`).join("\n");
  if (unknown[0]) throw new StartRefused(`Unknown settings: ${unknown.join(", ")}. Known are:\n${known}`);
}
