// A test server in a process of its own, which runs the bundle of `npm run build`.
import { randomBytes } from "node:crypto";
import type { App } from "../../src/app.ts";
import type { Settings } from "../../src/config.ts";
import { serveMillrace } from "./process.ts";

/** `TEST_SERVER=bundle` runs API tests on the bundle. They cannot have a clock or a log of their own. */
export const usesBundle = process.env["TEST_SERVER"] === "bundle";

/** Serves with these settings until `close`. */
export async function serveBundle({ data, project, outboundNetworks, frontThreads }: Settings) {
  const newKey = randomBytes(24).toString("hex");
  const environment = {
    MILLRACE_DATA: data,
    MILLRACE_PROJECT: project,
    MILLRACE_ADMIN_KEY: newKey,
    MILLRACE_OUTBOUND_NETWORKS: outboundNetworks.join(","),
    MILLRACE_ATTEMPTS_PER_MINUTE: "1000000",
    MILLRACE_FRONT_THREADS: `${frontThreads ?? 0}`,
    MILLRACE_MODELS: "off",
  };
  const { child, ended, baseUrl } = await serveMillrace(environment, data);
  const close = async () => {
    child.kill("SIGTERM");
    const { status, errors } = await ended;
    if (status !== 0) throw new Error(`the server ended with ${status}: ${errors}`);
  };
  return { app: { close } as App, baseUrl, newKey };
}
