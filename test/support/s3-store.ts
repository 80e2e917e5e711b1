// S3 stores for tests. TEST_S3 names one that runs, as MILLRACE_BLOBS does, with the credentials of the AWS
// variables (scripts/test-cluster-blobs.ts). Otherwise a store of the package fauxqs runs in the process of
// the test.
import { randomUUID } from "node:crypto";
import type { S3Setting } from "../../src/storage/s3-blobs/s3-blobs.ts";
import { parseS3Url } from "../../src/storage/s3-blobs/s3-location.ts";

export interface TestS3 {
  /** The address of the store. */
  readonly endpoint: string;
  /** A place of its own in the store, reached at another address if one is given. */
  place(endpoint?: string): S3Setting;
}

const bucket = "millrace-test";

/** Whether all test servers keep files in an S3 store. */
export const usesS3 = process.env["TEST_BLOBS"] === "s3";

let started: Promise<TestS3> | undefined;

/** One store for all tests of the process. */
export function testS3(): Promise<TestS3> {
  started ??= process.env["TEST_S3"] === undefined ? startFauxqs() : Promise.resolve(givenStore());
  return started;
}

/** A store that verifies no signatures, for tests whose proxy changes requests. */
export const unsignedS3 = (): Promise<TestS3> => startFauxqs();

function givenStore(): TestS3 {
  const { endpoint = "", bucket } = parseS3Url(process.env["TEST_S3"]!);
  const accessKeyId = process.env["AWS_ACCESS_KEY_ID"]!;
  const secretAccessKey = process.env["AWS_SECRET_ACCESS_KEY"]!;
  return storeAt(endpoint, bucket, { accessKeyId, secretAccessKey });
}

/**
 * It keeps objects in memory, and verifies neither signatures nor checksums; radosgw does
 * (scripts/test-cluster-blobs.ts).
 */
async function startFauxqs(): Promise<TestS3> {
  const { buildApp } = await import("fauxqs"); // Half a second that other tests need not take.
  const app = buildApp({ logger: false });
  // Of a write it ignores the condition.
  app.addHook("onRequest", async ({ method, url, headers }, reply) => {
    const condition = headers["if-match"] ?? headers["if-none-match"];
    if (method !== "PUT" || condition === undefined) return;
    const found = await app.inject({ method: "HEAD", url: url.replace(/\?.*/, ""), headers: {} });
    const etag = found.statusCode === 200 ? found.headers["etag"] : undefined;
    const isMet = headers["if-match"] === undefined ? etag === undefined : etag === plainEtag(condition);
    if (isMet) return;
    const refusal = "<Error><Code>PreconditionFailed</Code><Message>changed</Message></Error>";
    return reply.code(412).header("content-type", "application/xml").send(refusal);
  });
  const endpoint = await app.listen({ host: "127.0.0.1", port: 0 });
  app.server.unref();
  app.server.on("connection", (socket) => void socket.unref());
  await fetch(`${endpoint}/${bucket}`, { method: "PUT" });
  return storeAt(endpoint, bucket, { accessKeyId: "any", secretAccessKey: "any" });
}

const plainEtag = (text: string) => `"${text.replaceAll('"', "")}"`;

function storeAt(
  endpoint: string,
  bucket: string,
  credentials: NonNullable<S3Setting["credentials"]>,
): TestS3 {
  return {
    endpoint,
    place: (address = endpoint) => ({
      location: {
        ...{ bucket, prefix: `${randomUUID()}/`, endpoint: address },
        ...{ region: "us-east-1", pathStyle: true },
      },
      credentials,
    }),
  };
}
