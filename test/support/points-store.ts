// Points stores for tests: each in its own folder, with restarts and crashes.
import { copyFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { StoreUnderTest } from "../../src/storage/conformance/points.ts";
import {
  type EmbeddedPointsSettings,
  openEmbeddedPoints,
} from "../../src/storage/embedded-points/embedded-points.ts";
import { type JournalFiles, realFiles } from "../../src/storage/embedded-points/segment-files.ts";
import type { PointsStore } from "../../src/storage/points.ts";
import { temporaryFolder } from "./folder.ts";

/** For tests that do not depend on the data on disk: syncs would only take time. */
export const filesWithoutSyncs: JournalFiles = {
  ...realFiles,
  async open(path, flags) {
    const file = await realFiles.open(path, flags);
    file.datasync = async () => undefined;
    return file;
  },
};

export interface EmbeddedUnderTest extends StoreUnderTest {
  readonly folder: string;
  restart(): Promise<PointsStore>;
  crash(): Promise<PointsStore>;
}

/** An embedded store in a temporary folder; `end` closes all that were opened from it. */
export async function embeddedUnderTest(
  settings: Omit<EmbeddedPointsSettings, "folder"> = {},
): Promise<EmbeddedUnderTest> {
  const opened: PointsStore[] = [];
  const openIn = async (folder: string) => {
    const store = await openEmbeddedPoints({ ...settings, folder });
    opened.push(store);
    return store;
  };
  const folder = temporaryFolder();
  let current = folder;
  const store = await openIn(folder);
  return {
    store,
    folder,
    restart: async () => {
      await opened.at(-1)!.close();
      return openIn(current);
    },
    crash: async () => {
      const copy = temporaryFolder();
      await copyLikeACrash(current, copy);
      current = copy;
      return openIn(copy);
    },
    end: async () => {
      for (const one of opened) await one.close();
    },
  };
}

/**
 * Copies a store that is in use: the journal first and the blocks after it, so that a checkpoint between the
 * two leaves points twice and never not at all; of each database the file first and its log after it.
 */
async function copyLikeACrash(from: string, to: string): Promise<void> {
  const turn = (name: string) =>
    ["store.json", ".log", ".end", ".sqlite", "-wal"].findIndex((end) => name.endsWith(end));
  const names = (await readdir(from)).filter((name) => turn(name) >= 0).sort((a, b) => turn(a) - turn(b));
  for (const name of names) {
    await copyFile(join(from, name), join(to, name)).catch((why: NodeJS.ErrnoException) => {
      if (why.code !== "ENOENT") throw why;
    });
  }
}
