// Files over OData: the set Files, its navigation to assets, and download links.
import type { RequestContext } from "../../context.ts";
import {
  type EntityModelPart,
  type EntitySetQuery,
  entitySet,
  entityType,
  navigation,
} from "../../odata/model.ts";
import { column, idColumn, type Operand } from "../../odata/operand.ts";
import { flag, id, idList, metadata, required, text, time } from "../../odata/property.ts";
import { valuesIn } from "../../query/conjuncts.ts";
import { equals, hasOneOf, not, nothing, oneOf } from "../../query/filter.ts";
import { filteredItems } from "../../query/memory-filter.ts";
import type { Page } from "../../query/page.ts";
import type { Asset } from "../assets/assets.ts";
import { dataSetId, externalId } from "../common/properties.odata.ts";
import { countFiles, type Download, downloadLinks, listFiles } from "./files.ts";
import type { StoredFile } from "./schema.ts";

const file = entityType<StoredFile>({
  name: "File",
  key: "Id",
  properties: [
    required(id("Id", (row) => row.id, "id")),
    externalId("sourceId"),
    required(text("Name", (row) => row.name, column("name"))),
    text("Source", (row) => row.source, column("source")),
    text("MimeType", (row) => row.contentType, column("contentType")),
    metadata(),
    dataSetId(),
    time("SourceCreatedTime", (row) => row.sourceCreatedTime, "sourceCreatedTime"),
    time("SourceModifiedTime", (row) => row.sourceModifiedTime, "sourceModifiedTime"),
    required(time("CreatedTime", (row) => row.createdTime, "createdTime")),
    required(time("LastUpdatedTime", (row) => row.lastUpdatedTime, "lastUpdatedTime")),
    time("UploadedTime", (row) => row.uploadedTime, "uploadedTime"),
    flag("Uploaded", (row) => row.content !== undefined, isThere("content")),
    idList("AssetIds", (row) => row.assetIds, "assetIds"),
  ],
});

/** Whether a column has a value, as a Boolean. */
function isThere(field: string): Operand {
  return {
    type: "Edm.Boolean",
    equals: (flag) => (flag === null ? nothing : flag ? not(equals(field, null)) : equals(field, null)),
  };
}

const files = entitySet<StoredFile>({
  name: "Files",
  type: "File",
  requiresFilter: true,
  nonFilterable: ["MetaData", "AssetIds"],
  singleValue: ["Id"],
  isMultiRange: true,
  read: (ctx, { filter, page }) => listFiles(ctx, { filter, page, newestFirst: false }),
  count: countFiles,
  position: (row) => [row.id],
});

const downloadUrl = entityType<Download>({
  name: "DownloadUrl",
  key: "FileId",
  properties: [
    required(text("FileId", (row) => String(row.fileId), idColumn("fileId"))),
    required(text("Url", (row) => row.url, column("url"))),
  ],
  stream: (row) => ({ url: row.url, ...(row.contentType !== undefined && { contentType: row.contentType }) }),
});

/** Creates download links of the files in the filter on each read. */
async function readLinks(
  ctx: RequestContext,
  { filter, page }: Pick<EntitySetQuery, "filter" | "page">,
): Promise<Page<Download>> {
  const { values = [], rest } = valuesIn(filter, "fileId");
  const [start = 0] = (page.after ?? []) as readonly number[];
  const end = Math.min(start + page.limit, values.length);
  const found = await downloadLinks(ctx, values.slice(start, end) as readonly number[], ctx.baseUrl!);
  const fieldOf = (row: Download, field: string) => row[field as keyof Download];
  const items = await filteredItems(ctx, { filter: rest, fieldOf }, found);
  return { items, ...(end < values.length && { next: [end] }) };
}

const links = entitySet<Download>({
  ...{ name: "DownloadUrl", type: "DownloadUrl", isHidden: true },
  read: readLinks,
  count: async (ctx, filter) =>
    (await readLinks(ctx, { filter, page: { limit: Number.POSITIVE_INFINITY } })).items.length,
  position: (row) => [row.fileId],
});

export const fileModel: EntityModelPart = {
  types: [file, downloadUrl],
  sets: [files, links],
  navigations: [
    navigation<StoredFile, Asset>({
      ...{ from: "File", name: "Assets", to: "Assets", isMany: true, partner: "Files" },
      constraint: ["AssetIds", "Id"],
      join: { own: (row) => row.assetIds ?? [], theirs: ({ id }) => [id], filter: (ids) => oneOf("id", ids) },
    }),
    navigation<Asset, StoredFile>({
      ...{ from: "Asset", name: "Files", to: "Files", isMany: true, partner: "Assets" },
      join: {
        own: ({ id }) => [id],
        theirs: (row) => row.assetIds ?? [],
        filter: (ids) => hasOneOf("assetIds", ids),
      },
    }),
    navigation<StoredFile, Download>({
      ...{ from: "File", name: "DownloadUrl", to: "DownloadUrl", partner: "File" },
      join: { own: ({ id }) => [id], theirs: (row) => [row.fileId], filter: (ids) => oneOf("fileId", ids) },
    }),
    navigation<Download, StoredFile>({
      ...{ from: "DownloadUrl", name: "File", to: "Files", isRequired: true, partner: "DownloadUrl" },
      constraint: ["FileId", "Id"],
      join: { own: (row) => [row.fileId], theirs: ({ id }) => [id], filter: (ids) => oneOf("id", ids) },
    }),
  ],
};
