// The place of backups that the words of a command name.
import { openPlace } from "../backup/open-place.ts";
import { type BackupPlace, placeNamed } from "../backup/place.ts";
import { readS3Access } from "../config.ts";
import { Misused } from "./command.ts";

export const namedPlace = (text: string): Promise<BackupPlace> =>
  openPlace(placeIn(text), readS3Access(process.env, process.cwd()));

/** The place that a command names: a folder or an address. Throws `Misused` for an invalid address. */
export function placeIn(text: string): string {
  try {
    return placeNamed(text, process.cwd());
  } catch (problem) {
    throw new Misused(`The address of the backups ${(problem as Error).message}.`);
  }
}
