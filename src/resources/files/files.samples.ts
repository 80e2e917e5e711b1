// Sample records of files for tests.
import assert from "node:assert/strict";
import {
  all,
  bySort,
  type Filling,
  type Item,
  type Reading,
  type SamplePart,
} from "../../../test/support/sample-part.ts";
import { common } from "../assets/assets.samples.ts";

export const fileSamples: SamplePart = {
  fill: fillFiles,
  async fillSmall(filling) {
    const file = { fileName: "manual", assetIds: filling.idsOf("assets"), ...common };
    const { text } = await filling.ask("POST /files/initupload", file);
    await fetch(JSON.parse(text).data.uploadURL, { method: "PUT", body: "text" });
  },
  async read(reading) {
    const files = await all(reading.ask, "/files");
    return { files: bySort(await Promise.all(files.map((file) => fileOf(reading, file)))) };
  },
};

const fileBytes = [0, 1, 300_000, 70_000];

async function fillFiles(filling: Filling): Promise<void> {
  const { ask, draws } = filling;
  const assetIds = filling.idsOf("assets");
  for (let i = 0; i < 7; i++) {
    const { text } = await ask("POST /files/initupload", {
      fileName: `${i} ${draws.text()}`,
      metadata: draws.metadata(`file ${i}`),
      ...draws.common("file", i),
      ...draws.some(i, { directory: `/d${draws.text()}`, source: `s${i}`, sourceId: "1", fileType: "pdf" }),
      ...draws.some(i, { assetIds: [draws.pick(assetIds)], tagIds: [`t${draws.text()}`] }),
    });
    const bytes = fileBytes[i];
    if (bytes === undefined) continue;
    const body = Uint8Array.from({ length: bytes }, (_, at) => (at * at + i) % 251);
    const headers = { "content-type": i === 2 ? "image/png" : "text/plain; charset=latin1" };
    const put = await fetch(JSON.parse(text).data.uploadURL, { method: "PUT", body, headers });
    assert.equal(put.status, 200);
  }
}

async function fileOf(reading: Reading, { id, assetIds, ...file }: Item): Promise<Item> {
  const known = { ...file, assetIds: reading.namesOf("assets", assetIds) };
  if (file["uploaded"] !== true) return known;
  const { text } = await reading.ask(`GET /files/${id}/downloadlink`);
  const answer = await fetch(JSON.parse(text).data);
  const bytes = Buffer.from(await answer.arrayBuffer()).toString("base64");
  return { ...known, bytes, contentType: answer.headers.get("content-type") };
}
