// Runs after `npm ci`: makes sure that scripts find the Node that package-lock.json pins.
//
// npm skips an optional package silently, also one whose bytes do not match the lock file. npm 10 installs it
// but does not link its program into node_modules/.bin. Plain JavaScript, because an older Node has to run it.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const packages = Object.keys(manifest.optionalDependencies);
const pinned = manifest.optionalDependencies[packages[0]];

const installed = packages.find((name) => existsSync(`node_modules/${name}/package.json`));
const isLinked = ["node", "node.cmd"].some((name) => existsSync(`node_modules/.bin/${name}`));
const isRecent = Number.parseInt(process.versions.node, 10) >= Number.parseInt(pinned, 10);

if (installed !== undefined && !isLinked) {
  const npm = process.env.npm_execpath;
  const { status } = spawnSync(process.execPath, [npm, "rebuild", installed, "--ignore-scripts"], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  process.exitCode = status ?? 1;
} else if (installed === undefined && !isRecent) {
  console.error(
    `Node ${pinned} for ${process.platform} ${process.arch} is not installed; this is Node ${process.versions.node}.\n` +
      "Either npm could not download its package, or the package does not match package-lock.json.\n" +
      "Check the network and run npm ci again. On another platform, put that version of Node on the PATH.",
  );
  process.exitCode = 1;
}
