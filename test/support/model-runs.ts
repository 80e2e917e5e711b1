// Runs of models for tests: packages with a `predict` or a `train` of a few lines, in processes of Python.
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import type { ModelOutcome, ModelRunner, Prediction, Training } from "../../src/model-runner/model-runner.ts";
import { pythonRunner } from "../../src/model-runner/python-runner.ts";
import {
  findPython,
  plainSandbox,
  type Sandbox,
  type SandboxRefusal,
} from "../../src/model-runner/sandbox.ts";
import { packageOf } from "./source-package.ts";

export const folderPrefix = `millrace-model-test-${process.pid}-`;

export const leftFolders = () => readdirSync(tmpdir()).filter((name) => name.startsWith(folderPrefix));

export const runnerIn = (sandbox: Sandbox | SandboxRefusal, platform?: URL): ModelRunner => {
  if ("refusal" in sandbox) throw new Error(sandbox.refusal);
  return pythonRunner({ sandbox, platform: () => platform, folderPrefix });
};

/** Runs without a sandbox, as the user of the tests. */
export const plainRunner = async (): Promise<ModelRunner> => runnerIn(plainSandbox((await findPython())!));

const never = new AbortController().signal;

interface Given {
  readonly instances?: readonly unknown[];
  readonly args?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
  readonly data?: unknown;
}

const sent = (bytes: Uint8Array) => async () => [bytes] as unknown as AsyncIterable<Uint8Array>;

export async function predict(
  runner: ModelRunner,
  code: Uint8Array<ArrayBuffer>,
  { instances = [1], args = {}, signal = never, data }: Given = {},
): Promise<ModelOutcome> {
  const task: Prediction = {
    operation: "predict",
    ...{ packageName: "m", code: sent(code), artifacts: [], project: "demo", args, instances, data },
    lendKey: async () => ({ key: "a-key", [Symbol.dispose]: () => undefined }),
  };
  return runner.run(task, signal);
}

/** A model whose `predict` has this body. */
export const model = (body: string, parameters = "instance") =>
  packageOf(`class Model:\n  def predict(self, ${parameters}):\n    ${body.replaceAll("\n", "\n    ")}\n`);

/** Runs a `train` with this body; returns the stored artifacts and the outcome. */
export async function train(runner: ModelRunner, body: string) {
  const lines = body.replaceAll("\n", "\n    ");
  const code = await packageOf(
    `class Model:\n  @staticmethod\n  def train(open_artifact, **kwargs):\n    ${lines}\n`,
  );
  const kept = new Map<string, string>();
  const task: Training = {
    operation: "train",
    ...{ packageName: "m", args: {}, project: "demo", code: sent(code) },
    lendKey: async () => ({ [Symbol.dispose]: () => undefined }),
    keep: async ({ name, bytes }) => {
      kept.set(name, Buffer.concat(await Array.fromAsync(bytes)).toString());
    },
  };
  return { outcome: await runner.run(task, never), kept };
}
