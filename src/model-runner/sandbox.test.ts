// Models that attack the host from inside the bubblewrap sandbox: each attempt fails.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { model, predict, runnerIn, train } from "../../test/support/model-runs.ts";
import { needs } from "../../test/support/needs.ts";
import { limits } from "../limits.ts";
import { findSandbox, type Sandbox, type SandboxRefusal } from "./sandbox.ts";

const found = await findSandbox();
const isIsolated = (sandbox: Sandbox | SandboxRefusal) => !("refusal" in sandbox) && sandbox.isIsolated;
const isRoot = process.getuid?.() === 0;

/** Runs the lines as the `predict` of a model, and returns their result. */
async function attempts(lines: string, platform?: URL): Promise<unknown> {
  const body = `import ctypes, errno, os, socket, subprocess, urllib.request
def attempt(action):
  try:
    return action()
  except OSError as problem:
    return errno.errorcode.get(problem.errno, type(problem).__name__)
${lines}`;
  const { predictions, problem, log } = await predict(runnerIn(found, platform), await model(body));
  assert.equal(problem, undefined, log.join("\n"));
  return predictions[0];
}

const listening = async (text: string) => {
  const server = createServer((_, response) => response.end(text));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`) };
};

describe("with bubblewrap", needs("bubblewrap"), () => {
  const isolated = { skip: !isIsolated(found) && `bubblewrap cannot make a sandbox here: ${found.flaw}` };

  test("reads the system and its own folder alone, and sees no other process", isolated, async () => {
    const secret = join(mkdtempSync(join(tmpdir(), "secret-")), "key");
    writeFileSync(secret, "do not tell");
    const lines = `return [
  attempt(lambda: open(${JSON.stringify(secret)}).read()),
  attempt(lambda: open("/etc/passwd").read()),
  attempt(lambda: open("/usr/written", "w")),
  [name for name in os.listdir("/proc") if name.isdigit() and int(name) > 2],
  os.getcwd(),
]`;
    assert.deepEqual(await attempts(lines), ["ENOENT", "ENOENT", "EROFS", [], "/work"]);
  });

  test("reaches the platform and nothing else", isolated, async () => {
    const [platform, other] = [await listening("the platform"), await listening("another")];
    const lines = `def read(url):
  return attempt(lambda: urllib.request.urlopen(url, timeout=5).read().decode())
return [read(os.environ["COGNITE_BASE_URL"]), read("${other.url}"), read("http://192.0.2.1"),
  attempt(lambda: open("/run/platform.sock", "w")), attempt(lambda: os.unlink("/run/platform.sock"))]`;
    const responses = (await attempts(lines, platform.url)) as string[];
    assert.deepEqual(responses, ["the platform", "URLError", "URLError", "ENXIO", "EROFS"]);
    for (const { server } of [platform, other]) server.close().closeAllConnections();
  });

  test("has no capability, cannot get one, and is another user than root", isolated, async () => {
    const platform = await listening("the platform");
    const lines = `status = dict(line.split(":", 1) for line in open("/proc/self/status"))
names = "CapInh CapPrm CapEff CapBnd CapAmb NoNewPrivs Seccomp Uid Gid".split()
return [{name: status[name].split() for name in names}, os.stat("/run/platform.sock").st_uid]`;
    const [status, owner] = (await attempts(lines, platform.url)) as [Record<string, string[]>, number];
    const none = ["0000000000000000"];
    assert.deepEqual(status, {
      ...{ CapInh: none, CapPrm: none, CapEff: none, CapBnd: none, CapAmb: none },
      ...{ NoNewPrivs: ["1"], Seccomp: ["2"] },
      ...{ Uid: Array(4).fill("1000"), Gid: Array(4).fill("1000") },
    });
    // Files of root have no owner in there; those of its own user would belong to 1000.
    assert.equal(owner, isRoot ? 65_534 : 1000);
    platform.server.close().closeAllConnections();
  });

  test("can neither mount, nor make namespaces, nor look into processes", isolated, async () => {
    const numbers = { x64: 0, arm64: 1 }[process.arch as "x64" | "arm64"];
    const calls = {
      ...{
        mount: [165, 40],
        umount2: [166, 39],
        pivot_root: [155, 41],
        chroot: [161, 51],
        unshare: [272, 97],
      },
      ...{ setns: [308, 268], ptrace: [101, 117], process_vm_readv: [310, 270], bpf: [321, 280] },
      ...{ keyctl: [250, 219], add_key: [248, 217], request_key: [249, 218], kexec_load: [246, 104] },
      ...{ init_module: [175, 105], finit_module: [313, 273], userfaultfd: [323, 282], shmget: [29, 194] },
      ...{ perf_event_open: [298, 241], open_by_handle_at: [304, 265], io_uring_setup: [425, 425] },
      ...{ fsopen: [430, 430], open_tree: [428, 428], move_mount: [429, 429], memfd_create: [319, 279] },
      clone3: [435, 435],
      newer: [451, 451],
    };
    const numbersByName = Object.fromEntries(
      Object.entries(calls).map(([name, both]) => [name, both[numbers]]),
    );
    const lines = `libc = ctypes.CDLL(None, use_errno=True)
def call(*words):
  ctypes.set_errno(0)
  return errno.errorcode[ctypes.get_errno()] if libc.syscall(*words) == -1 else "done"
clone = ${[56, 220][numbers]}
flags = [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]
return [
  {name: call(number, 0, 0, 0, 0, 0) for name, number in ${JSON.stringify(numbersByName)}.items()},
  [call(clone, flag | 17, 0, 0, 0, 0) for flag in flags],
  [attempt(lambda: socket.socket(family, socket.SOCK_RAW)) for family in (16, 17, 38, 40)],
  attempt(lambda: __import__("fcntl").ioctl(0, 0x5412, b"x")),
  os.waitpid(os.fork() or os._exit(7), 0)[1] >> 8,
]`;
    const expected = Object.fromEntries(Object.keys(calls).map((name) => [name, "EPERM"]));
    assert.deepEqual(await attempts(lines), [
      { ...expected, clone3: "ENOSYS", newer: "ENOSYS" },
      Array(7).fill("EPERM"),
      Array(4).fill("EAFNOSUPPORT"),
      "EPERM",
      7,
    ]);
  });

  test("cannot fill the machine with processes", isolated, async () => {
    const lines = `import time
started = []
def fork():
  pid = os.fork()
  if pid == 0:
    time.sleep(60)
    os._exit(0)
  started.append(pid)
  return fork()
return [attempt(fork), len(started)]`;
    const [problem, started] = (await attempts(lines)) as [string, number];
    assert.equal(problem, "EAGAIN");
    assert.ok(started > 1 && started <= limits.modelProcessesMax, `${started} processes`);
  });

  test("cannot fill a disk or the memory with files, wherever it writes", isolated, async () => {
    const lines = `def fill(folder):
  for number in range(64):
    with open("%s/%d" % (folder, number), "wb") as file:
      os.posix_fallocate(file.fileno(), 0, 256 << 20)
def size(folder):
  found = os.statvfs(folder)
  return found.f_frsize * found.f_blocks
places = ["/work", "/tmp", "/dev/shm", "/", "/dev", "/run", "/usr", "/proc", "/etc", "/dev/pts"]
return [[attempt(lambda: fill(place)) for place in places], size("/work"), size("/dev/shm")]`;
    const [problems, work, shared] = (await attempts(lines)) as [string[], number, number];
    assert.deepEqual(problems.slice(0, 3), ["ENOSPC", "ENOSPC", "ENOSPC"]);
    for (const problem of problems.slice(3)) assert.match(problem, /^(EROFS|EACCES|ENOENT|EPERM)$/);
    assert.deepEqual([work, shared], [limits.modelDiskBytesMax, limits.modelSharedMemoryBytesMax]);
  });

  test("is the first to end when memory runs out, and cannot change that", isolated, async () => {
    const lines = `place = "/proc/self/oom_score_adj"
return [open(place).read(), attempt(lambda: open(place, "w").write("0"))]`;
    assert.deepEqual(await attempts(lines), ["1000\n", "EROFS"]);
  });

  test("keeps artifacts, and none through a link to what the server can read", isolated, async () => {
    const folder = mkdtempSync(join(tmpdir(), "data-"));
    writeFileSync(join(folder, "secret"), "do not tell");
    const good = await train(runnerIn(found), 'open_artifact("sub/a.txt", "w").write("learnt")');
    assert.deepEqual([good.outcome.problem, [...good.kept]], [undefined, [["sub/a.txt", "learnt"]]]);
    for (const lines of [
      `os.rename("artifacts", "away")\nos.symlink(${JSON.stringify(folder)}, "artifacts")`,
      `os.symlink(${JSON.stringify(folder)}, "artifacts/sub")`,
      `os.symlink(${JSON.stringify(join(folder, "secret"))}, "artifacts/a")`,
      `os.symlink("/proc/self/root", "artifacts/root")`,
      `os.mkfifo("artifacts/pipe")`,
    ]) {
      const { outcome, kept } = await train(runnerIn(found), `import os\n${lines}`);
      assert.match(outcome.problem!, /neither a file nor a folder|^The artifacts cannot be read/, lines);
      assert.deepEqual([...kept], [], lines);
    }
  });

  test("does not see a data folder that is in a folder of Python", isolated, async () => {
    const folder = mkdtempSync("/var/tmp/python-"); // The sandbox has a /tmp of its own.
    const data = join(folder, "venv/data");
    execFileSync("/usr/bin/python3", ["-m", "venv", "--without-pip", join(folder, "venv")]);
    mkdirSync(data);
    writeFileSync(join(data, "secret"), "do not tell");
    // The runs' user has to read it, whatever umask a server of this process has set.
    execFileSync("chmod", ["-R", "a+rX", folder]);
    const sandbox = await withPath(`${join(folder, "venv/bin")}:${process.env["PATH"]}`, () =>
      findSandbox(data),
    );
    const lines = `import os, sys\nreturn [sys.prefix, os.listdir(${JSON.stringify(data)})]`;
    const { predictions } = await predict(runnerIn(sandbox), await model(lines));
    assert.deepEqual(predictions, [[join(folder, "venv"), []]]);
    rmSync(folder, { recursive: true });
  });
});

async function withPath<TestResponse>(
  path: string,
  task: () => Promise<TestResponse>,
): Promise<TestResponse> {
  const before = process.env["PATH"];
  process.env["PATH"] = path;
  try {
    return await task();
  } finally {
    process.env["PATH"] = before;
  }
}

test("without bubblewrap nothing is run as root, and runs of others are known as not isolated", async () => {
  const folder = mkdtempSync(join(tmpdir(), "path-"));
  chmodSync(folder, 0o755);
  symlinkSync("/usr/bin/python3", join(folder, "python3"));
  const sandbox = await withPath(folder, () => findSandbox());
  assert.equal(sandbox.flaw, "bubblewrap is not installed");
  assert.equal("refusal" in sandbox ? sandbox.refusal : sandbox.isIsolated, isRoot && "root-without-sandbox");
});
