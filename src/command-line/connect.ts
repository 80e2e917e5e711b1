// `millrace connect`: reads a system of the plant into a running server, through the public API only.
import { connectUsage, connect as run } from "../connectors/connect.ts";
import { asClient } from "./client.ts";
import type { Command } from "./command.ts";

export const connect: Command = {
  usage: connectUsage,
  run: (words) => asClient(run, words),
};
