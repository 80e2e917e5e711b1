// Runs packages, valid and malicious ones, in real processes of Python.
import assert from "node:assert/strict";
import { chownSync, existsSync, mkdtempSync, rmdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import {
  folderPrefix,
  leftFolders,
  model,
  plainRunner,
  predict,
  train,
} from "../../test/support/model-runs.ts";
import { needs } from "../../test/support/needs.ts";
import { archive, type Entry, fileEntry } from "../../test/support/source-package.ts";
import { removeLeftFolders } from "../lib/left-folders.ts";

const runner = await plainRunner();

describe("a process of Python", needs("python"), () => {
  test("returns a result for each instance, and forwards printed output", async () => {
    const code = await model('print("got", instance)\nreturn instance * 2');
    const outcome = await predict(runner, code, { instances: [1, 2.5] });
    assert.deepEqual(outcome, { log: ["got 1", "got 2.5"], predictions: [2, 5] });
  });

  test("passes arguments by the names that the function has, and the rest to **kwargs alone", async () => {
    const code = await model("return [project, api_key, factor]", "instance, project, api_key, factor=1");
    const outcome = await predict(runner, code, { args: { factor: 3, other: 4, project: "theirs" } });
    assert.deepEqual(outcome.predictions, [["demo", "a-key", 3]]);
    const all = await model("return kwargs", "instance, **kwargs");
    const passed = await predict(runner, all, { args: { factor: 3, other: null } });
    assert.deepEqual(passed.predictions, [{ factor: 3, other: null }]);
  });

  test("tells why the code failed, with a traceback of the code's own lines", async () => {
    const outcome = await predict(runner, await model("return 1 / 0"));
    assert.equal(outcome.problem, "ZeroDivisionError: division by zero");
    assert.match(
      outcome.log.join("\n"),
      /^Traceback[\s\S]*model\.py", line 3, in predict[\s\S]*ZeroDivisionError/,
    );
    assert.doesNotMatch(outcome.log.join("\n"), /bootstrap/);
  });

  for (const [body, problem] of [
    ["raise SystemExit(0)", "SystemExit: 0"],
    ["import os\nos._exit(3)", "The code ended with the exit code 3 and without a result"],
    [
      "import os, signal\nos.kill(os.getpid(), 9)",
      "The code ended by the signal SIGKILL and without a result",
    ],
    ["return float('nan')", "ValueError: Out of range float values are not JSON compliant"],
    ["return bytearray(8 << 30)", "MemoryError"],
    ["return 'x' * (20 << 20)", "The predictions are longer than 16777216 bytes as JSON"],
    ["return open('big', 'wb').truncate(1 << 40)", "OSError: [Errno 27] File too large"],
  ] as const)
    test(`is bounded: ${body.replaceAll("\n", "; ")}`, async () => {
      const outcome = await predict(runner, await model(body));
      assert.equal(outcome.problem?.split(": nan")[0], problem);
      assert.deepEqual(outcome.predictions, []);
    });

  test("keeps the first of what is printed", async () => {
    const outcome = await predict(runner, await model("print('x' * 1000000)\nreturn 1"));
    assert.deepEqual(outcome.predictions, [1]);
    assert.equal(outcome.log[0]?.length, 262_144);
    assert.equal(outcome.log[1], `... and ${1_000_001 - 262_144} bytes more`);
  });

  test("has nothing of the server's: no environment, no descriptors", async () => {
    process.env["MILLRACE_TEST_SECRET"] = "do not tell";
    const body = "import os\nreturn [sorted(os.environ), sorted(map(int, os.listdir('/dev/fd')))]";
    const { predictions } = await predict(runner, await model(body));
    const [names, descriptors] = predictions[0] as [string[], number[]];
    const known = ["COGNITE_API_KEY", "COGNITE_PROJECT", "HOME", "LANG", "OMP_NUM_THREADS"];
    assert.deepEqual(
      // Python, bubblewrap and shells set these themselves.
      names.filter((name) => !["LC_CTYPE", "PWD", "SHLVL", "_"].includes(name)),
      [...known, "OPENBLAS_NUM_THREADS", "PATH", "TMPDIR"],
    );
    // Three of its own, that of the listing, and that of the response.
    assert.deepEqual(descriptors, [0, 1, 2, 3, 4]);
  });

  test("ends with all processes that it has started when the caller aborts, and leaves nothing", async () => {
    const before = leftFolders();
    const body = "import subprocess, time\nsubprocess.Popen(['sleep', '60'])\ntime.sleep(60)";
    const giving = new AbortController();
    const running = predict(runner, await model(body), { signal: giving.signal });
    setTimeout(() => giving.abort(new Error("nobody waits")), 500);
    await assert.rejects(running, /nobody waits/);
    assert.deepEqual(leftFolders(), before);
  });

  test("keeps what train writes as artifacts, in folders too, but nothing that leads elsewhere", async () => {
    const good = await train(runner, 'open_artifact("sub/a.txt", "w").write("learnt")');
    assert.deepEqual([...good.kept], [["sub/a.txt", "learnt"]]);
    const link = await train(runner, '__import__("os").symlink("/etc/passwd", "artifacts/a.txt")');
    assert.equal(link.outcome.problem, "The artifact a.txt is neither a file nor a folder");
    assert.equal(link.kept.size, 0);
    const outside = await train(runner, 'open_artifact("../a.txt", "w")');
    assert.match(outside.outcome.problem!, /would be outside of its folder$/);
  });
});

test("folders that a crash has left are taken away, and no others", async () => {
  const left = mkdtempSync(join(tmpdir(), folderPrefix));
  const others = mkdtempSync(join(tmpdir(), "millrace-model-other-"));
  await removeLeftFolders(folderPrefix);
  assert.deepEqual([existsSync(left), existsSync(others)], [false, true]);
  rmdirSync(others);
});

test("folders of another user, and links, are left where they are", {
  skip: process.getuid?.() !== 0 && "needs root",
}, async () => {
  const planted = mkdtempSync(join(tmpdir(), folderPrefix));
  chownSync(planted, 65_532, 65_532);
  const target = mkdtempSync(join(tmpdir(), "millrace-model-other-"));
  const link = `${planted}-link`;
  symlinkSync(target, link);
  await removeLeftFolders(folderPrefix);
  assert.deepEqual([existsSync(planted), existsSync(target)], [true, true]);
  rmSync(link);
  for (const folder of [planted, target]) rmdirSync(folder);
});

describe("a source package", needs("python"), () => {
  const harmless = fileEntry("m/model.py", "class Model:\n  def predict(self, instance): return instance\n");
  const linked = (name: string, type: "symlink" | "link"): Entry => ({
    header: { name, size: 0, type, linkname: "/etc/passwd" },
  });
  const target = join(mkdtempSync(join(tmpdir(), "outside-")), "written");

  for (const [what, entries, problem] of [
    [
      "a path that leads out",
      [fileEntry("../../escaped", "x")],
      "../../escaped would be outside of its folder",
    ],
    ["an absolute path", [fileEntry(target, "x")], `${target} would be outside of its folder`],
    [
      "a symbolic link",
      [linked("m/x", "symlink")],
      "The source package holds m/x, which is not a regular file",
    ],
    ["a hard link", [linked("m/x", "link")], "The source package holds m/x, which is not a regular file"],
    [
      "a device",
      [{ header: { name: "m/tty", size: 0, type: "character-device" } } as Entry],
      "The source package holds m/tty, which is not a regular file",
    ],
    [
      "too many files",
      Array.from({ length: 10_001 }, (_, i) => fileEntry(`m/${i}`, "")),
      "The source package holds more than 10000 files",
    ],
    ["no model", [fileEntry("other/model.py", "")], "The source package holds no m/model.py"],
  ] as const)
    test(`with ${what} is refused`, async () => {
      const outcome = await predict(
        runner,
        await archive([...entries, ...(what === "no model" ? [] : [harmless])]),
      );
      assert.equal(outcome.problem, problem);
    });

  test("that is no archive is refused", async () => {
    const outcome = await predict(runner, new Uint8Array(Buffer.from("nothing of the kind")));
    assert.match(outcome.problem!, /^The source package cannot be unpacked: /);
  });

  test("may have its package at the top, below a folder, or in src", async () => {
    const code = "class Model:\n  def predict(self, instance): return instance\n";
    for (const path of ["m/model.py", "m-1.0/m/model.py", "m-1.0/src/m/model.py"])
      assert.deepEqual((await predict(runner, await archive([fileEntry(path, code)]))).predictions, [1]);
  });
});
