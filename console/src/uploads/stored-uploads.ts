// Remembers unfinished uploads over a reload of the page. They end with the window: the storage of a window
// is its own, so two windows never continue one upload.
import type { NewFile } from "../api/generated.ts";

export interface StoredUpload {
  readonly id: string;
  readonly newFile: NewFile;
  readonly size: number;
  readonly lastModified: number;
  readonly fileId: number;
  /** The link that takes the bytes of this file, and permits nothing else. */
  readonly url: string;
  /** The upload created the file's record; to cancel it deletes the record. */
  readonly isNew: boolean;
  /** The file has bytes, which stay until the new ones are complete. */
  readonly overwrite: boolean;
  /** The file that the person chose to get the bytes, in place of one of this folder and name. */
  readonly ofFileId?: number | undefined;
}

const storageKey = (project: string) => `millrace.uploads.${project}`;

export function readUploads(project: string): readonly StoredUpload[] {
  const text = sessionStorage.getItem(storageKey(project));
  return text === null ? [] : (JSON.parse(text) as StoredUpload[]);
}

export function storeUploads(project: string, uploads: readonly StoredUpload[]): void {
  if (uploads.length === 0) sessionStorage.removeItem(storageKey(project));
  else sessionStorage.setItem(storageKey(project), JSON.stringify(uploads));
}
