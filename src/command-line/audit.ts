// `millrace audit`: checks the hash chain of the audit log, also while a server runs on the data folder.
import { parseArgs } from "node:util";
import { verifyAuditOf } from "../resources/audit/audit.ts";
import { withProject } from "./beside-server.ts";
import { type Command, Misused } from "./command.ts";

const damageFound = 3;

const options = { project: { type: "string" } } as const;

const problems = { missing: "is missing", changed: "was changed", hash: "does not follow the one before" };

export const audit: Command = {
  usage: `Usage: millrace audit verify [--project NAME]

Checks every record of the audit log of a project: that of --project, else MILLRACE_PROJECT, else "default".
Names the first record that is missing or changed. The server may be running.
The data folder is MILLRACE_DATA, else ./millrace-data.

Exit codes: 0, in order; 1, refused; ${damageFound}, a record is missing or changed.`,
  async run(words) {
    const { positionals, values } = parseArgs({ args: [...words], options, allowPositionals: true });
    if (positionals.join(" ") !== "verify") throw new Misused("Name an action: verify.");
    let exitCode = 0;
    await withProject(values.project, async (opened, { id, urlName }) => {
      const { head, checked, broken } = await verifyAuditOf(opened, id);
      const removed = head.removedSeq === 0 ? "" : `; records up to ${head.removedSeq} were removed by age`;
      if (broken) {
        console.log(`Record ${broken.seq} of the audit log of ${urlName} ${problems[broken.problem]}`);
        exitCode = damageFound;
      } else
        console.log(
          `The audit log of ${urlName} is in order: ${checked} records, the newest is ${head.seq} with the ` +
            `hash ${head.hash}${removed}`,
        );
    });
    return exitCode;
  },
};
