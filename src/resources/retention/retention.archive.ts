// Retention rules in an archive. A rule without its series or asset is left out. A restored rule is a new
// one: it removes nothing before a day has passed.
import { type ArchiveLine, id, object, optional } from "../../archive/checks.ts";
import { listPart, recordSection } from "../../archive/records.ts";
import type { References } from "../../archive/references.ts";

const ends = { seriesId: "timeseries", assetId: "assets" } as const;

const namedIn = (line: ArchiveLine) =>
  Object.entries(ends).filter(([member]) => typeof line[member] === "number");

const isWhole = (line: ArchiveLine, references: References): boolean =>
  namedIn(line).every(([member, kind]) => references.idOf(kind, line[member] as number) !== undefined);

export const retentionArchive = listPart(
  [
    recordSection({
      name: "retentionrules",
      check: object({ id, seriesId: optional(id), assetId: optional(id) }),
      isTimeless: true,
      isRestored: isWhole,
      toCreate: (
        { nextTime: _, waitsUntil: __, lastRun: ___, removedPoints: ____, ...rule },
        references,
      ) => ({
        ...rule,
        ...Object.assign(
          {},
          ...namedIn(rule).map(([member, kind]) => references.single(kind, member, rule[member] as number)),
        ),
      }),
    }),
  ],
  ["retentionrules"],
);
