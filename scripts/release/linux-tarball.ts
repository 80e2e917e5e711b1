// The tarball of a release for Linux: the npm package with its dependencies and Node, ready to run.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { npm } from "./npm.ts";

export type Architecture = "x64" | "arm64";

/** The first folder of the path is the file itself, also through links such as /usr/local/bin/millrace. */
const launcher = (architecture: Architecture) => `#!/bin/sh
# Runs Millrace with the Node beside it.
root=$(dirname "$(dirname "$(readlink -f "$0")")")
node="$root/node_modules/node-linux-${architecture}/bin/node"
"$node" --version > /dev/null || {
  echo "Node cannot run here. It needs Linux on ${architecture}, glibc 2.28 or newer, and libatomic:" >&2
  echo "apt-get install libatomic1, or dnf install libatomic" >&2
  exit 1
}
exec "$node" "$root/src/main.js" "$@"
`;

/** The files of npm's packages of Node beside the program. */
const unused = ["include", "share", "CHANGELOG.md", "README.md"];

/** Adds dependencies, Node and the command to the files of the npm package, then packs them. */
export function packLinux(
  folder: string,
  { architecture, file, time }: { architecture: Architecture; file: string; time: number },
): void {
  const platform = ["--os=linux", `--cpu=${architecture}`, "--libc=glibc"];
  npm(folder, "ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", ...platform);
  for (const name of unused)
    rmSync(join(folder, `node_modules/node-linux-${architecture}`, name), { recursive: true, force: true });
  rmSync(join(folder, "bin"), { recursive: true });
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin/millrace"), launcher(architecture));
  chmodSync(join(folder, "bin/millrace"), 0o755);
  // Equal input makes an equal file: names in order, one time, no owner.
  const equal = ["--sort=name", `--mtime=@${time}`, "--owner=0", "--group=0", "--numeric-owner"];
  const name = file.slice(file.lastIndexOf("/") + 1).replace(/\.tar\.gz$/, "");
  const rename = ["--transform", `s,^\\.,${name},S`];
  execFileSync(
    "tar",
    ["--create", ...equal, ...rename, "--use-compress-program", "gzip -n", "--file", file, "."],
    {
      cwd: folder,
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
}
