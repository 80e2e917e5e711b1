// Installations for tests of `millrace copy`: filled, copied by the command as an operator runs it, compared.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { openApp } from "../../src/app.ts";
import { readSettings } from "../../src/config.ts";
import { realSystem } from "../../src/lib/system.ts";
import { temporaryFolder } from "./folder.ts";
import { runMillrace } from "./process.ts";
import { type AskProject, askerOf } from "./sample-part.ts";
import { fillProject, readProject } from "./samples.ts";

export const adminKey = "a-key-of-this-test-with-enough-letters";

export type Settings = Readonly<Record<string, string>>;

/** The settings of one installation, and the file that names it in the command. */
export interface Place {
  readonly settings: Settings;
  readonly file: string;
  /** The working directory of its processes. */
  readonly folder: string;
  readonly data: string;
}

/** An installation that does not exist yet; its settings are those of MILLRACE_DATA and `more`. */
export function newPlace(more: Settings = {}): Place {
  const folder = temporaryFolder();
  const data = join(folder, "millrace-data");
  const settings = { MILLRACE_PORT: "0", MILLRACE_ADMIN_KEY: adminKey, ...more };
  const file = join(folder, "installation.env");
  const lines = Object.entries({ MILLRACE_DATA: "millrace-data", ...settings });
  writeFileSync(file, lines.map(([name, value]) => `${name}='${value}'\n`).join(""));
  return { settings, file, folder, data };
}

export const copyTo = (from: Place, to: Place, environment: Settings = {}) =>
  runMillrace(["copy", "--from", from.file, "--to", to.file], environment, from.folder);

/**
 * Runs a server of the installation while `work` runs. It is in this process, which takes a fourth of the
 * processor time of a new one; tests of processes start theirs by `serveMillrace`.
 */
export async function served<Result>(
  place: Place,
  work: (ask: AskProject, baseUrl: string) => Promise<Result>,
): Promise<Result> {
  const settings = readSettings(place.settings, place.folder);
  const app = await openApp(settings, realSystem, pino({ level: "silent" }));
  try {
    const { address } = await app.listen();
    return await work(askerOf({ baseUrl: address, project: "default", key: adminKey }), address);
  } finally {
    await app.close();
  }
}

const pointsOfSeries = 30_000;

/** Of an archive's manifest. */
interface Section {
  readonly name: string;
  readonly records: number;
  readonly sha256: string;
}

/** Fills an installation with samples of all resources, many datapoints, deletions and a large file. */
export const fill = (place: Place): Promise<void> =>
  served(place, async (ask) => {
    await fillProject(ask, 7);
    const names = ["level", "flow", "state"];
    const items = names.map((name) => ({ name, isString: name === "state" }));
    await ask("POST /timeseries", { items });
    for (const name of names) {
      const values = Array.from({ length: pointsOfSeries }, (_, i) => ({
        timestamp: 1_600_000_000_000 + i * 1_000,
        value: name === "state" ? `state ${i % 7} 😀` : Math.sin(i) * 1e3,
      }));
      for (let at = 0; at < values.length; at += 10_000)
        await ask(`POST /timeseries/data/${name}`, { items: values.slice(at, at + 10_000) }, "0.5");
    }
    const range = "timestampInclusiveBegin=1600000100000&timestampExclusiveEnd=1600000200000";
    await ask(`DELETE /timeseries/data/flow/deleterange?${range}`, undefined, "0.5");
    const upload = await ask("POST /files/initupload", { fileName: "drawing", source: "test" }, "0.5");
    const { uploadURL } = JSON.parse(upload.text).data;
    const response = await fetch(uploadURL, { method: "PUT", body: randomBytes(3_000_000) });
    assert.equal(response.status, 200);
    await ask("POST /files/initupload", { fileName: "unfinished", source: "test" }, "0.5");
  });

/**
 * The checksums of the sections of an archive, made by `millrace export`. Of retention rules only the number:
 * in a copy they wait for a day, so their times are others.
 */
export const archiveOf = (place: Place) =>
  served(place, async (_ask, baseUrl) => {
    const file = join(temporaryFolder(), "archive.tar.gz");
    const words = ["export", "--output", file, "--server", baseUrl];
    const ended = await runMillrace(words, { MILLRACE_KEY: adminKey }, place.folder).ended;
    assert.equal(ended.status, 0, ended.errors);
    const manifest = execFileSync("tar", ["-xzOf", file, "manifest.json"], { encoding: "utf8" });
    const sections = JSON.parse(manifest).sections as readonly Section[];
    return sections.map(({ name, records, ...section }) =>
      name === "retentionrules" ? { name, records } : { name, records, ...section },
    );
  });

/** The content of an installation over the API, ids and times of creation included. */
export const stateOf = (place: Place) =>
  served(place, async (ask) => {
    const lists = ["assets", "timeseries", "events", "files", "sequences", "relationships", "trends"];
    const texts: Record<string, string> = {};
    for (const list of lists) texts[list] = (await ask(`GET /${list}?limit=1000`)).text;
    for (const name of ["level", "flow", "state"])
      for (const start of [1_600_000_000_000, 1_600_020_000_000]) {
        const path = `/timeseries/data/${name}?start=${start}&limit=10000`;
        texts[`${name} ${start}`] = (await ask(`GET ${path}`, undefined, "0.5")).text;
      }
    return { records: await readProject(ask), texts };
  });
