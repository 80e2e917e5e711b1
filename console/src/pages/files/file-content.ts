// Reads the bytes of a file by a download link, which needs no credentials and expires in minutes.
import { HttpError } from "@oazapfts/runtime";
import { defaults, getFilesByFileIdDownloadlink } from "../../api/generated.ts";
import { addressHere } from "../../lib/address-here.ts";

export interface FileStart {
  /** The first bytes; all of a short file. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The size of the whole file. */
  readonly size: number;
  readonly contentType: string;
}

async function linkTo(project: string, id: number, signal?: AbortSignal): Promise<string> {
  const { data } = await getFilesByFileIdDownloadlink(project, id, signal ? { signal } : {});
  return addressHere(data);
}

/** Saves the file through the browser's own download, which can pause and continue. */
export async function download(project: string, id: number): Promise<void> {
  const link = document.createElement("a");
  link.href = await linkTo(project, id);
  link.click();
}

interface ReadOptions {
  readonly id: number;
  readonly bytesMax: number;
  readonly signal: AbortSignal;
}

export async function readStart(project: string, { id, bytesMax, signal }: ReadOptions): Promise<FileStart> {
  const headers = { Range: `bytes=0-${bytesMax - 1}` };
  const response = await fetchLink(await linkTo(project, id, signal), { headers, signal });
  const contentType = response.headers.get("Content-Type") ?? "";
  const emptyFile = 416;
  if (response.status === emptyFile) return { bytes: new Uint8Array(), size: 0, contentType };
  const bytes = new Uint8Array(await response.arrayBuffer());
  const [, size] = /\/(\d+)$/.exec(response.headers.get("Content-Range") ?? "") ?? [];
  return { bytes, size: size === undefined ? bytes.length : Number(size), contentType };
}

export async function readAll(project: string, id: number, signal: AbortSignal): Promise<ArrayBuffer> {
  const response = await fetchLink(await linkTo(project, id, signal), { signal });
  return response.arrayBuffer();
}

async function fetchLink(url: string, init: RequestInit): Promise<Response> {
  const response = await defaults.fetch!(url, { ...init, credentials: "omit" });
  if (!response.ok && response.status !== 416)
    throw new HttpError(response.status, await response.text(), response.headers);
  return response;
}
