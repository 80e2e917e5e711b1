// Asset types and assets in an archive, and the links of other records to assets.
import { type ArchiveLine, type Item, id, list, object, optional, times } from "../../archive/checks.ts";
import { listPart, recordSection } from "../../archive/records.ts";
import type { References } from "../../archive/references.ts";

const typed = { id, fields: list(object({ id })) };

const types = recordSection({
  ...{ name: "assettypes", list: "assets/types", isTimeless: true, check: object(typed) },
  parts: { member: "fields", kind: "assettype-fields" },
});

/** The API lists parents before children, so that a parent is in the same request or exists already. */
const assets = recordSection({
  name: "assets",
  check: object({ id, ...times, parentId: optional(id), types: optional(list(object(typed))) }),
  toCreate: ({ parentId, types, path: _, depth: __, ...members }, references, { item, ids }) => {
    const parent = parentId as number | undefined;
    return {
      ...members,
      refId: `${item.id}`,
      ...(parent !== undefined && ids.has(parent) && { parentRefId: `${parent}` }),
      ...(parent !== undefined && !ids.has(parent) && references.single("assets", "parentId", parent)),
      ...(types !== undefined && { types: typesOf(types, references) }),
    };
  },
});

const typesOf = (types: unknown, references: References) =>
  references.items("assettypes", types).map(({ id, fields }: Item) => ({
    id,
    fields: references.items("assettype-fields", fields).map(({ id, value }) => ({ id, value })),
  }));

export const assetArchive = listPart([types, assets], ["assetTypes", "assets"]);

/** The members with `assetId` translated. */
export const withAsset = ({ assetId, ...members }: ArchiveLine, references: References): ArchiveLine =>
  assetId === undefined
    ? members
    : { ...members, ...references.single("assets", "assetId", assetId as number) };

/** The members with `assetIds` translated. */
export const withAssets = (members: ArchiveLine, references: References): ArchiveLine => ({
  ...members,
  assetIds: references.ids("assets", members["assetIds"]),
});
