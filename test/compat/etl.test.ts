// The files of docs/etl.md, as a reader of the page would use them: models by `millrace apply`, then Python.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { temporaryFolder } from "../support/folder.ts";
import { needs } from "../support/needs.ts";
import { endLeftProcesses, runMillrace, serveMillrace } from "../support/process.ts";

after(endLeftProcesses);

const page = readFileSync(new URL("../../docs/etl.md", import.meta.url), "utf8");

test("models in files and a Python program make events of an export, twice", needs("python"), async () => {
  const folder = temporaryFolder();
  const blocks = [...page.matchAll(/```(\w+)\n(?:(?:#|--) (\S+)\n)?([^`]*)```/g)];
  for (const [, language, name, text] of blocks) {
    if (name === undefined) continue;
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), language === "csv" ? `# ${name}\n${text}` : text!);
  }
  const key = "mr_the-key-of-this-test";
  const { baseUrl } = await serveMillrace({ MILLRACE_ADMIN_KEY: key }, folder);
  const applied = await runMillrace(["apply", "models", "--server", baseUrl], { MILLRACE_KEY: key }, folder)
    .ended;
  assert.equal(applied.status, 0, applied.output + applied.errors);
  const load = () =>
    execFileSync("/usr/bin/python3", ["load.py"], {
      ...{ cwd: folder, encoding: "utf8", timeout: 120_000 },
      env: { MILLRACE_SERVER: baseUrl, MILLRACE_KEY: key, PYTHONIOENCODING: "utf-8" },
    });
  const shown = blocks.find(([, language]) => language === "text")![3]!;
  assert.equal(load(), shown);
  assert.equal(load(), shown.replace("2 created", "0 created"));
});
