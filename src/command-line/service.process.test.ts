// `millrace service`: the files that it writes, checked by systemd's own tool, and its refusals.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { skipWithout } from "../../scripts/system-packages.ts";
import { temporaryFolder } from "../../test/support/folder.ts";
import { runMillrace } from "../../test/support/process.ts";
import { hiddenFolders, unitFor } from "./service.ts";

const folder = temporaryFolder();
const unitPath = "etc/systemd/system/millrace.service";
const settingsPath = "etc/millrace/millrace.env";

/** Whether this repository is in a folder that services cannot read, such as a clone in a home folder. */
const isHidden = hiddenFolders.some((one) => import.meta.dirname.startsWith(`${one}/`));

test("service install writes the unit and private settings, and keeps settings that exist", async () => {
  const image = join(folder, "image");
  const install = ["service", "install", "--root", image];
  const { status, output, errors } = await runMillrace(install, {}, folder).ended;
  if (isHidden) {
    assert.equal(status, 1);
    assert.match(errors, /the unit hides/);
    return;
  }
  assert.equal(status, 0, errors);
  assert.match(output, /useradd --system --user-group millrace/);
  assert.match(
    readFileSync(join(image, unitPath), "utf8"),
    /^ExecStart=\/.*node \/.*\/src\/start\.js serve$/m,
  );
  assert.equal(statSync(join(image, settingsPath)).mode & 0o777, 0o600);
  writeFileSync(join(image, settingsPath), "MILLRACE_PORT=9000\n");
  assert.equal((await runMillrace(install, {}, folder).ended).status, 0);
  assert.equal(readFileSync(join(image, settingsPath), "utf8"), "MILLRACE_PORT=9000\n");
  assert.equal((await runMillrace(["service", "uninstall", "--root", image], {}, folder).ended).status, 0);
  assert.ok(!existsSync(join(image, unitPath)));
  assert.ok(existsSync(join(image, settingsPath)));
  const again = await runMillrace(["service", "uninstall", "--root", image], {}, folder).ended;
  assert.equal(again.status, 1);
  assert.match(again.errors, /not installed/);
});

test("systemd accepts the unit and finds little that it exposes", { skip: skipWithout("systemd") }, () => {
  const unit = join(folder, "millrace.service");
  // Programs that every machine has, because systemd looks for them.
  writeFileSync(unit, unitFor({ node: "/bin/sh", main: "/usr/bin/env" }));
  const analyze = (...words: readonly string[]) =>
    execFileSync("systemd-analyze", words, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  analyze("verify", "--man=no", unit);
  // The exposure in tenths: 12 when this was written. More makes the command fail.
  analyze("security", "--offline=true", "--threshold=15", unit);
});

test("an installation in a folder that the unit hides is refused", () => {
  const main = "/opt/millrace/src/main.js";
  assert.throws(() => unitFor({ node: "/root/.nvm/node", main }), /hides \/root/);
  assert.throws(() => unitFor({ node: "/bin/node", main: "/home/ada/millrace/src/main.js" }), /hides \/home/);
  assert.throws(() => unitFor({ node: "/bin/node", main: "/opt/mill race/src/main.js" }), /character/);
});

test("an action that does not exist is refused with the usage", async () => {
  const { status, errors } = await runMillrace(["service", "start"], {}, folder).ended;
  assert.equal(status, 2);
  assert.match(errors, /no "service start"[\s\S]*Usage: millrace service install/);
});
