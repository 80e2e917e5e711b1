// The settings, read from the environment.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../test/support/folder.ts";
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

/** The settings in a file `millrace.env` with these bytes. */
function settingsOf(bytes: string | Uint8Array) {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "millrace.env"), bytes);
  return readSettings({}, folder);
}

test("a byte order mark of Windows in millrace.env does not hide the first setting", () => {
  assert.equal(settingsOf("\ufeffMILLRACE_PROJECT=plant\r\n").project, "plant");
});

test("a millrace.env whose settings would be skipped is refused", () => {
  // As `>>` of Windows PowerShell writes it.
  const utf16 = Buffer.from("\ufeffMILLRACE_PROJECT=plant\r\n", "utf16le");
  assert.throws(() => settingsOf(utf16), /Cannot read the settings in .*millrace\.env: it is not UTF-8/);
  for (const line of ["MILLRACE_PROJECT: plant", "  export MILLRACE_PROJECT plant", "MILLRACE_PROJECT"])
    assert.throws(
      () => settingsOf(`MILLRACE_LOG_LEVEL=warn\n${line}\n`),
      /millrace\.env needs MILLRACE_PROJECT=value, but has no = after MILLRACE_PROJECT/,
    );
  assert.equal(settingsOf("# MILLRACE_PROJECT is the default\nMILLRACE_PROJECT = plant\n").project, "plant");
});

test("a base URL to which no path can be appended is refused", () => {
  for (const url of [
    "https://plant.example/?a=1",
    "https://plant.example/#a",
    "https://user:key@plant.example",
    "https://:key@plant.example",
  ])
    assert.throws(
      () => readSettings({ MILLRACE_BASE_URL: url }, "/"),
      /MILLRACE_BASE_URL must be an address/,
    );
  assert.equal(
    readSettings({ MILLRACE_BASE_URL: "https://a.example/b/" }, "/").baseUrl,
    "https://a.example/b",
  );
});

test("a project name that is too long is refused with the limit", () => {
  assert.throws(
    () => readSettings({ MILLRACE_PROJECT: "a".repeat(129) }, "/"),
    /must be at most 128 letters/,
  );
});
