// The setting of the S3 store: its parts, and the messages for invalid ones.
import assert from "node:assert/strict";
import { test } from "node:test";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { readSettings } from "../../config.ts";
import { parseS3Url } from "./s3-location.ts";

const folder = temporaryFolder();
const credentials = { AWS_ACCESS_KEY_ID: "an id", AWS_SECRET_ACCESS_KEY: "a secret" };
const blobsOf = (url: string, more: Record<string, string> = {}) =>
  readSettings({ MILLRACE_BLOBS: url, ...more }, folder).blobs;

test("a location has bucket, prefix, endpoint, region and path style", () => {
  assert.deepEqual(parseS3Url("s3://plant"), { bucket: "plant", prefix: "", pathStyle: false });
  assert.deepEqual(parseS3Url("s3://plant/a/b/?endpoint=http://10.0.0.5:9000&region=eu-1&path-style=false"), {
    ...{ bucket: "plant", prefix: "a/b/", pathStyle: false },
    ...{ endpoint: "http://10.0.0.5:9000", region: "eu-1" },
  });
});

test("region and credentials come from the standard variables", () => {
  assert.equal(readSettings({}, folder).blobs, undefined);
  const located = blobsOf("s3://plant", { ...credentials, AWS_REGION: "eu-central-1" });
  assert.equal(located?.location.region, "eu-central-1");
  assert.deepEqual(located?.credentials, { accessKeyId: "an id", secretAccessKey: "a secret" });
  assert.equal(blobsOf("s3://plant?endpoint=http://s3")?.location.region, "us-east-1");
  assert.equal(blobsOf("s3://plant?endpoint=http://s3")?.credentials, undefined);
});

const invalid: readonly (readonly [url: string, message: RegExp])[] = [
  ["plant", /^MILLRACE_BLOBS must be an address such as s3:/],
  ["https://plant", /^MILLRACE_BLOBS must be an address such as s3:/],
  ["s3://key:hidden@plant", /must not hold credentials: set AWS_ACCESS_KEY_ID/],
  ["s3://plant?endpoint=http://key:hidden@s3", /must not hold credentials in the endpoint/],
  ["s3://p?endpoint=http://s3", /needs a bucket of 3 to 63 .* but it is "p"/],
  ["s3://plant/a%20b?endpoint=http://s3", /needs a prefix of .* but it is "a%20b"/],
  ["s3://plant?endpoint=s3", /needs an endpoint such as .* but it is "s3"/],
  ["s3://plant?endpoint=http://s3/path", /needs an endpoint such as/],
  ["s3://plant?region=a%20b", /needs a region of .* but it is "a b"/],
  ["s3://plant?endpoint=http://s3&path-style=yes", /needs a path-style of true or false, but it is "yes"/],
  [
    "s3://plant?endpont=http://s3",
    /has the unknown parameter endpont; known are endpoint, region, path-style/,
  ],
  ["s3://plant?region=a&region=b", /has the parameter region more than once/],
  ["s3://plant", /needs a region; AWS_REGION is not set/],
];

for (const [url, message] of invalid)
  test(`${url} is refused`, () => {
    assert.throws(
      () => blobsOf(url),
      (problem: Error) => message.test(problem.message) && !problem.message.includes("hidden"),
    );
  });

test("half of a credential is refused without a value", () => {
  const half = { AWS_SECRET_ACCESS_KEY: "hidden" };
  assert.throws(
    () => blobsOf("s3://plant?endpoint=http://s3", half),
    (problem: Error) => /must be set together/.test(problem.message) && !problem.message.includes("hidden"),
  );
});
