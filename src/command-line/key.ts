// `millrace key`: creates, lists and revokes API keys, also while a server runs on the same data folder.
import { parseArgs } from "node:util";
import { accountsNamed, ensureAccount } from "../access/accounts.ts";
import { type KeyLimits, limitedUnits } from "../access/key-limits.ts";
import { StartRefused } from "../data-folder.ts";
import { limits } from "../limits.ts";
import type { Project } from "../resources/projects/projects.ts";
import { audited } from "./audited.ts";
import { type Opened, withProject } from "./beside-server.ts";
import { type Command, Misused } from "./command.ts";
import { expectWords, printTable } from "./words.ts";

const options = {
  label: { type: "string" },
  project: { type: "string" },
  user: { type: "string" },
  days: { type: "string" },
  "requests-per-second": { type: "string" },
  "points-per-second": { type: "string" },
  "bytes-per-second": { type: "string" },
} as const;

interface Given {
  readonly words: readonly string[];
  readonly limits: KeyLimits | undefined;
  readonly label?: string | undefined;
  readonly user?: string | undefined;
  readonly days?: string | undefined;
}
type Action = (opened: Opened, project: Project, given: Given) => Promise<void>;

export const key: Command = {
  usage: `Usage: millrace key create [--label TEXT] [--user NAME] [--days N] [--project NAME]
                           [--requests-per-second N] [--points-per-second N] [--bytes-per-second N]
       millrace key list [--project NAME]
       millrace key revoke <id> [--project NAME]

A key acts for a service account in one project: that of --project, else MILLRACE_PROJECT, else "default".
Without --user the account is the administrator, who has all rights and is created if missing. With --user it
is the account of that name, which is created if missing; its groups grant its rights (docs/access.md).
A key is shown once, when it is created. With --days it expires after that many days.
With a limit a second, requests beyond it wait up to a second and are then refused (429).
A running server sees changes within a second. The data folder is MILLRACE_DATA, else ./millrace-data.`,
  async run(words) {
    const { positionals, values } = parseArgs({ args: [...words], options, allowPositionals: true });
    const { project: projectName, ...given } = values;
    const keyLimits = limitsIn(values);
    const [name = "", ...rest] = positionals;
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (!action)
      throw new Misused(
        name === "" ? "Name an action: create, list or revoke." : `There is no action "key ${name}".`,
      );
    await withProject(projectName, (opened, project) =>
      action(opened, project, { ...given, words: rest, limits: keyLimits }),
    );
    return 0;
  },
};

/** The limits of the options; undefined without any. Refuses a limit that is no whole number in range. */
function limitsIn(values: Readonly<Record<string, string | undefined>>): KeyLimits | undefined {
  const entries = limitedUnits.flatMap((unit) => {
    const text = values[`${unit}-per-second`];
    if (text === undefined) return [];
    const perSecond = /^[1-9]\d*$/.test(text) ? Number(text) : Number.NaN;
    if (!(perSecond <= limits.keyLimitMax))
      throw new Misused(
        `--${unit}-per-second must be a whole number from 1 to ${limits.keyLimitMax}, but is "${text}".`,
      );
    return [[`${unit}PerSecond`, perSecond]];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

const limitsText = (keyLimits: KeyLimits = {}): string =>
  limitedUnits
    .flatMap((unit) => {
      const perSecond = keyLimits[`${unit}PerSecond`];
      return perSecond === undefined ? [] : [`${perSecond} ${unit}/s`];
    })
    .join(", ") || "none";

const idMissing = "The id of the key is missing; see: millrace key list";
const dayMs = 24 * 3_600_000;

const keyOperation = (name: "create" | "revoke", id: string) =>
  ({ kind: "keys", action: `millrace key ${name}`, resource: "apikeys", ids: [id] }) as const;

const actions: Readonly<Record<string, Action>> = {
  async create({ rights, keys, settings, ...maker }, project, given) {
    expectWords(given.words, 0, "");
    const { user, label = "made on the command line", days } = given;
    if (days !== undefined && !/^[1-9]\d{0,4}$/.test(days))
      throw new Misused(`--days must be a number of days from 1 to 99999, but is "${days}".`);
    const operation = keyOperation("create", user ?? "administrator");
    const { account, made } = await audited({ ...maker, settings }, project, operation, async (note) => {
      const account =
        user === undefined
          ? undefined
          : await rights.change((tx) => ensureAccount(tx, project.id, user, maker));
      const made = await keys.create(project, label, {
        ...(account && { accountId: account.id }),
        ...(given.limits && { limits: given.limits }),
        ...(days !== undefined && { expiresTime: maker.system.nowMs() + Number(days) * dayMs }),
      });
      note(made.id);
      return { account, made };
    });
    const whose = user === undefined ? "" : ` for ${user}`;
    console.log(`Key ${made.id} of project ${project.urlName}${whose}, shown this once:\n\n  ${made.key}\n`);
    if (account?.groupIds.length === 0)
      console.log(
        `${user} is in no group yet: it has only the rights of the project's default group, if any.`,
      );
  },

  async list({ catalog, keys }, project, { words }) {
    expectWords(words, 0, "");
    const listed = await keys.list(project);
    const accounts = await catalog.read("system", (tx) => accountsNamed(tx, project.id));
    const day = (time: number | undefined) => (time === undefined ? "never" : new Date(time).toISOString());
    printTable([
      ["id", "created", "last used", "expires", "limits", "user", "label"],
      ...listed.map((one) => [
        one.id,
        day(one.createdTime),
        day(one.lastUsedTime),
        day(one.expiresTime),
        limitsText(one.limits),
        accounts.get(one.accountId ?? 0) ?? "administrator",
        one.name,
      ]),
    ]);
  },

  async revoke({ keys, ...opened }, project, { words }) {
    expectWords(words, 1, idMissing);
    const known = (await keys.list(project)).find(({ id }) => String(id) === words[0]);
    if (!known) throw new StartRefused(`The project ${project.urlName} has no key ${words[0]}`);
    const operation = keyOperation("revoke", String(known.id));
    const revoked = await audited(opened, project, operation, () => keys.revoke(known.id));
    const others =
      revoked.length === 1 ? "" : `, and with it the keys it made: ${revoked.slice(1).join(", ")}`;
    console.log(`Key ${known.id} (${known.name}) is revoked${others}.`);
  },
};
