// Opens the place of backups that a setting or a command names.
import { type S3Access, s3SettingAt } from "../s3-access.ts";
import { FolderPlace } from "./folder-place.ts";
import { type BackupPlace, isS3Place } from "./place.ts";

/** Sends no request and makes no folder. `name` is of `placeNamed`. Throws `StartRefused`. */
export async function openPlace(name: string, s3: S3Access = {}): Promise<BackupPlace> {
  if (!isS3Place(name)) return new FolderPlace(name);
  const { S3Place } = await import("./s3-place.ts");
  return await S3Place.open(s3SettingAt(name, s3, name), name);
}
