// Transformations in an archive. A restored one runs with the rights of the account that restores it, and has
// no marks: its first run reads all rows. An archive has no secrets: a webhook gets a random one, so that its
// receiver refuses the messages until the secret is set again.
import { randomBytes } from "node:crypto";
import { type Item, id, object, times } from "../../archive/checks.ts";
import { JsonLines } from "../../archive/json-lines.ts";
import { exportList, recordSection, restoreTimes } from "../../archive/records.ts";
import type { ArchivePart, LinesSection } from "../../archive/section.ts";
import { limits } from "../../limits.ts";

const unknownSecret = () => `whsec_${randomBytes(limits.webhookSecretBytesMin).toString("base64")}`;

const transformations = recordSection({
  name: "transformations",
  itemsMax: limits.transformationsPerRequestMax,
  check: object({ id, ...times }),
  toCreate: ({
    owner: _,
    ownerId: __,
    marks: ___,
    nextTime: ____,
    lastRun: _____,
    webhook,
    schedule,
    ...transformation
  }) => ({
    ...transformation,
    ...(schedule !== undefined && afterIn(schedule) === undefined && { schedule }),
    ...(webhook !== undefined && { webhook: { ...(webhook as object), secret: unknownSecret() } }),
  }),
});

/** Which transformation runs after which: both exist when this is restored. */
const followers: LinesSection = {
  ...{ kind: "lines", name: "transformation_followers", linesMax: limits.transformationsPerRequestMax },
  check: object({ id, ...times }),
  async restore(lines, { connection, references, ...restoring }) {
    const made = (lines as readonly Follower[]).flatMap((line) => {
      const found = references.idOf(transformations.name, line.id);
      return found === undefined ? [] : [{ line, id: found }];
    });
    const items = made.map(({ line: { after }, id }) => ({ id, schedule: { set: { after } } }));
    const path = connection.pathOf("transformations/update", "0.6");
    if (items.length > 0) await connection.json("POST", path, { body: JSON.stringify({ items }) });
    await restoreTimes(
      { connection, references, ...restoring },
      transformations.list,
      made.map(({ line }) => line),
      made.map(({ id }) => ({ id })),
    );
    return {};
  },
};

type Follower = Item & { readonly after: string };

const afterIn = (schedule: unknown) => (schedule as { readonly after?: string } | undefined)?.after;

export const transformationArchive: ArchivePart = {
  sections: [transformations, followers],
  lists: [transformations.list],
  tables: ["transformations"],
  async export(exporting) {
    const lines = new JsonLines(exporting, followers.name);
    const after: string[] = [];
    await exportList(exporting, transformations, async (page) => {
      for (const { id, schedule, createdTime, lastUpdatedTime } of page) {
        const name = afterIn(schedule);
        const line = { id, after: name, createdTime, lastUpdatedTime };
        if (name !== undefined) after.push(JSON.stringify(line));
      }
      return page;
    });
    for (const line of after) await lines.add(line);
    await lines.flush();
  },
};
