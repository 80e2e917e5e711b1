// API tests of each resource on the bundle that `npm start` runs: a bundler may remove calls that matter.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";
import { groupModule } from "../scripts/test-groups.ts";
import { currentBundle } from "../src/current-bundle.ts";
import { temporaryFolder } from "./support/folder.ts";

const skip = currentBundle("program") === undefined && "the bundle is not current: npm run build";

/** Files whose tests need no more of the server than its address and its key, except `needsServices`. */
const files = [
  ...["assets", "events", "groups", "identities", "raw", "sequences"].map(
    (resource) => `src/resources/${resource}/refusals.api.test.ts`,
  ),
  "src/resources/files/files.api.test.ts",
  "src/resources/raw/raw.odata.api.test.ts",
  "src/http/refusals.api.test.ts",
  "src/rest/two-names.api.test.ts",
];

/** The tests take 20 s; a child that hangs must not hang `npm test`. */
const childMsMax = 300_000;

const needsServices = "a cursor of one project serves no other";

test("what API tests find in the sources, they find in the bundle", { skip }, async () => {
  const module = groupModule(files, join(temporaryFolder(), "group.mjs"));
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const child = spawn(
    process.execPath,
    ["--test-force-exit", `--test-skip-pattern=${needsServices}`, module],
    {
      env: { ...environment, TEST_SERVER: "bundle" },
      stdio: ["ignore", "pipe", "inherit"],
      ...{ timeout: childMsMax, killSignal: "SIGKILL" },
    },
  );
  let output = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  const [status] = await once(child, "close");
  assert.equal(status, 0, output);
  assert.match(output, /^(# |ℹ )pass [1-9]/m);
});
