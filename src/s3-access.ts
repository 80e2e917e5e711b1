// How to reach an S3 store: its address, with the region and the credentials of the standard variables.
import { StartRefused } from "./data-folder.ts";
import type { S3Setting } from "./storage/s3-blobs/s3-blobs.ts";
import type { S3Credentials } from "./storage/s3-blobs/s3-bucket.ts";
import { parseS3Url } from "./storage/s3-blobs/s3-location.ts";

/** The standard variables that are set. Without credentials, those of the machine are used. */
export type S3Access = { readonly [Name in (typeof variables)[number]]?: string };

const variables = [
  ...(["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"] as const),
  ...(["AWS_REGION", "AWS_DEFAULT_REGION"] as const),
];

export const s3AccessIn = (given: Readonly<Record<string, string | undefined>>): S3Access =>
  Object.fromEntries(variables.flatMap((name) => (given[name] ? [[name, given[name]]] : [])));

/**
 * `name` is that of the setting. Throws `StartRefused` without a region, which only a store with an address
 * of its own does not need, and without a half of the credentials.
 */
export function s3SettingAt(url: string, access: S3Access, name: string): S3Setting {
  const location = parseS3Url(url);
  const usual = location.endpoint === undefined ? undefined : "us-east-1";
  const region = location.region ?? access.AWS_REGION ?? access.AWS_DEFAULT_REGION ?? usual;
  if (region === undefined) throw new StartRefused(`${name} needs a region; AWS_REGION is not set`);
  const credentials = credentialsOf(access);
  return { location: { ...location, region }, ...(credentials && { credentials }) };
}

/** The mistake in an address; undefined if there is none. */
export function problemOfS3Url(url: string): string | undefined {
  try {
    parseS3Url(url);
    return undefined;
  } catch (problem) {
    return (problem as Error).message;
  }
}

function credentialsOf(access: S3Access): S3Credentials | undefined {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = access;
  const { AWS_SESSION_TOKEN: sessionToken } = access;
  if (accessKeyId === undefined && secretAccessKey === undefined) return undefined;
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new StartRefused("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set together");
  return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
}
