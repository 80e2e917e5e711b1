// Runs packages, good ones and such as mean harm, in real processes of Python.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { needs } from "../../test/support/needs.ts";
import { archive, type Entry, fileEntry, packageOf } from "../../test/support/source-package.ts";
import type { ModelOutcome, ModelRunner } from "./model-runner.ts";
import { pythonRunner, removeLeftFolders } from "./python-runner.ts";
import { findSandbox, type Sandbox } from "./sandbox.ts";

const found = await findSandbox();
const never = new AbortController().signal;
const plain = (sandbox: Sandbox): Sandbox => ({
  ...sandbox,
  isIsolated: false,
  command: sandbox.plainCommand,
});
const folderPrefix = `millrace-model-test-${process.pid}-`;
const hostOf = (sandbox: Sandbox, platform?: URL) =>
  pythonRunner({ sandbox, platform: () => platform, folderPrefix });
const runnerOf = (platform?: URL): ModelRunner => hostOf(plain(found!), platform);

interface Given {
  readonly instances?: readonly unknown[];
  readonly args?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
  readonly data?: unknown;
}

async function predict(
  runner: ModelRunner,
  code: Uint8Array<ArrayBuffer>,
  { instances = [1], args = {}, signal = never, data }: Given = {},
): Promise<ModelOutcome> {
  const task = {
    operation: "predict",
    packageName: "m",
    code: async () =>
      (async function* () {
        yield code;
      })(),
    artifacts: [],
    project: "demo",
    lendKey: async () => ({ key: "a-key", [Symbol.dispose]: () => undefined }),
    ...{ args, instances, data },
  } as const;
  return runner.run(task, signal);
}

/** A model whose `predict` has this body. */
const model = (body: string, parameters = "instance") =>
  packageOf(`class Model:\n  def predict(self, ${parameters}):\n    ${body.replaceAll("\n", "\n    ")}\n`);

describe("a process of Python", needs("python"), () => {
  test("answers each instance, and hands on what is printed", async () => {
    const code = await model('print("got", instance)\nreturn instance * 2');
    const outcome = await predict(runnerOf(), code, { instances: [1, 2.5] });
    assert.deepEqual(outcome, { log: ["got 1", "got 2.5"], predictions: [2, 5] });
  });

  test("passes arguments by the names that the function has, and the rest to **kwargs alone", async () => {
    const code = await model("return [project, api_key, factor]", "instance, project, api_key, factor=1");
    const outcome = await predict(runnerOf(), code, { args: { factor: 3, other: 4, project: "theirs" } });
    assert.deepEqual(outcome.predictions, [["demo", "a-key", 3]]);
    const all = await model("return kwargs", "instance, **kwargs");
    const passed = await predict(runnerOf(), all, { args: { factor: 3, other: null } });
    assert.deepEqual(passed.predictions, [{ factor: 3, other: null }]);
  });

  test("tells why the code failed, with a traceback of the code's own lines", async () => {
    const outcome = await predict(runnerOf(), await model("return 1 / 0"));
    assert.equal(outcome.problem, "ZeroDivisionError: division by zero");
    assert.match(
      outcome.log.join("\n"),
      /^Traceback[\s\S]*model\.py", line 3, in predict[\s\S]*ZeroDivisionError/,
    );
    assert.doesNotMatch(outcome.log.join("\n"), /bootstrap/);
  });

  for (const [body, problem] of [
    ["raise SystemExit(0)", "SystemExit: 0"],
    ["import os\nos._exit(3)", "The code ended with the exit code 3 and without an answer"],
    [
      "import os, signal\nos.kill(os.getpid(), 9)",
      "The code ended by the signal SIGKILL and without an answer",
    ],
    ["return float('nan')", "ValueError: Out of range float values are not JSON compliant"],
    ["return bytearray(8 << 30)", "MemoryError"],
    ["return 'x' * (20 << 20)", "The predictions are longer than 16777216 bytes as JSON"],
    ["return open('big', 'wb').truncate(1 << 40)", "OSError: [Errno 27] File too large"],
  ] as const)
    test(`is bounded: ${body.replaceAll("\n", "; ")}`, async () => {
      const outcome = await predict(runnerOf(), await model(body));
      assert.equal(outcome.problem?.split(": nan")[0], problem);
      assert.deepEqual(outcome.predictions, []);
    });

  test("keeps the first of what is printed", async () => {
    const outcome = await predict(runnerOf(), await model("print('x' * 1000000)\nreturn 1"));
    assert.deepEqual(outcome.predictions, [1]);
    assert.equal(outcome.log[0]?.length, 262_144);
    assert.equal(outcome.log[1], `... and ${1_000_001 - 262_144} bytes more`);
  });

  test("has nothing of the server's: no environment, no descriptors", async () => {
    process.env["MILLRACE_TEST_SECRET"] = "do not tell";
    const body = "import os\nreturn [sorted(os.environ), sorted(map(int, os.listdir('/dev/fd')))]";
    const { predictions } = await predict(runnerOf(), await model(body));
    const [names, descriptors] = predictions[0] as [string[], number[]];
    const known = ["COGNITE_API_KEY", "COGNITE_PROJECT", "HOME", "LANG", "OMP_NUM_THREADS"];
    assert.deepEqual(
      names.filter((name) => name !== "LC_CTYPE"),
      [...known, "OPENBLAS_NUM_THREADS", "PATH", "TMPDIR"],
    );
    // Three of its own, that of the listing, and that of the answer.
    assert.deepEqual(descriptors, [0, 1, 2, 3, 4]);
  });

  test("ends with all that it has started when nobody waits any more, and leaves nothing", async () => {
    const before = leftFolders();
    const body = "import subprocess, time\nsubprocess.Popen(['sleep', '60'])\ntime.sleep(60)";
    const giving = new AbortController();
    const running = predict(runnerOf(), await model(body), { signal: giving.signal });
    setTimeout(() => giving.abort(new Error("nobody waits")), 500);
    await assert.rejects(running, /nobody waits/);
    assert.deepEqual(leftFolders(), before);
  });

  test("keeps what train writes as artifacts, in folders too, but nothing that leads elsewhere", async () => {
    const train = async (body: string) => {
      const code = await packageOf(
        `class Model:\n  @staticmethod\n  def train(open_artifact, **kwargs):\n    ${body}\n`,
      );
      const kept = new Map<string, string>();
      const task = {
        operation: "train",
        ...{ packageName: "m", args: {}, project: "demo" },
        lendKey: async () => ({ [Symbol.dispose]: () => undefined }),
        code: async () => [code] as unknown as AsyncIterable<Uint8Array>,
        keep: async ({ name, bytes }: { name: string; bytes: AsyncIterable<Uint8Array> }) => {
          kept.set(name, Buffer.concat(await Array.fromAsync(bytes)).toString());
        },
      } as const;
      return { kept, outcome: await runnerOf().run(task, never) };
    };
    const good = await train('open_artifact("sub/a.txt", "w").write("learnt")');
    assert.deepEqual([...good.kept], [["sub/a.txt", "learnt"]]);
    const link = await train('__import__("os").symlink("/etc/passwd", "artifacts/a.txt")');
    assert.equal(link.outcome.problem, "The artifact a.txt is neither a file nor a folder");
    assert.equal(link.kept.size, 0);
    const outside = await train('open_artifact("../a.txt", "w")');
    assert.match(outside.outcome.problem!, /would lie outside of its folder$/);
  });
});

