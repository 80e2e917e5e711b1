// How a file can be shown, by its first bytes, its name and its content type.

export type PreviewKind =
  /** `type` is the media type that the browser is given. */
  | { readonly kind: "image" | "svg" | "pdf"; readonly type: string }
  | { readonly kind: "text" | "csv" | "none" };

const images: readonly { readonly type: string; readonly begins: RegExp }[] = [
  { type: "image/png", begins: /^\x89PNG/ },
  { type: "image/jpeg", begins: /^\xff\xd8\xff/ },
  { type: "image/gif", begins: /^GIF8/ },
  { type: "image/webp", begins: /^RIFF[\s\S]{4}WEBP/ },
  { type: "image/avif", begins: /^[\s\S]{4}ftypavi[fs]/ },
  { type: "image/bmp", begins: /^BM[\s\S]{4}\0\0\0\0/ },
];

interface KnownFile {
  readonly name: string;
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** The bytes decide, because names and content types are those that someone wrote. */
export function previewKindOf({ name, contentType, bytes }: KnownFile): PreviewKind {
  const begin = String.fromCharCode(...bytes.subarray(0, 512));
  const image = images.find(({ begins }) => begins.test(begin));
  if (image) return { kind: "image", type: image.type };
  if (begin.startsWith("%PDF-")) return { kind: "pdf", type: "application/pdf" };
  if (!isText(bytes)) return { kind: "none" };
  if (/\.svg$/i.test(name) || /^image\/svg/i.test(contentType)) return { kind: "svg", type: "image/svg+xml" };
  if (/\.(csv|tsv)$/i.test(name) || /^text\/(csv|tab-separated-values)/i.test(contentType))
    return { kind: "csv" };
  return { kind: "text" };
}

/** Text has no control characters but white space; text of two bytes a character begins with a mark. */
function isText(bytes: Uint8Array): boolean {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true;
  return !bytes.some((byte) => byte < 32 && !whiteSpace.has(byte));
}

/** Tab, line feed, vertical tab, form feed, return, and the escape of colours in logs. */
const whiteSpace: ReadonlySet<number> = new Set([9, 10, 11, 12, 13, 27]);
