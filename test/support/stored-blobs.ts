// The stored bytes of files of a test server, in a folder or in an S3 store.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { S3Bucket } from "../../src/storage/s3-blobs/s3-bucket.ts";
import type { TestServer } from "./server.ts";

/** The names of all blobs; those of incomplete ones end with `.part`. */
export async function storedBlobs({ dataFolder, blobs }: TestServer): Promise<string[]> {
  if (blobs === undefined) {
    const folder = join(dataFolder, "blobs");
    const projects = readdirSync(folder).filter((name) => /^\d+$/.test(name));
    return projects.flatMap((name) => readdirSync(join(folder, name)));
  }
  const bucket = await S3Bucket.open(blobs.location, blobs.credentials);
  const names = new Set<string>();
  for await (const { key } of bucket.list(blobs.location.prefix)) {
    const [, area, id] = /(files|uploads)\/\d+\/(\d+)/.exec(key) ?? [];
    if (id !== undefined) names.add(area === "files" ? id : `${id}.part`);
  }
  bucket.close();
  return [...names];
}

/** Counts the bytes that the blob store takes from requests from now on, by blob. */
export function countStoredBytes({ app }: TestServer, bytesOf: Map<number, number>): void {
  const { blobs } = app.services;
  const put = blobs.put.bind(blobs);
  Object.assign(blobs, {
    put: ({ key, offset, bytes }: Parameters<typeof put>[0]) => {
      async function* counted() {
        let end = offset;
        for await (const chunk of bytes) {
          end += chunk.length;
          yield chunk;
          bytesOf.set(key.id, end); // The store requests the next chunk when it has stored this one.
        }
      }
      return put({ key, offset, bytes: counted() });
    },
  });
}
