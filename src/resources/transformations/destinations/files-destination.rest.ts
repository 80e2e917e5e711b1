// The destination files: the metadata of files that exist. Bytes of files, and files without bytes, are made
// by uploads alone.
import { oneOf } from "../../../query/filter.ts";
import { listFiles, updateFiles } from "../../files/files.ts";
import { changeOf, fileJson, newFile } from "../../files/schemas.rest.ts";
import { comparing } from "./compare.ts";
import { type RecordDestination, unguarded } from "./destination.ts";
import { byKey, checkBy, columnsOf, idIn, keyIn, settersOf } from "./record-columns.rest.ts";

export const filesDestination: RecordDestination = {
  acl: "filesAcl",
  keys: [["externalId"]],
  columns: columnsOf(newFile),
  actions: ["update"],
  keyOf: keyIn("externalId"),
  compare: comparing({
    fixed: [],
    check: checkBy(newFile),
    async find(ctx, keys) {
      const page = { limit: keys.length };
      const { items } = await listFiles(ctx, { filter: oneOf("externalId", keys), newestFirst: false, page });
      return byKey("externalId", items.map(fileJson("0.6")));
    },
  }),
  async write(ctx, { changes }) {
    if (changes.length === 0) return;
    await updateFiles(
      ctx,
      changes.map(({ current, values }) => ({ id: idIn(current), change: changeOf(settersOf(values)) })),
    );
  },
  guard: unguarded,
};
