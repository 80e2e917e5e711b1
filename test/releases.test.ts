// This version opens the data folder, the backup and the archive of every release (test/fixtures/releases,
// written by scripts/release/fixture.ts): all records and datapoints are there, and new ones can be written.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { zstdDecompressSync } from "node:zlib";
import { temporaryFolder } from "./support/folder.ts";
import { endLeftProcesses, runMillrace, serveMillrace } from "./support/process.ts";
import { type AuditLog, readAuditLog, readReleaseFixture, releaseKey } from "./support/release-fixture.ts";
import { type AskProject, askerOf } from "./support/sample-part.ts";

after(endLeftProcesses);

const fixtures = new URL("fixtures/releases/", import.meta.url).pathname;
const releases = readdirSync(fixtures);

test("there is a release", () => assert.ok(releases.length > 0));

for (const release of releases) {
  describe(`release ${release}`, () => {
    const folder = temporaryFolder();
    const fixture = (name: string) => join(fixtures, release, name);
    const { audit, ...expected } = JSON.parse(
      zstdDecompressSync(readFileSync(fixture("expected.json.zst"))).toString(),
    ) as { audit?: AuditLog };

    function unpacked(name: string): string {
      const target = join(folder, name);
      mkdirSync(target);
      const input = zstdDecompressSync(readFileSync(fixture(`${name}.tar.zst`)));
      execFileSync("tar", ["--extract", "--directory", target], { input });
      return target;
    }

    async function served(data: string, work: (server: Served) => Promise<void>): Promise<void> {
      const settings = { MILLRACE_DATA: data, MILLRACE_ADMIN_KEY: releaseKey };
      const server = await serveMillrace(settings, folder);
      await work(server);
      server.child.kill("SIGTERM");
      assert.equal((await server.ended).status, 0);
    }

    async function ended(...words: readonly string[]): Promise<string> {
      const { status, output, errors } = await runMillrace(words, { MILLRACE_KEY: releaseKey }, folder).ended;
      assert.equal(status, 0, output + errors);
      return output;
    }

    const projectOf = ({ baseUrl }: Served) => askerOf({ baseUrl, project: "default", key: releaseKey });

    /** The audit log continues that of the release. */
    async function assertAuditLog(ask: AskProject): Promise<void> {
      const { records, isIntact } = await readAuditLog(ask, audit?.records.length);
      assert.equal(isIntact, true);
      if (audit) assert.deepEqual(records, audit.records);
    }

    test("its data folder is served as it was, and takes new records, twice", async () => {
      const data = unpacked("data");
      await served(data, async (server) => {
        const ask = projectOf(server);
        assertHolds(await readReleaseFixture(ask), expected);
        await assertAuditLog(ask);
        const [created] = (await ask("POST /assets", { items: [{ name: "new" }] })).items;
        await ask("POST /assets/delete", { items: [created!["id"]] }, "0.5");
      });
      await served(data, async (server) => {
        assert.doesNotMatch(server.output(), /Upgrading the catalog/);
        assertHolds(await readReleaseFixture(projectOf(server)), expected);
        await assertAuditLog(projectOf(server));
      });
    });

    test("its backup is verified and restored", async () => {
      const backups = unpacked("backups");
      await ended("verify", backups);
      const data = join(folder, "restored");
      await ended("restore", backups, "--to", data);
      await served(data, async (server) => {
        assertHolds(await readReleaseFixture(projectOf(server)), expected);
        await assertAuditLog(projectOf(server));
      });
    });

    test("its archive is imported", async () => {
      const data = join(folder, "imported");
      await served(data, async (server) => {
        await ended(
          "import",
          "archive",
          fixture("plant.tar.zst"),
          "--project",
          "default",
          "--server",
          server.baseUrl,
        );
        assertHolds(await readReleaseFixture(projectOf(server)), expected);
      });
    });
  });
}

type Served = Awaited<ReturnType<typeof serveMillrace>>;

/** Fails unless all that was there is there, and no record more; a later version may show more members. */
function assertHolds(found: unknown, expected: unknown, place = "the response"): void {
  if (typeof expected !== "object" || expected === null) {
    assert.deepEqual(found, expected, place);
    return;
  }
  assert.ok(typeof found === "object" && found !== null, `${place} is ${found}`);
  if (Array.isArray(expected)) assert.equal((found as readonly unknown[]).length, expected.length, place);
  for (const [name, part] of Object.entries(expected))
    assertHolds((found as Readonly<Record<string, unknown>>)[name], part, `${place}.${name}`);
}
