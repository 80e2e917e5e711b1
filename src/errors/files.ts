// Refusals about files: their names, uploads and links. Part of the catalogue of `src/errors.ts`.
import { entry, firstOf } from "./entry.ts";

export const fileFailures = {
  "file-exists": entry<{ names: readonly string[] }>({
    status: 409,
    when: "A file of this directory and name exists already, and the upload does not allow overwriting.",
    message: ({ names }) => `A file of this name exists in the directory already: ${firstOf(names)}`,
  }),
  "file-duplicates": entry<{
    duplicates: readonly { id?: number; source: string; sourceId: string }[];
  }>({
    status: 409,
    when: "Another file has this source and source id, or the request twice; `duplicates` lists them.",
    message: ({ duplicates }) =>
      `A file has this source and sourceId already: ${firstOf(
        duplicates.map(({ source, sourceId }) => `${source} ${sourceId}`),
      )}`,
    members: ({ duplicates }) => ({ duplicates }),
  }),
  "file-not-uploaded": entry<{ name: string }>({
    status: 400,
    when: "A file is downloaded before its bytes were uploaded.",
    message: ({ name }) => `The bytes of the file ${name} have not been uploaded yet`,
  }),
  "file-not-stored": entry<{ problem: string }>({
    status: 503,
    when: "The disk refused the bytes of a file, for example because it is full. The file is unchanged.",
    message: ({ problem }) => `The bytes were not stored (${problem}); free disk space, then send them again`,
  }),
  "file-store-away": entry<{ problem: string }>({
    status: 503,
    when: "The S3 store of files does not respond or refuses requests. Acknowledged bytes are kept.",
    message: ({ problem }) => `The store of files is not available (${problem}); try again later`,
  }),
  "link-invalid": entry<Record<string, never>>({
    status: 403,
    when: "An upload or download link is damaged or forged, or does not permit this use.",
    message: () => "This link is not valid; request a new one",
  }),
  "link-expired": entry<Record<string, never>>({
    status: 403,
    when: "An upload or download link is too old.",
    message: () => "This link has expired; request a new one",
  }),
  "link-gone": entry<Record<string, never>>({
    status: 404,
    when: "The file of a link was deleted or overwritten since, or its upload was abandoned.",
    message: () => "The file of this link does not exist any more",
  }),
  "upload-complete": entry<Record<string, never>>({
    status: 409,
    when: "Bytes are sent to an upload link whose file is complete.",
    message: () => "The file of this link has been uploaded already; request a new link to overwrite it",
  }),
  "upload-taken-over": entry<Record<string, never>>({
    status: 409,
    when: "Another request to the same upload link started during an upload, or the server stopped.",
    message: () => "Another request has taken over this upload",
  }),
  "upload-not-resumable": entry<Record<string, never>>({
    status: 400,
    when: "A part of a file is sent to a link that accepts only a whole file.",
    message: () => "This link accepts the whole file in one request; request a resumable link to send parts",
  }),
  "upload-packed": entry<{ encoding: string }>({
    status: 415,
    when: "The bytes of a file are sent with a Content-Encoding.",
    message: ({ encoding }) =>
      `Content-Encoding ${encoding} is not supported for files; send the bytes unencoded`,
  }),
  "range-beyond-end": entry<{ bytes: number }>({
    status: 416,
    when: "A download requests a range that starts beyond the end of the file.",
    message: ({ bytes }) => `The file has only ${bytes} bytes`,
  }),
} as const;
