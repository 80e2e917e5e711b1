// Text as bytes in the encodings of data files.

type Encoding = "utf-8" | "latin1" | "windows-1252" | "utf-16le" | "utf-16be";

/** Code points of windows-1252 that are not those of ISO 8859-1, by their bytes from 80. */
const windows = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

export function encoded(text: string, encoding: Encoding): Buffer {
  switch (encoding) {
    case "utf-8":
      return Buffer.from(text);
    case "latin1":
      return Buffer.from(text, "latin1");
    case "windows-1252":
      return Buffer.from(Array.from(text, byteOf));
    case "utf-16le":
      return Buffer.from(text, "utf16le");
    case "utf-16be":
      return Buffer.from(text, "utf16le").swap16();
  }
}

function byteOf(character: string): number {
  const at = windows.indexOf(character);
  return at < 0 ? character.charCodeAt(0) : 0x80 + at;
}
