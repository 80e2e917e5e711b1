// The uploads of this window: some run at a time, and each can be paused, continued and cancelled.
import { statusOf } from "../api/errors.ts";
import { deleteFilesByFileId, type File as FileRecord, type NewFile } from "../api/generated.ts";
import { findFile, openUpload, readFile, writableOf } from "./file-records.ts";
import { readUploads, type StoredUpload, storeUploads } from "./stored-uploads.ts";
import { readProgress, sendBytes, withRetries } from "./transfer.ts";

/** `lost`: the page was loaded again, or the file changed; the person has to choose the file again. */
export type UploadStatus = "waiting" | "running" | "offline" | "paused" | "lost" | "failed" | "done";

export interface Upload extends Omit<StoredUpload, "fileId" | "url"> {
  readonly status: UploadStatus;
  /** The bytes that the server has. */
  readonly received: number;
  readonly file?: File | undefined;
  readonly fileId?: number;
  readonly url?: string | undefined;
  /** Why the upload failed or waits to try again. */
  readonly problem?: unknown;
  /** The upload failed because this file is complete; it can replace its bytes. */
  readonly taken?: FileRecord | undefined;
}

export interface UploadRequest {
  readonly newFile: NewFile;
  readonly file: File;
  /** Whether the upload may replace the bytes of a file of the same folder and name. */
  readonly overwrite: boolean;
  /** The file that gets the bytes. Its record stays as it is; `newFile` only names it for people. */
  readonly ofFileId?: number | undefined;
}

/** More uploads at a time are not faster, and leave fewer connections for the pages. */
const runningMax = 2;

export const isUnfinished = ({ status }: Upload): boolean =>
  status === "waiting" || status === "running" || status === "offline";

export class UploadQueue {
  readonly #project: string;
  readonly #onStored: () => void;
  readonly #running = new Map<string, AbortController>();
  readonly #listeners = new Set<() => void>();
  #uploads: readonly Upload[];

  /** `onStored` runs when the server has changed files. */
  constructor(project: string, onStored: () => void) {
    this.#project = project;
    this.#onStored = onStored;
    this.#uploads = readUploads(project).map((upload) => ({ ...upload, status: "lost", received: 0 }));
  }

  readonly uploads = (): readonly Upload[] => this.#uploads;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Reads how far the uploads came before the page was loaded again. */
  async open(): Promise<void> {
    const lost = this.#uploads.filter(({ status }) => status === "lost");
    for (const { id, url, size } of lost)
      try {
        const { received, isComplete } = await readProgress(url!, size, new AbortController().signal);
        this.#change(id, isComplete ? { ...complete, received } : { received });
      } catch (problem) {
        if (isRefused(problem)) this.#change(id, { ...refused, problem });
      }
  }

  /** Stops the running uploads. The bytes that the server has stay there. */
  close(): void {
    for (const upload of this.#uploads.filter(isUnfinished)) this.pause(upload.id);
  }

  add(requests: readonly UploadRequest[]): void {
    const added = requests.map(
      ({ newFile, file, overwrite, ofFileId }): Upload => ({
        ...{ id: crypto.getRandomValues(new Uint32Array(2)).join("-"), newFile, file, overwrite, ofFileId },
        ...{ size: file.size, lastModified: file.lastModified, isNew: false, status: "waiting", received: 0 },
      }),
    );
    // A file that is dropped again after a reload continues its upload.
    for (const upload of added) {
      const lost = this.#uploads.find((one) => one.status === "lost" && isSameFile(one, upload));
      if (lost) this.giveFile(lost.id, upload.file!);
      else this.#set([...this.#uploads, upload]);
    }
    this.#fill();
  }

  pause(id: string): void {
    this.#change(id, { status: "paused" });
    this.#running.get(id)?.abort();
  }

  resume(id: string): void {
    this.#change(id, { status: "waiting", problem: undefined, taken: undefined });
    this.#fill();
  }

  /** Uploads to a complete file, whose bytes stay until the new ones are complete. */
  replace(id: string): void {
    this.#change(id, { overwrite: true });
    this.resume(id);
  }

  /** Continues with the file that the person chose again, if it has the same size. */
  giveFile(id: string, file: File): void {
    if (this.#find(id).size !== file.size) {
      const problem = new Error(`${file.name} has another size.`);
      this.#change(id, { problem });
      return;
    }
    this.#change(id, { file });
    this.resume(id);
  }

  /** Deletes the file's record if the upload created it. */
  async cancel(id: string): Promise<void> {
    this.#running.get(id)?.abort();
    const upload = this.#uploads.find((one) => one.id === id);
    this.#set(this.#uploads.filter((one) => one !== upload));
    if (!upload?.isNew || upload.status === "done") return;
    await deleteFilesByFileId(this.#project, upload.fileId!).catch(unlessUnknown);
    this.#onStored();
  }

  clearDone(): void {
    this.#set(this.#uploads.filter(({ status }) => status !== "done"));
  }

  /** Stops all uploads and forgets them, when the person signs out. */
  forget(): void {
    this.close();
    this.#set([]);
  }

  #fill(): void {
    for (const upload of this.#uploads) {
      if (this.#running.size >= runningMax) return;
      if (upload.status === "waiting" && !this.#running.has(upload.id)) void this.#run(upload);
    }
  }

  async #run({ id, file }: Upload): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    this.#running.set(id, controller);
    this.#change(id, { status: "running" });
    const onWaiting = (problem: unknown) => this.#change(id, { status: "offline", problem });
    try {
      await withRetries((onSuccess) => this.#transfer(id, { file: file!, signal, onSuccess }), {
        ...{ signal, onWaiting },
      });
      this.#change(id, complete);
      this.#onStored();
    } catch (problem) {
      if (!signal.aborted)
        this.#change(id, { ...(isRefused(problem) ? refused : failureOf(problem)), problem });
    } finally {
      this.#running.delete(id);
      this.#fill();
    }
  }

  async #transfer(
    id: string,
    { file, signal, onSuccess }: { file: File; signal: AbortSignal; onSuccess: () => void },
  ): Promise<void> {
    const url = this.#find(id).url ?? (await this.#start(id, file, signal));
    await sendBytes({
      ...{ url, file, signal },
      onProgress: ({ received }) => {
        onSuccess();
        if (!signal.aborted) this.#change(id, { status: "running", received, problem: undefined });
      },
    });
  }

