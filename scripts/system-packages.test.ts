// Missing system packages are installed, or their tests are skipped with a message.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Machine, prepare, type SystemPackages, skipWithout } from "./system-packages.ts";

const packages: SystemPackages = {
  chromium: { command: "chromium", debian: ["chromium"], usedFor: "tests of pages" },
  postgresql: { command: "postgres", debian: ["postgresql", "postgresql-contrib"], usedFor: "catalog tests" },
};

interface Given {
  readonly installed: readonly string[];
  readonly mayInstall: boolean;
  readonly broken?: boolean;
  /** A package that its distribution does not have. */
  readonly unknown?: string;
}

function machine(given: Given) {
  const requested: string[] = [];
  const made: Machine = {
    has: (command) => given.installed.includes(command),
    mayInstall: given.mayInstall,
    install: (names) => {
      if (given.broken || (given.unknown && names.includes(given.unknown))) throw new Error("no network");
      requested.push(...names);
    },
  };
  return { requested, machine: made };
}

test("nothing is said or done where everything is installed", () => {
  const { requested, machine: full } = machine({ installed: ["chromium", "postgres"], mayInstall: true });
  assert.deepEqual(prepare(packages, full), []);
  assert.deepEqual(requested, []);
  assert.equal(skipWithout("chromium", packages, full), false);
});

test("as root on Debian only what is missing is installed", () => {
  const { requested, machine: root } = machine({ installed: ["chromium"], mayInstall: true });
  assert.deepEqual(prepare(packages, root), ["Installed postgresql postgresql-contrib."]);
  assert.deepEqual(requested, ["postgresql", "postgresql-contrib"]);
});

test("elsewhere the lines say what to install, and the tests are skipped with that reason", () => {
  const { requested, machine: desk } = machine({ installed: ["postgres"], mayInstall: false });
  assert.deepEqual(prepare(packages, desk), [
    "Skipping the tests that need:",
    "  chromium (tests of pages)",
    "To run them: sudo apt-get install -y chromium",
  ]);
  assert.deepEqual(requested, []);
  assert.equal(skipWithout("chromium", packages, desk), "needs chromium: sudo apt-get install -y chromium");
});

test("a failed installation is told, and the tests run without it", () => {
  const { machine: cut } = machine({ installed: ["postgres"], mayInstall: true, broken: true });
  assert.deepEqual(prepare(packages, cut), [
    "Could not install chromium: no network",
    "The tests that need them are skipped.",
  ]);
});

test("an optional package is installed apart, and is not told where it cannot be", () => {
  const shell = { command: "shell", debian: ["shell"], usedFor: "faster tests", isOptional: true } as const;
  const withShell: SystemPackages = { shell, ...packages };
  const { requested, machine: root } = machine({ installed: ["chromium"], mayInstall: true });
  assert.deepEqual(prepare(withShell, root), [
    "Installed postgresql postgresql-contrib.",
    "Installed shell.",
  ]);
  assert.deepEqual(requested, ["postgresql", "postgresql-contrib", "shell"]);
  const other = machine({ installed: ["chromium"], mayInstall: true, unknown: "shell" });
  assert.deepEqual(prepare(withShell, other.machine), ["Installed postgresql postgresql-contrib."]);
  const desk = machine({ installed: ["chromium", "postgres"], mayInstall: false });
  assert.deepEqual(prepare(withShell, desk.machine), []);
});

test("a package outside the table is a mistake of the test", () => {
  assert.throws(() => skipWithout("chrome", packages), /not in the table/);
});
