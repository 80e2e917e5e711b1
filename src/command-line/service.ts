// `millrace service`: installs Millrace as a service of systemd, from the unit in deploy.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { StartRefused } from "../data-folder.ts";
import { type Command, Misused } from "./command.ts";
import { type Program, thisProgram } from "./this-program.ts";

const options = { root: { type: "string" } } as const;

const template = new URL("../../deploy/millrace.service", import.meta.url);

const account = "millrace";
const unitPath = "/etc/systemd/system/millrace.service";
const settingsPath = "/etc/millrace/millrace.env";
const dataFolder = "/var/lib/millrace";

export const service: Command = {
  usage: `Usage: millrace service install [--root FOLDER]
       millrace service uninstall [--root FOLDER]
       millrace service print

Runs Millrace as a service of systemd on Linux, as root.
install    writes the unit ${unitPath} and the settings
           ${settingsPath}, creates the account "${account}", and starts the service. Settings that
           exist stay as they are. Run it again after an upgrade.
uninstall  stops the service and removes the unit. Settings and data stay.
print      prints the unit.
--root     changes files below this folder only, for the image of another machine; starts nothing.`,
  async run(words) {
    const { positionals, values } = parseArgs({ args: [...words], options, allowPositionals: true });
    const [name = "", ...rest] = positionals;
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (!action || rest.length > 0)
      throw new Misused(
        name === ""
          ? "Name an action: install, uninstall or print."
          : `There is no "service ${positionals.join(" ")}".`,
      );
    action(values.root);
    return 0;
  },
};

const actions: Readonly<Record<string, (root: string | undefined) => void>> = {
  install(root) {
    expectSystemd(root);
    const unit = unitFor(thisProgram);
    writeFile(at(root, unitPath), unit, 0o644);
    const isNew = !existsSync(at(root, settingsPath));
    if (isNew) writeFile(at(root, settingsPath), firstSettings, 0o600);
    if (root !== undefined) return console.log(`Wrote ${at(root, unitPath)}. ${accountNeeded}`);
    createAccount();
    run("systemctl", "daemon-reload");
    run("systemctl", "enable", "millrace");
    run("systemctl", "restart", "millrace");
    console.log(installed);
  },
  uninstall(root) {
    expectSystemd(root);
    const unit = at(root, unitPath);
    if (!existsSync(unit)) throw new StartRefused(`There is no ${unit}: the service is not installed`);
    if (root === undefined) run("systemctl", "disable", "--now", "millrace");
    rmSync(unit);
    if (root === undefined) run("systemctl", "daemon-reload");
    console.log(`The service is removed. The data stays in ${dataFolder}, the settings in ${settingsPath}.`);
  },
  print() {
    console.log(unitFor(thisProgram).trimEnd());
  },
};

/**
 * The unit of deploy with the paths of this installation. Throws `StartRefused` where the unit cannot read
 * them.
 */
export function unitFor({ node, main }: Program): string {
  for (const path of [node, main]) {
    const hidden = hiddenFolders.find((folder) => path.startsWith(`${folder}/`));
    if (hidden !== undefined)
      throw new StartRefused(
        `The service cannot read ${path}, because the unit hides ${hidden}. ` +
          "Move Millrace, for example to /opt/millrace",
      );
    if (/[\s%"'\\$]/.test(path))
      throw new StartRefused(`The path ${path} has a character with a meaning for systemd. Move Millrace`);
  }
  const root = dirname(dirname(main));
  return readFileSync(template, "utf8")
    .replace(/^#.*\n/gm, "")
    .replace(/^Documentation=.*$/m, `Documentation=file:${join(root, "docs/operations.md")}`)
    .replace(/^WorkingDirectory=.*$/m, `WorkingDirectory=${root}`)
    .replace(/^ExecStart=.*$/m, `ExecStart=${node} ${main} serve`);
}

/** The folders that `ProtectHome` and `PrivateTmp` of the unit hide. */
export const hiddenFolders = ["/home", "/root", "/run/user", "/tmp", "/var/tmp"];

function expectSystemd(root: string | undefined): void {
  if (root !== undefined) return;
  if (!existsSync("/run/systemd/system"))
    throw new StartRefused("systemd does not run on this machine. Use --root for the image of another one");
  if (process.getuid?.() !== 0) throw new StartRefused("This needs root: run it with sudo");
}

function createAccount(): void {
  try {
    execFileSync("id", [account], { stdio: "ignore" });
  } catch {
    run(
      "useradd",
      "--system",
      "--user-group",
      "--home-dir",
      dataFolder,
      "--shell",
      "/usr/sbin/nologin",
      account,
    );
  }
}

/** Messages of the command go to the terminal. */
function run(command: string, ...words: readonly string[]): void {
  try {
    execFileSync(command, words, { stdio: "inherit" });
  } catch {
    throw new StartRefused(`"${[command, ...words].join(" ")}" failed; its message is above`);
  }
}

const at = (root: string | undefined, path: string) => (root === undefined ? path : join(root, path));

function writeFile(path: string, text: string, mode: number): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode });
  chmodSync(path, mode);
}

const firstSettings = `# Settings, read when the service starts. docs/SETTINGS.md describes all of them.
# The server listens on this machine only until MILLRACE_HOST says otherwise.
#MILLRACE_HOST=0.0.0.0
#MILLRACE_PORT=8787
#MILLRACE_BASE_URL=https://millrace.example.com
`;

const accountNeeded = `The machine needs the account "${account}": useradd --system --user-group ${account}`;

const installed = `Millrace runs as the service "millrace" and starts with the machine.

  First link and API key   journalctl -u millrace
  State                    systemctl status millrace
  Settings                 ${settingsPath}, then: systemctl restart millrace
  Other commands           cd ${dataFolder} && MILLRACE_DATA=${dataFolder} runuser -u ${account} -- \\
                           ${thisProgram.node} ${thisProgram.main} key list`;
