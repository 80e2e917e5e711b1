// The links to files: PUT the bytes, whole or in chunks (docs/reference/files.md#uploading), and GET them.
import type { Services } from "../../context.ts";
import { fail } from "../../errors.ts";
import { required, text } from "../../rest/parameters.ts";
import { type LinkRequest, type LinkResponse, type LinkRoute, linkRoute } from "../../rest/route.ts";
import type { BlobKey, BlobLink, ByteRange } from "../../storage/blobs.ts";
import type { FileContent } from "./schema.ts";
import { contentTypeIn } from "./schemas.rest.ts";
import type { UploadRequest } from "./uploads/upload-body.ts";
import { contentToRead, receiveUpload } from "./uploads/uploads.ts";

const token = { token: required(text("Purpose, file, expiry and signature")) };

export const fileLinkRoutes: readonly LinkRoute[] = [
  linkRoute({
    method: "PUT",
    path: "/blobs/{token}",
    summary: "Upload the bytes of a file, or with Content-Range a chunk of them, or query the progress",
    parameters: token,
    responses: {
      200: "The file is complete",
      308: "Incomplete; Range contains the received bytes, and is absent when there are none",
    },
    handle: upload,
  }),
  linkRoute({
    method: "GET",
    path: "/blobs/{token}",
    summary: "Download the bytes of a file, or with Range a part of them",
    parameters: token,
    responses: {
      200: "All bytes",
      206: "The requested range",
      416: "The range starts after the end of the file",
    },
    handle: download,
  }),
];

type FileLinkRequest = LinkRequest<typeof token>;

async function upload(services: Services, request: FileLinkRequest): Promise<LinkResponse> {
  const key = keyIn(services, request, "upload");
  const { isComplete, received } = await receiveUpload(services, key, uploadRequestOf(request));
  if (isComplete) return { status: 200, headers: {}, json: {} };
  return { status: 308, headers: received === 0 ? {} : { Range: `bytes=0-${received - 1}` } };
}

/** The blob of the link. Refuses (403) a link that is forged, expired, or made for another purpose. */
function keyIn(
  { blobs, system }: Services,
  { path }: FileLinkRequest,
  purpose: BlobLink["purpose"],
): BlobKey {
  const link = blobs.readLink(path.token);
  if (link?.purpose !== purpose) throw fail("link-invalid", {});
  if (link.expiresMs < system.nowMs()) throw fail("link-expired", {});
  return link.key;
}

function uploadRequestOf({ headers, body }: FileLinkRequest): UploadRequest {
  const encoding = headers["content-encoding"];
  if (typeof encoding === "string" && !/^\s*(identity)?\s*$/i.test(encoding))
    throw fail("upload-packed", { encoding });
  const declared = headers["content-length"] === undefined ? undefined : Number(headers["content-length"]);
  const contentType = plainType(headers["content-type"]);
  const range = headers["content-range"];
  if (range === undefined)
    return { start: 0, length: declared, total: declared, isWhole: true, body: body, contentType };
  const { start, length, total } = contentRange(range);
  if (declared !== undefined && declared !== length && headers["transfer-encoding"] === undefined)
    throw fail("field-invalid", {
      field: "Content-Range",
      expected: `a range of ${declared} bytes, as the body has,`,
      got: `${range}`,
    });
  const isWhole = start === 0 && length > 0 && length === total;
  return { start, length, total, isWhole, body: body, contentType };
}

/** Form and binary types are the default of many clients and say nothing about the file. */
function plainType(sent: string | string[] | undefined): string | undefined {
  const type = contentTypeIn(sent);
  return /^application\/(octet-stream|x-www-form-urlencoded)/i.test(type ?? "") ? undefined : type;
}

/**
 * Parses `bytes 0-99/1000`, `bytes 0-99/*` if the total is unknown, and `bytes *\/1000`, which queries the
 * progress.
 */
function contentRange(sent: string | string[]): { start: number; length: number; total: number | undefined } {
  const found = /^bytes\s+(?:(\d{1,15})-(\d{1,15})|\*)\/(?:(\d{1,15})|\*)$/i.exec(`${sent}`.trim());
  const [, first, last, size] = found ?? [];
  const total = size === undefined ? undefined : Number(size);
  if (found && first === undefined) return { start: 0, length: 0, total };
  const [start, end] = [Number(first), Number(last) + 1];
  if (!found || end <= start || end > (total ?? end))
    throw fail("field-invalid", {
      field: "Content-Range",
      expected: "a range such as bytes 0-99/1000 or bytes */1000",
      got: `${sent}`,
    });
  return { start, length: end - start, total };
}

async function download(services: Services, request: FileLinkRequest): Promise<LinkResponse> {
  const key = keyIn(services, request, "download");
  const { file, bytes } = await contentToRead(services, key);
  const headers = {
    ...contentHeaders(file, key),
    "Accept-Ranges": "bytes",
  };
  const range = rangeIn(request.headers, `"${key.id}"`, bytes);
  if (range === "beyond") {
    const refusal = fail("range-beyond-end", { bytes });
    return { status: 416, headers: { "Content-Range": `bytes */${bytes}` }, refusal };
  }
  const piece = range ?? { start: 0, end: bytes };
  const length = piece.end - piece.start;
  const stream = request.isHead || length === 0 ? undefined : await services.blobs.open(key, piece);
  if (!request.isHead && length > 0 && !stream) throw fail("link-gone", {});
  return {
    status: range ? 206 : 200,
    headers: {
      ...headers,
      "Content-Length": `${length}`,
      ...(range && { "Content-Range": `bytes ${piece.start}-${piece.end - 1}/${bytes}` }),
    },
    ...(stream && { stream }),
  };
}

/** Browsers must download the file, not show or run it as a page of this server. */
const contentHeaders = (file: FileContent, key: BlobKey) => ({
  "Content-Type": file.contentType ?? "application/octet-stream",
  "Content-Disposition": `attachment; ${namedInHeader(file.name)}`,
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "sandbox",
  "Cache-Control": "private",
  ETag: `"${key.id}"`,
  "Last-Modified": new Date(file.uploadedTime ?? file.createdTime).toUTCString(),
});

/** The file name for old clients, and for clients that know RFC 8187. */
function namedInHeader(name: string): string {
  const ascii = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(name).replaceAll(/['()*]/g, percentEncoded);
  return `filename="${ascii}"; filename*=UTF-8''${encoded}`;
}

const percentEncoded = (mark: string) => `%${mark.charCodeAt(0).toString(16)}`;

/**
 * A single range. Several ranges, and a range of a file that has changed (`If-Range`), return all bytes.
 */
function rangeIn(
  headers: FileLinkRequest["headers"],
  tag: string,
  bytes: number,
): ByteRange | "beyond" | undefined {
  const condition = headers["if-range"];
  if (condition !== undefined && condition !== tag) return undefined;
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(`${headers["range"]}`.trim()) ?? [];
  if (first === "" && last === "") return undefined;
  if (first === "") {
    const count = Math.min(Number(last), bytes);
    return count === 0 ? "beyond" : { start: bytes - count, end: bytes };
  }
  const start = Number(first);
  if (last !== "" && Number(last) < start) return undefined;
  return start >= bytes ? "beyond" : { start, end: last === "" ? bytes : Math.min(Number(last) + 1, bytes) };
}
