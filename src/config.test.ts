// The settings, read from the environment.
import assert from "node:assert/strict";
import { test } from "node:test";
import { described, readSettings } from "./config.ts";
import { StartRefused } from "./data-folder.ts";

test("every default is a value that the setting takes: a start does not check it", () => {
  for (const [name, setting] of Object.entries(described))
    if ("byDefault" in setting) assert.ok(setting.isGood(setting.byDefault), name);
});

test("a given value that the setting does not take is refused", () => {
  const given = { MILLRACE_BACKUP_SCHEDULE: "0 2 * * * Nowhere/City" };
  assert.throws(() => readSettings(given, "/"), StartRefused);
});
