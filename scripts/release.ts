// `npm run release`: writes the files of a release into the folder release: the npm package, the tarball for
// Linux with Node inside, the bill of materials, and the checksums of all of them.
//
// `--architecture arm64` makes the tarball for another processor; the default is the one of this machine.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { billOfMaterials } from "./release/bill-of-materials.ts";
import { type Architecture, packLinux } from "./release/linux-tarball.ts";
import { npm } from "./release/npm.ts";
import { writePackage } from "./release/npm-package.ts";

const root = join(import.meta.dirname, "..");
const target = join(root, "release");
const { values } = parseArgs({ options: { architecture: { type: "string", default: process.arch } } });
const architecture = knownArchitecture(values.architecture);

execFileSync(process.execPath, [join(root, "scripts/build.ts")], { stdio: "inherit" });
rmSync(target, { recursive: true, force: true });
mkdirSync(target);
const work = mkdtempSync(join(tmpdir(), "millrace-release-"));
try {
  writePackage(root, work);
  const { version } = JSON.parse(readFileSync(join(work, "package.json"), "utf8")) as { version: string };
  requireFixture(version);
  const time = timeOfCommit();
  step(npm(work, "pack", "--silent", "--pack-destination", target).trim());
  const tarball = `millrace-${version}-linux-${architecture}.tar.gz`;
  packLinux(work, { architecture, file: join(target, tarball), time });
  step(tarball);
  const bill = `millrace-${version}.cdx.json`;
  writeFileSync(join(target, bill), billOfMaterials(root, time));
  step(bill);
  cpSync(join(work, "THIRD-PARTY-LICENSES.md"), join(target, "THIRD-PARTY-LICENSES.md"));
  step("THIRD-PARTY-LICENSES.md");
  writeChecksums([`millrace-${version}.tgz`, tarball, bill, "THIRD-PARTY-LICENSES.md"]);
  step("SHA256SUMS");
} finally {
  rmSync(work, { recursive: true });
}

function knownArchitecture(name: string): Architecture {
  if (name === "x64" || name === "arm64") return name;
  throw new Error(`--architecture is x64 or arm64, not ${name}`);
}

/** Later versions are tested with the files that this one leaves on disk. */
function requireFixture(version: string): void {
  if (existsSync(join(root, "test/fixtures/releases", version))) return;
  throw new Error(`test/fixtures/releases/${version} is missing: run node scripts/release/fixture.ts`);
}

/** Seconds since 1970, the time of every file of the tarball. */
function timeOfCommit(): number {
  const given = process.env["SOURCE_DATE_EPOCH"];
  if (given !== undefined) return Number(given);
  return Number(execFileSync("git", ["log", "-1", "--format=%ct"], { cwd: root, encoding: "utf8" }));
}

function writeChecksums(names: readonly string[]): void {
  const lines = names.map((name) => {
    const sum = createHash("sha256")
      .update(readFileSync(join(target, name)))
      .digest("hex");
    return `${sum}  ${name}\n`;
  });
  writeFileSync(join(target, "SHA256SUMS"), lines.join(""));
}

function step(name: string): void {
  const { size } = statSync(join(target, name));
  console.log(`release/${name} (${(size / 1e6).toFixed(1)} MB)`);
}
