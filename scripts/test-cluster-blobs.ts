// Part of `npm run test:cluster`: runs the tests of files, models and archives, and those of faults, with all
// files in radosgw, the S3 store of Ceph, which it starts on loopback and ends.
//
// `node scripts/test-cluster-blobs.ts src/archive` runs the tests under a folder.
import { spawnSync } from "node:child_process";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { startRadosgw } from "../test/support/radosgw.ts";
import { prepare, thisMachine } from "./system-packages.ts";

const testMinutesMax = 10;
const bucket = "millrace-test";

const radosgw = {
  command: "radosgw",
  debian: ["radosgw", "ceph-mon", "ceph-osd", "ceph-common"],
  usedFor: "files in an S3 store",
};
for (const line of prepare({ radosgw }, thisMachine)) console.log(line);

const places = process.argv.slice(2);
const patterns =
  places.length > 0
    ? places.map((place) => (place.endsWith(".ts") ? place : `${place}/**/*.test.ts`))
    : [
        "src/storage/s3-blobs/*.test.ts",
        "test/cluster/*.test.ts",
        "src/resources/{files,models,archives}/**/*.test.ts",
        "src/archive/*.test.ts",
        "src/backup/{places,s3-backups.process,increments-places.process}.test.ts",
      ];

const store = await startRadosgw();
try {
  const { endpoint, accessKeyId, secretAccessKey } = store;
  const credentials = { accessKeyId, secretAccessKey };
  const client = new S3Client({ endpoint, region: "us-east-1", forcePathStyle: true, credentials });
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  client.destroy();
  const env = {
    ...process.env,
    ...{ TEST_BLOBS: "s3", TEST_S3: `s3://${bucket}?endpoint=${endpoint}` },
    ...{ AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey },
  };
  const flags = ["--test", "--test-reporter=spec", "--test-concurrency=2", "--test-force-exit"];
  const run = spawnSync(
    process.execPath,
    [...flags, `--test-timeout=${testMinutesMax * 60_000}`, ...patterns],
    { stdio: ["ignore", "inherit", "inherit"], env },
  );
  if (run.error) throw run.error;
  process.exitCode = run.status ?? 1;
} finally {
  await store.stop();
}
