// The process of a drawing is bounded: a hostile file ends in time, and files of the server are out of reach.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { limits } from "../limits.ts";
import { BoundedOutput } from "../model-runner/bounded-process.ts";
import { DrawingProblem } from "./drawing-reader.ts";
import { problemOfEnd, processDrawingReader } from "./process-reader.ts";

const folderPrefix = `drawing-test-${process.pid}-`;
const reader = processDrawingReader({ folderPrefix });
const never = new AbortController().signal;

async function* of(...chunks: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

const svg = (...content: readonly string[]) => ({
  ...({ format: "svg", project: "a" } as const),
  bytes: of("<svg>", ...content, "</svg>"),
});

const isOf = (pattern: RegExp) => (problem: unknown) =>
  problem instanceof DrawingProblem && pattern.test(problem.message);

test("a drawing that needs more memory than the bound is refused", async () => {
  const part = `<text x="1">${"A1 ".repeat(300)}</text>`.repeat(1_000);
  const parts = Array.from({ length: 2_000 }, () => part);
  await assert.rejects(reader.read(svg(...parts), never), isOf(/memory|strings/));
});

test("the end of the process is named: time, memory, or a crash", () => {
  const end = (signal: NodeJS.Signals | null, text = "", isLate = false) => {
    const log = new BoundedOutput(1_000);
    log.add(Buffer.from(text));
    return problemOfEnd({ isLate, signal, code: signal === null ? 7 : null, log });
  };
  assert.match(end("SIGKILL", "", true), /more than \d+ s$/);
  assert.match(end("SIGXCPU"), /more than \d+ s$/);
  assert.match(end("SIGABRT", "FATAL ERROR: JavaScript heap out of memory"), /bytes of memory$/);
  assert.match(end("SIGSEGV"), /ended by the signal SIGSEGV$/);
  assert.match(end(null), /ended with the exit code 7$/);
});

test("a drawing that takes long to read is refused", async () => {
  const deep = "<g>".repeat(limits.drawingDepthMax + 1);
  await assert.rejects(reader.read(svg(deep), never), isOf(/nested too deep/));
  const many = `<text x="1">a</text>`.repeat(limits.drawingTextsMax + 1);
  await assert.rejects(reader.read(svg(many), never), isOf(/more than \d+ strings/));
});

test("an aborted request ends its process, and no folder stays", async () => {
  const ended = new AbortController();
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) {
      yield Buffer.from(" ".repeat(100));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  setTimeout(() => ended.abort(new Error("gone")), 300);
  const reading = reader.read({ format: "svg", project: "a", bytes: endless() }, ended.signal);
  await assert.rejects(reading, /gone/);
  assert.deepEqual(
    readdirSync(tmpdir()).filter((name) => name.startsWith(folderPrefix)),
    [],
  );
});
