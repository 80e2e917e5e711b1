// Missing system packages are installed, or their tests are skipped with a message.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Machine, prepare, type SystemPackages, skipWithout } from "./system-packages.ts";

const packages: SystemPackages = {
  chromium: { command: "chromium", debian: ["chromium"], usedFor: "tests of pages" },
  postgresql: { command: "postgres", debian: ["postgresql", "postgresql-contrib"], usedFor: "catalog tests" },
};

function machine(given: { installed: string[]; mayInstall: boolean; broken?: boolean }) {
  const requested: string[] = [];
  const made: Machine = {
    has: (command) => given.installed.includes(command),
    mayInstall: given.mayInstall,
    install: (names) => {
      if (given.broken) throw new Error("no network");
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

test("a package outside the table is a mistake of the test", () => {
  assert.throws(() => skipWithout("chrome", packages), /not in the table/);
});
