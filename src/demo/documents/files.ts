// The files of the demo: diagrams of the units, data sheets, procedures and calibration records.
import type { Connection } from "../../client/connection.ts";
import type { AssetDescription, Description } from "../description.ts";
import type { Ids } from "../ensure.ts";
import { source } from "../records.ts";
import { dataSheet } from "./data-sheets.ts";
import { drawSheet, type Sheet } from "./diagram.ts";
import { sheet23 } from "./sheet-23.ts";
import { sheet24 } from "./sheet-24.ts";
import { sheet26 } from "./sheet-26.ts";
import { calibrations, columnStartUp, pumpChangeOver } from "./texts.ts";

interface DemoFile {
  readonly directory: string;
  readonly name: string;
  readonly type: string;
  /** The linked assets. */
  readonly assets: readonly string[];
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const diagrams = "/diagrams";

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text));

const hasDataSheet = ({ type }: AssetDescription) =>
  ["pump", "exchanger", "reactor", "column", "boiler"].includes(type);

export function demoFiles(description: Description): readonly DemoFile[] {
  const { assets, pumps } = description;
  const text = (directory: string, name: string, content: string, linked: readonly string[]): DemoFile => {
    const type = name.endsWith(".csv") ? "text/csv" : "text/markdown";
    return { directory, name, type, assets: linked, bytes: bytesOf(content) };
  };
  return [
    diagram(sheet23, "23 Feed and reaction"),
    diagram(sheet24, "24 Distillation"),
    diagram(sheet26, "26 Utilities"),
    ...assets.flatMap((asset): DemoFile[] => {
      if (!hasDataSheet(asset)) return [];
      const bytes = dataSheet(
        asset,
        pumps.find(({ tag }) => tag === asset.name),
      );
      const name = `${asset.name} data sheet.pdf`;
      return [{ directory: "/data sheets", name, type: "application/pdf", assets: [asset.name], bytes }];
    }),
    text("/procedures", "24-SOP-001 column start-up.md", columnStartUp, ["24-C-2020"]),
    text("/procedures", "23-SOP-004 change over of feed pumps.md", pumpChangeOver, [
      "23-P-1012A",
      "23-P-1012B",
    ]),
    text("/calibration", "calibration records.csv", calibrations(description), ["Northmoor Works"]),
  ];
}

const diagram = (sheet: Sheet, unit: string): DemoFile => ({
  ...{ directory: diagrams, name: `${sheet.number}.svg`, type: "image/svg+xml", assets: [unit] },
  bytes: bytesOf(drawSheet(sheet)),
});

/** Overwrites a file that an interrupted load has begun. */
export async function loadFiles(
  connection: Connection,
  files: readonly DemoFile[],
  assets: Ids,
): Promise<void> {
  const path = `${connection.pathOf("files/initupload", "0.6")}?overwrite=true`;
  for (const { directory, name, type, assets: linked, bytes } of files) {
    const body = JSON.stringify({
      ...{ fileName: name, directory, fileType: type, source, externalId: `${directory}/${name}` },
      assetIds: linked.map((asset) => assets.get(asset)),
    });
    const headers = { "x-upload-content-type": type };
    const { data } = (await connection.json("POST", path, { body, headers })) as {
      data: { fileId: number; uploadURL: string };
    };
    // The link begins with the public address, which this machine may not reach.
    const link = connection.server + data.uploadURL.slice(data.uploadURL.lastIndexOf("/blobs/"));
    await (await connection.link("PUT", link, { body: bytes })).arrayBuffer();
    if (directory === diagrams) await findTags(connection, data.fileId);
  }
}

/** Suggests the assets in a diagram. The plant is complete without: a system may not bound processes. */
async function findTags(connection: Connection, fileId: number): Promise<void> {
  const path = connection.pathOf("suggestions/drawings", "0.6");
  await connection.json("POST", path, { body: JSON.stringify({ fileId }) }).catch(() => undefined);
}
