// The system packages that some tests need, and their installation. Without them these tests are skipped.
import { type ExecFileSyncOptions, execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

export interface SystemPackage {
  /** The command whose presence on PATH shows that the package is installed. */
  readonly command: string;
  /** The packages that apt-get installs. */
  readonly debian: readonly string[];
  /** Which tests need it, for the line printed when it is missing. */
  readonly usedFor: string;
  /** Whether its tests run without it too, only slower: then it may be missing in the distribution. */
  readonly isOptional?: true;
}

export type SystemPackages = Readonly<Record<string, SystemPackage>>;

export const systemPackages: SystemPackages = {
  chromium: { command: "chromium", debian: ["chromium"], usedFor: "logins in a browser" },
  chromiumHeadlessShell: {
    ...{ command: "chromium-headless-shell", debian: ["chromium-headless-shell"], isOptional: true },
    usedFor: "tests of pages with less processor time",
  },
  python: { command: "python3", debian: ["python3"], usedFor: "model hosting" },
  postgresql: { command: "pg_ctlcluster", debian: ["postgresql"], usedFor: "the catalog in PostgreSQL" },
  clickhouse: {
    command: "clickhouse-server",
    debian: ["clickhouse-server"],
    usedFor: "datapoints in ClickHouse",
  },
  mariadb: {
    command: "mariadbd",
    debian: ["mariadb-server-core", "mariadb-client-core"],
    usedFor: "reading MySQL and MariaDB",
  },
  mosquitto: { command: "mosquitto", debian: ["mosquitto"], usedFor: "the MQTT connector" },
  influxdb: {
    command: "influx",
    debian: ["influxdb-client", "python3-influxdb"],
    usedFor: "clients of InfluxDB",
  },
  collectd: { command: "collectd", debian: ["collectd-core"], usedFor: "collectd writing to Millrace" },
  prometheus: { command: "prometheus", debian: ["prometheus"], usedFor: "metrics and alerts" },
  haproxy: { command: "haproxy", debian: ["haproxy"], usedFor: "HAProxy before servers" },
  openssl: { command: "openssl", debian: ["openssl"], usedFor: "a certificate for TLS" },
  systemd: { command: "systemd-analyze", debian: ["systemd"], usedFor: "the check of the systemd unit" },
  bubblewrap: { command: "bwrap", debian: ["bubblewrap"], usedFor: "the isolation of model hosting" },
};

/** The machine as far as installing goes; a parameter so that tests can decide it. */
export interface Machine {
  has(command: string): boolean;
  /** Whether this user may install with apt-get here. */
  readonly mayInstall: boolean;
  install(packages: readonly string[]): void;
}

export const thisMachine: Machine = {
  has: (command) => spawnSync("sh", ["-c", `command -v ${command}`], { stdio: "ignore" }).status === 0,
  get mayInstall() {
    return process.getuid?.() === 0 && existsSync("/etc/debian_version");
  },
  install: (packages) => {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    const options: ExecFileSyncOptions = { stdio: ["ignore", "ignore", "inherit"], env };
    execFileSync("apt-get", ["update", "-qq"], options);
    execFileSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...packages], options);
  },
};

/** Installs missing packages if that is allowed; returns lines that describe the result. */
export function prepare(packages: SystemPackages, machine: Machine): string[] {
  const missing = Object.values(packages).filter((one) => !machine.has(one.command));
  // apt-get installs all packages of a command or none: an unknown one would keep the others away.
  return [
    ...installed(
      missing.filter(({ isOptional }) => !isOptional),
      machine,
    ),
    ...improved(missing, machine),
  ];
}

/** Installs packages that only make tests faster; it does not report their absence. */
function improved(missing: readonly SystemPackage[], machine: Machine): string[] {
  const optional = missing.filter(({ isOptional }) => isOptional);
  if (optional.length === 0 || !machine.mayInstall) return [];
  const names = optional.flatMap((one) => one.debian);
  try {
    machine.install(names);
    return [`Installed ${names.join(" ")}.`];
  } catch {
    return [];
  }
}

function installed(missing: readonly SystemPackage[], machine: Machine): string[] {
  if (missing.length === 0) return [];
  const names = missing.flatMap((one) => one.debian);
  if (!machine.mayInstall) {
    const uses = missing.map((one) => `  ${one.debian.join(" ")} (${one.usedFor})`);
    return ["Skipping the tests that need:", ...uses, `To run them: sudo ${installCommand(names)}`];
  }
  try {
    machine.install(names);
    return [`Installed ${names.join(" ")}.`];
  } catch (problem) {
    const reason = problem instanceof Error ? problem.message : String(problem);
    return [`Could not install ${names.join(" ")}: ${reason}`, "The tests that need them are skipped."];
  }
}

/** The `skip` of a test that needs a package: false, or the reason with the package to install. */
export function skipWithout(
  name: string,
  packages: SystemPackages = systemPackages,
  machine = thisMachine,
): false | string {
  const found = packages[name];
  if (!found) throw new Error(`${name} is not in the table of scripts/system-packages.ts`);
  if (machine.has(found.command)) return false;
  return `needs ${name}: sudo ${installCommand(found.debian)}`;
}

const installCommand = (packages: readonly string[]) => `apt-get install -y ${packages.join(" ")}`;
