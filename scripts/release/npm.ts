// Runs npm in a folder.
import { execFileSync } from "node:child_process";

/** Returns the output of npm; its messages go to the terminal when it fails. */
export const npm = (folder: string, ...args: readonly string[]): string =>
  execFileSync("npm", args, {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 64 * 2 ** 20,
    stdio: ["ignore", "pipe", "pipe"],
    // Settings of the npm that runs this script, such as its prefix, must not reach this one.
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOfRunningNpm(name))),
  });

const isOfRunningNpm = (name: string) =>
  /^npm_(lifecycle|package|command|execpath|node)/.test(name) ||
  /^npm_config_(prefix|local_prefix)/.test(name);
