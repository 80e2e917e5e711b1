// Serves the console: the page for each of its addresses, and the files that the page loads.
//
// `npm run build` may make or replace the build while the server runs: the page is read for each request, and
// a file when it is first requested.
import { constants } from "node:fs";
import { type FileHandle, open, readdir } from "node:fs/promises";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, gzip, constants as zlib } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { fail } from "../errors.ts";
import { acceptsEncoding } from "../lib/media-types.ts";
import { limits } from "../limits.ts";

export interface ConsoleOptions {
  /** The folder of the build; there may be none. */
  readonly folder: string;
  /** The server's public address, whose path is the base path. */
  readonly baseUrl: string | undefined;
  readonly randomBytes: (size: number) => Uint8Array;
}

/** Adds the start page and the files. */
export function addConsole(http: FastifyInstance, options: ConsoleOptions): { readonly sendPage: SendPage } {
  const files = new StaticFiles(join(options.folder, "static"));
  const send: SendPage = (reply) => sendPage(reply, options);
  http.get("/", (_request, reply) => send(reply));
  http.get("/static/:name", { compress: false }, async (request, reply) => {
    const { name } = request.params as { readonly name: string };
    const file = await files.find(name);
    if (!file) throw fail("no-such-route", { method: request.method, path: `/static/${name}` });
    return sendFile(request, reply, { name, file });
  });
  return { sendPage: send };
}

/** Sends the page of the console, which then shows the record or page of the address. */
export type SendPage = (reply: FastifyReply) => Promise<FastifyReply>;

/** Whether a browser navigates to this address, and expects a page. */
export const wantsPage = ({ method, headers }: FastifyRequest): boolean =>
  (method === "GET" || method === "HEAD") && /\btext\/html\b/.test(headers.accept ?? "");

async function sendPage(reply: FastifyReply, options: ConsoleOptions): Promise<FastifyReply> {
  const page = await readRegularFile(join(options.folder, "index.html"));
  const nonce = Buffer.from(options.randomBytes(16)).toString("base64url");
  reply.type("text/html; charset=utf-8").headers({
    "Content-Security-Policy": policyWith(nonce),
    // With "no-referrer", browsers hide the origin of the page's own requests.
    "Referrer-Policy": "same-origin",
  });
  return reply.send(page ? withHead(page.toString(), options.baseUrl, nonce) : notBuilt);
}

/**
 * Scripts only from the server's own files. Styles also from elements with the nonce of this response, which
 * the component library adds. Images and frames of `blob:` addresses show downloaded files.
 */
const policyWith = (nonce: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "frame-src blob:",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");

/** Adds the settings of this server and the nonce of this response to the page. */
function withHead(page: string, baseUrl: string | undefined, nonce: string): string {
  const path = new URL(baseUrl ?? "http://-").pathname.replace(/\/*$/, "/");
  const base = `<base href="${path}">`;
  const head = `${base}<meta property="csp-nonce" nonce="${nonce}">`;
  return page.replace(/<head>/i, (tag) => tag + head);
}

const notBuilt = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Millrace</title></head>
<body>
<h1>The console is not built</h1>
<p>The server runs, and its API works. To build the console, run this in the folder of Millrace:</p>
<pre>npm run build</pre>
<p>Then load this page again.</p>
</body>
</html>
`;

interface StaticFile {
  readonly bytes: Buffer;
  /** The same bytes in the encodings that make them smaller. */
  readonly encoded: ReadonlyMap<Encoding, Buffer>;
}

type Encoding = "br" | "gzip";

/** Files are read once and shared by all responses, so that slow clients take no memory each. */
class StaticFiles {
  readonly #folder: string;
  readonly #known = new Map<string, Promise<StaticFile | undefined>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Undefined when the folder itself has no regular file of exactly this name. */
  find(name: string): Promise<StaticFile | undefined> {
    const known = this.#known.get(name);
    if (known) return known;
    const read = this.#read(name);
    this.#known.set(name, read);
    const forget = () => this.#known.delete(name);
    read.then((file) => file ?? forget(), forget);
    return read;
  }

  async #read(name: string): Promise<StaticFile | undefined> {
    // A file system that ignores case would find one file by many names, and each would be kept.
    const names = await readdir(this.#folder).catch((): string[] => []);
    const bytes = names.includes(name) ? await readRegularFile(join(this.#folder, name)) : undefined;
    if (!bytes) return undefined;
    const { isText } = typeOf(name);
    return { bytes, encoded: isText ? await encodingsOf(bytes) : new Map() };
  }
}

async function encodingsOf(bytes: Buffer): Promise<ReadonlyMap<Encoding, Buffer>> {
  const params = { [zlib.BROTLI_PARAM_QUALITY]: 9, [zlib.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  const [br, zipped] = await Promise.all([
    promisify(brotliCompress)(bytes, { params }),
    promisify(gzip)(bytes, { level: 9 }),
  ]);
  return new Map([
    ["br", br],
    ["gzip", zipped],
  ]);
}

/** Reads a file; undefined when there is none. A symbolic link does not count as a file. */
async function readRegularFile(path: string): Promise<Buffer | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (problem) {
    if (["ENOENT", "ENOTDIR", "ELOOP"].includes((problem as NodeJS.ErrnoException).code!)) return undefined;
    throw problem;
  }
  try {
    const stat = await handle.stat();
    if (!stat.isFile() || stat.size > limits.staticFileBytesMax) return undefined;
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

function sendFile(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { name, file }: { readonly name: string; readonly file: StaticFile },
): FastifyReply {
  const accepted = headers["accept-encoding"];
  const encoding = (["br", "gzip"] as const).find(
    (one) => acceptsEncoding(one, accepted) && file.encoded.has(one),
  );
  if (file.encoded.size > 0)
    reply.header("Vary", [reply.getHeader("Vary") ?? [], "Accept-Encoding"].flat().join(", "));
  if (encoding) reply.header("Content-Encoding", encoding);
  return reply
    .type(typeOf(name).type)
    .header("Cache-Control", hashedName.test(name) ? immutable : shortLived)
    .send(encoding ? file.encoded.get(encoding) : file.bytes);
}

/** The build puts a hash of the content into the name: `index-u0hJzu6m.js`. */
const hashedName = /-[\w-]{8}\.\w+$/;
const immutable = "public, max-age=31536000, immutable";
const shortLived = "public, max-age=300";

interface FileType {
  readonly type: string;
  /** Worth compressing. */
  readonly isText: boolean;
}

const types: Readonly<Record<string, FileType>> = {
  ".js": { type: "text/javascript; charset=utf-8", isText: true },
  ".css": { type: "text/css; charset=utf-8", isText: true },
  ".svg": { type: "image/svg+xml", isText: true },
  ".json": { type: "application/json; charset=utf-8", isText: true },
  ".txt": { type: "text/plain; charset=utf-8", isText: true },
  ".wasm": { type: "application/wasm", isText: true },
  ".png": { type: "image/png", isText: false },
  ".webp": { type: "image/webp", isText: false },
  ".ico": { type: "image/x-icon", isText: false },
  ".woff2": { type: "font/woff2", isText: false },
};

const typeOf = (name: string): FileType =>
  types[extname(name)] ?? { type: "application/octet-stream", isText: false };
