// Runs a command that is a client of a running server: the first Control-C stops it in order, a second at
// once.
import type { Surroundings } from "../client/command.ts";

export type ClientCommand = (words: readonly string[], surroundings: Surroundings) => Promise<number>;

export async function asClient(command: ClientCommand, words: readonly string[]): Promise<number> {
  const [stop, abort] = [new AbortController(), new AbortController()];
  const onSignal = () => (stop.signal.aborted ? abort.abort() : stop.abort());
  process.on("SIGTERM", onSignal).on("SIGINT", onSignal);
  const { env, stdout } = process;
  return await command(words, { env, output: stdout, stop: stop.signal, abort: abort.signal });
}