  /**
   * Creates the file's record, or uses the one with this id, or the one of this folder and name. Returns the
   * link for the bytes. A record is read directly before, because the request replaces all of it.
   */
  async #start(id: string, file: File, signal: AbortSignal): Promise<string> {
    const { newFile, overwrite, ofFileId, isNew, fileId } = this.#find(id);
    const existing = await (ofFileId === undefined
      ? findFile(this.#project, newFile, signal)
      : readFile(this.#project, ofFileId, signal));
    if (existing?.uploaded && !overwrite) {
      this.#change(id, { taken: existing });
      throw new Error("The folder already has a file of this name.");
    }
    const record = existing && writableOf(existing);
    const opened = await openUpload(
      this.#project,
      ofFileId === undefined || !record ? { ...record, ...newFile } : record,
      { contentType: file.type, overwrite, signal },
    );
    const isOwn = existing === undefined || (isNew && existing.id === fileId);
    this.#change(id, { ...opened, isNew: isOwn });
    this.#onStored();
    return opened.url;
  }

  #find(id: string): Upload {
    const upload = this.#uploads.find((one) => one.id === id);
    if (!upload) throw new Error("The upload was cancelled.");
    return upload;
  }

  #change(id: string, part: Partial<Upload>): void {
    this.#set(this.#uploads.map((upload) => (upload.id === id ? { ...upload, ...part } : upload)));
  }

  #set(uploads: readonly Upload[]): void {
    const before = linked(this.#uploads);
    this.#uploads = uploads;
    const after = linked(uploads);
    if (after.length !== before.length || after.some((one, at) => one.url !== before[at]!.url))
      storeUploads(this.#project, after.map(storedOf));
    for (const listener of this.#listeners) listener();
  }
}

const complete = { status: "done", url: undefined, file: undefined } as const;
/** The server does not accept more bytes by this link: the next attempt begins at the first byte. */
const refused = { status: "failed", url: undefined, received: 0 } as const;

/** A failure without a response: the browser could not read the file. */
const failureOf = (problem: unknown) =>
  ({ status: problem instanceof DOMException ? "lost" : "failed" }) as const;

const isRefused = (problem: unknown): boolean => {
  const status = statusOf(problem);
  return status !== undefined && status < 500;
};

function unlessUnknown(problem: unknown): void {
  if (statusOf(problem) !== 404) throw problem;
}

type LinkedUpload = Upload & Pick<StoredUpload, "fileId" | "url">;

const linked = (uploads: readonly Upload[]): LinkedUpload[] =>
  uploads.filter((one): one is LinkedUpload => one.url !== undefined && one.fileId !== undefined);

const storedOf = ({ file: _, status: _1, received: _2, problem: _3, taken: _4, ...stored }: LinkedUpload) =>
  stored satisfies StoredUpload;

const isSameFile = (one: Upload, other: Upload): boolean =>
  one.size === other.size &&
  one.lastModified === other.lastModified &&
  one.newFile.fileName === other.newFile.fileName;
