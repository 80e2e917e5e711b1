// The records of files that uploads create and change.
import {
  type File,
  getFiles,
  getFilesByFileId,
  type NewFile,
  postFilesInitupload,
} from "../api/generated.ts";
import { addressHere } from "../lib/address-here.ts";

/** Files of one name in different folders. */
const sameNameMax = 1_000;

/** The file of this folder and name that the person may see. */
export async function findFile(
  project: string,
  { fileName: name, directory }: Pick<NewFile, "fileName" | "directory">,
  signal: AbortSignal,
): Promise<File | undefined> {
  const { data } = await getFiles(project, { name, dir: directory, limit: sameNameMax }, { signal });
  return data.items.find((file) => file.directory === directory);
}

export const readFile = async (project: string, id: number, signal: AbortSignal): Promise<File> =>
  (await getFilesByFileId(project, id, { signal })).data.items[0]!;

/** All that a person may set, for a request that replaces it. */
export function writableOf(file: File): NewFile {
  const { id: _, uploaded: _1, uploadedAt: _2, createdTime: _3, lastUpdatedTime: _4, ...writable } = file;
  return writable;
}

interface UploadOptions {
  readonly contentType: string;
  readonly overwrite: boolean;
  readonly signal: AbortSignal;
}

export async function openUpload(
  project: string,
  newFile: NewFile,
  { contentType, overwrite, signal }: UploadOptions,
): Promise<{ readonly fileId: number; readonly url: string }> {
  const headers = contentType === "" ? {} : { "X-Upload-Content-Type": contentType };
  const { data } = await postFilesInitupload(project, newFile, { overwrite }, { signal, headers });
  return { fileId: data.fileId, url: addressHere(data.uploadURL) };
}
