// Peers come from Debian's packages: whether one is installed, which version, and how to install it.
import { execFileSync, spawnSync } from "node:child_process";

/** The installed version of a package; an empty text when it is not installed. */
export function packageVersion(name: string): string {
  const { stdout } = spawnSync("dpkg", ["-s", name], { encoding: "utf8" });
  if (!/^Status: .* installed$/m.test(stdout)) return "";
  return /^Version: (.+)$/m.exec(stdout)?.[1] ?? "";
}

/** Installs missing packages when run as root on Debian, without starting any service; else does nothing. */
export function installPackages(names: readonly string[]): void {
  const missing = names.filter((name) => packageVersion(name) === "");
  if (missing.length === 0 || process.getuid?.() !== 0) return;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
  const quiet = ["-y", "-qq", "--no-install-recommends"];
  try {
    execFileSync("apt-get", ["update", "-qq"], { env, stdio: "ignore" });
    execFileSync("apt-get", ["install", ...quiet, ...missing], { env, stdio: "ignore" });
  } catch {
    console.log(`apt-get could not install ${missing.join(" ")}.`);
  }
}
