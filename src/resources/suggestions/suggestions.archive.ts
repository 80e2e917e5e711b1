// Suggestions in an archive, so that accepted and rejected ones are remembered. A suggestion without its
// series, file or asset is left out. A restore gives them its own times.
import { type ArchiveLine, id, object, optional } from "../../archive/checks.ts";
import { listPart, recordSection } from "../../archive/records.ts";
import type { References } from "../../archive/references.ts";

const ends = { seriesId: "timeseries", fileId: "files", assetId: "assets" } as const;

const namedIn = (line: ArchiveLine) =>
  Object.entries(ends).filter(([member]) => typeof line[member] === "number");

const isWhole = (line: ArchiveLine, references: References): boolean =>
  namedIn(line).every(([member, kind]) => references.idOf(kind, line[member] as number) !== undefined);

export const suggestionArchive = listPart(
  [
    recordSection({
      name: "suggestions",
      check: object({ id, seriesId: optional(id), fileId: optional(id), assetId: id }),
      isTimeless: true,
      isRestored: isWhole,
      toCreate: (members, references) => ({
        ...members,
        ...Object.assign(
          {},
          ...namedIn(members).map(([member, kind]) =>
            references.single(kind, member, members[member] as number),
          ),
        ),
      }),
    }),
  ],
  ["suggestions"],
);
