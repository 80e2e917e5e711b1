// The requests whose code `npm run build` stores: a server accepts all of them.
import { afterEach, test } from "node:test";
import { temporaryFolder } from "../test/support/folder.ts";
import { endLeftProcesses, serveMillrace } from "../test/support/process.ts";
import { sendSamples } from "./sample-requests.ts";

afterEach(endLeftProcesses);

test("a server responds to each sample with success, also when it is repeated", async () => {
  const key = "key-of-the-sample-requests";
  const { baseUrl } = await serveMillrace({ MILLRACE_ADMIN_KEY: key }, temporaryFolder());
  await sendSamples({ baseUrl, key, signal: new AbortController().signal }, 2);
});