const leftFolders = () => readdirSync(tmpdir()).filter((name) => name.startsWith(folderPrefix));

test("folders that a crash has left are taken away, and no others", async () => {
  const left = mkdtempSync(join(tmpdir(), folderPrefix));
  const others = mkdtempSync(join(tmpdir(), "millrace-model-other-"));
  await removeLeftFolders({ sandbox: found!, platform: () => undefined, folderPrefix });
  assert.deepEqual([existsSync(left), existsSync(others)], [false, true]);
  rmdirSync(others);
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
      "../../escaped would lie outside of its folder",
    ],
    ["an absolute path", [fileEntry(target, "x")], `${target} would lie outside of its folder`],
    ["a symbolic link", [linked("m/x", "symlink")], "The source package holds m/x, which is no plain file"],
    ["a hard link", [linked("m/x", "link")], "The source package holds m/x, which is no plain file"],
    [
      "a device",
      [{ header: { name: "m/tty", size: 0, type: "character-device" } } as Entry],
      "The source package holds m/tty, which is no plain file",
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
        runnerOf(),
        await archive([...entries, ...(what === "no model" ? [] : [harmless])]),
      );
      assert.equal(outcome.problem, problem);
    });

  test("that is no archive is refused", async () => {
    const outcome = await predict(runnerOf(), new Uint8Array(Buffer.from("nothing of the kind")));
    assert.match(outcome.problem!, /^The source package cannot be unpacked: /);
  });

  test("may have its package at the top, below a folder, or in src", async () => {
    const code = "class Model:\n  def predict(self, instance): return instance\n";
    for (const path of ["m/model.py", "m-1.0/m/model.py", "m-1.0/src/m/model.py"])
      assert.deepEqual((await predict(runnerOf(), await archive([fileEntry(path, code)]))).predictions, [1]);
  });
});

describe("with bubblewrap", needs("bubblewrap"), () => {
  const isolated = { skip: !found?.isIsolated && "bubblewrap cannot make a sandbox here" };
  const runner = (platform?: URL) => hostOf(found!, platform);

  test("reads the system and its own folder alone, and sees no other process", isolated, async () => {
    const secret = join(mkdtempSync(join(tmpdir(), "secret-")), "key");
    writeFileSync(secret, "do not tell");
    const body = `import os
def attempt(action):
  try:
    return action()
  except OSError as problem:
    return type(problem).__name__
return [
  attempt(lambda: open(${JSON.stringify(secret)}).read()),
  attempt(lambda: open("/etc/passwd").read()),
  attempt(lambda: open("/usr/written", "w")),
  [name for name in os.listdir("/proc") if name.isdigit() and int(name) > 2],
  os.getcwd(),
]`;
    const { predictions, problem } = await predict(runner(), await model(body));
    const denied = ["FileNotFoundError", "FileNotFoundError", "OSError", [], "/work"];
    assert.deepEqual({ predictions, problem }, { predictions: [denied], problem: undefined });
  });

  test("reaches the platform and nothing else", isolated, async () => {
    const listening = async (text: string) => {
      const server = createServer((_, response) => response.end(text));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return { server, url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`) };
    };
    const [platform, other] = [await listening("the platform"), await listening("another")];
    const body = `import os, urllib.request, urllib.error
def read(url):
  try:
    return urllib.request.urlopen(url, timeout=5).read().decode()
  except urllib.error.URLError:
    return "out of reach"
return [read(os.environ["COGNITE_BASE_URL"]), read("${other.url}"), read("http://192.0.2.1")]`;
    const { predictions } = await predict(runner(platform.url), await model(body));
    assert.deepEqual(predictions, [["the platform", "out of reach", "out of reach"]]);
    for (const { server } of [platform, other]) server.close().closeAllConnections();
  });
});
