// Files with their bytes in an archive.
import {
  type ArchiveLine,
  type Item,
  id,
  list,
  object,
  optional,
  time,
  times,
} from "../../archive/checks.ts";
import { unlessDeleted } from "../../archive/deleted.ts";
import { BadArchive } from "../../archive/format.ts";
import { JsonLines } from "../../archive/json-lines.ts";
import { pagesOf, restoreTimes } from "../../archive/records.ts";
import {
  type ArchivePart,
  type BytesSection,
  type Exporting,
  type LinesSection,
  type Restoring,
  Stopped,
} from "../../archive/section.ts";
import type { Connection } from "../../client/connection.ts";
import type { Made } from "../../client/ledger.ts";
import { limits } from "../../limits.ts";
import { withAssets } from "../assets/assets.archive.ts";

const files: LinesSection = {
  ...{ kind: "lines", name: "files", list: "files", linesMax: limits.importItemsPerRequest },
  check: object({ id, ...times, assetIds: optional(list(id)), uploadedAt: optional(time) }),
  restore: async (lines, restoring) => {
    const made: Made[] = [];
    let awaitsBytes: ArchiveLine | undefined;
    for (const file of lines as readonly Item[]) {
      if (file["uploaded"] === true) awaitsBytes = file;
      else {
        const { fileId } = await startUpload(file, restoring);
        await restoreTimes(restoring, "files", [file], [{ id: fileId }]);
        made.push({ given: file.id, id: fileId });
      }
    }
    return { made: { files: made }, ...(awaitsBytes && { awaitsBytes }) };
  },
};

const fileBytes: BytesSection = {
  ...{ kind: "bytes", name: "file-bytes" },
  restore: async (entry, restoring, file) => {
    if (!file) throw new BadArchive(`The archive has bytes of a file that it does not have: ${entry.name}`);
    const { fileId, uploadURL } = await startUpload(file, restoring);
    const body = entry.size === 0 ? new Uint8Array(0) : entry.body;
    await (await restoring.connection.link("PUT", uploadURL, { body })).arrayBuffer();
    await restoreTimes(restoring, "files", [file], [{ id: fileId }]);
    return { made: { files: [{ given: (file as Item).id, id: fileId }] } };
  },
};

/** `overwrite` takes over a file of this directory and name that an interrupted restore has begun. */
async function startUpload(
  { id: _, contentType, ...members }: ArchiveLine,
  { connection, references }: Restoring,
): Promise<{ fileId: number; uploadURL: string }> {
  const response = await connection.json("POST", connection.pathOf("files/initupload?overwrite=true"), {
    body: JSON.stringify(withAssets(members, references)),
    ...(typeof contentType === "string" && { headers: { "x-upload-content-type": contentType } }),
  });
  return (response as { data: { fileId: number; uploadURL: string } }).data;
}

export const fileArchive: ArchivePart = {
  sections: [files, fileBytes],
  lists: ["files"],
  tables: ["files"],
  export: exportFiles,
};

/** A file with bytes is the last line of its entry, with their size and type; the bytes follow at once. */
async function exportFiles(exporting: Exporting): Promise<void> {
  const lines = new JsonLines(exporting, "files");
  for await (const page of pagesOf(exporting, "files")) {
    for (const file of page) {
      if (exporting.stop.aborted) throw new Stopped();
      if (file["uploaded"] === true) await exportUploaded(exporting, lines, file);
      else await lines.add(JSON.stringify(file));
    }
    await lines.flush();
  }
}

async function exportUploaded(exporting: Exporting, lines: JsonLines, file: Item): Promise<void> {
  const { connection, writer, progress } = exporting;
  const response = await download(connection, file.id);
  if (!response) return;
  const bytes = Number(response.headers.get("content-length"));
  const contentType = response.headers.get("content-type");
  await lines.add(JSON.stringify({ ...file, bytes, contentType }));
  await lines.flush();
  const body = (response.body ?? []) as unknown as AsyncIterable<Uint8Array>;
  await writer.addStream("file-bytes", { name: String(file.id), size: bytes }, body);
  progress("file-bytes", 1);
}

/** The bytes of a file; undefined if it was deleted. Its link also ends when it is overwritten. */
async function download(connection: Connection, id: number): Promise<Response | undefined> {
  const path = connection.pathOf(`files/${id}/downloadlink`);
  const link = () => unlessDeleted(connection.json("GET", path) as Promise<{ readonly data: string }>);
  const first = await link();
  const response = first && (await unlessDeleted(connection.link("GET", first.data)));
  if (response) return response;
  const second = await link();
  return second && connection.link("GET", second.data);
}
