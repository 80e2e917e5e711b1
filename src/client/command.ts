// Shared by commands that are clients of a running server: their process, exit codes, address and key.
import { NoResponse } from "./connection.ts";
import type { Output } from "./progress.ts";

/** The parts of its process that a command uses. */
export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly output: Output;
  /** Aborted to stop the command after the requests in flight. */
  readonly stop: AbortSignal;
  /** Aborted to stop the command at once. */
  readonly abort: AbortSignal;
}

export const exitCodes = { loaded: 0, interrupted: 1, notBegun: 2, someRefused: 3 } as const;

/** The command cannot carry out the request of the user; it has written nothing. */
export class UsageError extends Error {}

/** The API key of the command line, else of the environment. */
export function keyOf(option: string | undefined, env: NodeJS.ProcessEnv): string {
  const key = option ?? env["MILLRACE_KEY"];
  if (!key) throw new UsageError("An API key is needed: --key, or the environment variable MILLRACE_KEY");
  return key;
}

/**
 * The address without a slash at its end: that of the command line, of the environment, or else of a server
 * on this machine.
 */
export function serverOf(option: string | undefined, env: NodeJS.ProcessEnv): string {
  const address = option ?? (env["MILLRACE_SERVER"] || `http://127.0.0.1:${env["MILLRACE_PORT"] || 8787}`);
  if (!URL.canParse(address) || !/^https?:/.test(address))
    throw new UsageError(`--server is an address such as http://127.0.0.1:8787, not ${address}`);
  return address.replace(/\/+$/, "");
}

/** The message of an error, with the next step where no server is reached. */
export const messageOf = (problem: unknown): string =>
  problem instanceof NoResponse
    ? `${problem.message}. Start the server, or name its address with --server`
    : (problem as Error).message;
