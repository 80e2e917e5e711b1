// Groups in a configuration (docs/apply.md#groups).
import type { Static } from "typebox";
import { requireUnlimited } from "../../access/caller.ts";
import type { RequestContext } from "../../context.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import type { PageQuery } from "../../query/page.ts";
import { capabilityOf } from "../../rest/capabilities.ts";
import { strict } from "../../rest/strict.ts";
import { newGroup, newGroupOf } from "../groups/groups.rest.ts";
import {
  createGroups,
  deleteGroups,
  type Group,
  listGroups,
  type NewGroup,
  updateGroup,
} from "../groups/groups.ts";
import { allOf, type ConfigurationKind, type Document, documentOf, type Found, oneByOne } from "./kind.ts";

export const groupDocument = strict(newGroup, "GroupDocument");

const named = { name: "groups", key: "name" } as const;

export const groupKind: ConfigurationKind<Static<typeof groupDocument>, NewGroup> = {
  ...named,
  list: ["groupsAcl", "LIST"],
  needs: [
    ["groupsAcl", "LIST"],
    ["groupsAcl", "CREATE"],
    ["groupsAcl", "UPDATE"],
  ],
  wanted(ctx, sent) {
    // A group that the caller may not list looks missing, and would be created again by each run.
    requireUnlimited(ctx.caller, "groupsAcl", "LIST");
    return mapInSlices(sent, (item, index) => {
      const value = newGroupOf(item, index);
      return { value, document: documentIn(value) };
    });
  },
  page: configurable,
  // With the administrators: a document of their name would otherwise make a second group of it.
  named: async (ctx, names) => {
    const wanted = new Set(names);
    const all = await allOf((page) => listGroups(ctx, { all: true, page }));
    return all.filter(({ name }) => wanted.has(name)).map(foundOf);
  },
  create: (ctx, wanted) => oneByOne(named, wanted, (value) => createGroups(ctx, [value])),
  update: (ctx, changes) =>
    oneByOne(named, changes, ({ name: _, source, sourceId, permissions, capabilities }, index) =>
      updateGroup(ctx, changes[index]!.id, {
        source: source ?? null,
        sourceId: sourceId ?? null,
        permissions: permissions ?? null,
        capabilities,
      }),
    ),
  async remove(ctx, surplus) {
    await deleteGroups(
      ctx,
      surplus.map(({ id }) => id),
    );
    return undefined;
  },
};

/** Without the administrators, whose rights never change. */
async function configurable(ctx: RequestContext, page: PageQuery) {
  const { items, ...around } = await listGroups(ctx, { all: true, page });
  const others = items.filter(({ grantsEverything }) => !grantsEverything);
  return { ...around, items: others.map(foundOf) };
}

const foundOf = (group: Group): Found => ({ id: group.id, document: documentIn(group) });

const documentIn = ({ name, source, sourceId, permissions, capabilities }: Group | NewGroup): Document => ({
  ...documentOf({ name, source, sourceId, permissions }),
  capabilities: capabilities.map(capabilityOf),
});
