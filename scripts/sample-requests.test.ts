// The requests whose code `npm run build` stores: servers accept all of them.
import { afterEach, test } from "node:test";
import { temporaryFolder } from "../test/support/folder.ts";
import { endLeftProcesses, serveMillrace } from "../test/support/process.ts";
import { sendFirst, sendSamples } from "./sample-requests.ts";

afterEach(endLeftProcesses);

test("a server on data of an earlier one responds to each sample with success, also again", async () => {
  const [key, folder] = ["key-of-the-sample-requests", temporaryFolder()];
  const { signal } = new AbortController();
  const first = await serveMillrace({ MILLRACE_ADMIN_KEY: key }, folder);
  await sendFirst({ baseUrl: first.baseUrl, key, signal });
  first.child.kill("SIGTERM");
  await first.ended;
  const { baseUrl } = await serveMillrace({ MILLRACE_ADMIN_KEY: key }, folder);
  await sendSamples({ baseUrl, key, signal }, 2);
});
