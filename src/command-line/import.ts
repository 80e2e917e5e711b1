// `millrace import csv`: loads data files into a running server; a client of the public API, nothing else.
import { importCsv } from "../import/import-csv.ts";
import { usage } from "../import/options.ts";
import { type Command, Misused } from "./command.ts";

export const importFiles: Command = {
  usage,
  async run([kind, ...words]) {
    if (kind !== "csv")
      throw new Misused(kind === undefined ? "What is to be imported?" : `"${kind}" cannot be imported`);
    const [stop, abort] = [new AbortController(), new AbortController()];
    const onSignal = () => (stop.signal.aborted ? abort.abort() : stop.abort());
    process.on("SIGTERM", onSignal).on("SIGINT", onSignal);
    const { env, stdout } = process;
    return await importCsv(words, { env, output: stdout, stop: stop.signal, abort: abort.signal });
  },
};
