// `millrace login-link`: prints a one-time link to the console, also while a server runs on the data folder.
import { parseArgs } from "node:util";
import { StartRefused } from "../data-folder.ts";
import { audited } from "./audited.ts";
import { withProject } from "./beside-server.ts";
import type { Command } from "./command.ts";
import { addressOf, signInLink } from "./sign-in-link.ts";

const options = { project: { type: "string" } } as const;

export const loginLink: Command = {
  usage: `Usage: millrace login-link [--project NAME]

Prints a link that signs in to the web console as the administrator of a project: that of --project, else
MILLRACE_PROJECT, else "default". The link works once, and for an hour. The server may be running. The link
begins with MILLRACE_BASE_URL, else with the address of MILLRACE_HOST and MILLRACE_PORT.
The data folder is MILLRACE_DATA, else ./millrace-data.`,
  async run(words) {
    const { project: projectName } = parseArgs({ args: [...words], options }).values;
    await withProject(projectName, async ({ sessions, settings, ...opened }, project) => {
      const address = addressOf(settings);
      if (address === undefined)
        throw new StartRefused(
          "The address of the server is unknown, because MILLRACE_PORT is 0; set MILLRACE_BASE_URL",
        );
      const operation = {
        kind: "keys",
        action: "millrace login-link",
        resource: "session",
        ids: [],
      } as const;
      const token = await audited({ ...opened, settings }, project, operation, () =>
        sessions.createLink(project),
      );
      const link = signInLink(address, token);
      console.log(
        `Open this link to sign in to the project ${project.urlName} as its administrator. ` +
          `It works once, and for an hour:\n\n  ${link}\n`,
      );
    });
    return 0;
  },
};
