// A sheet of bytes that text is written on and that is cut off when it is long enough to send.

export class ByteSheet {
  bytes: Buffer;
  /** Where the next byte goes. */
  at = 0;

  constructor(sizeBytes: number) {
    this.bytes = Buffer.allocUnsafe(sizeBytes);
  }

  /** Makes sure that `count` more bytes fit. */
  room(count: number): void {
    if (this.at + count <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.at + count, this.bytes.length * 2));
    this.bytes.copy(larger, 0, 0, this.at);
    this.bytes = larger;
  }

  text(text: string): void {
    this.room(text.length * 3);
    this.at += this.bytes.write(text, this.at);
  }

  /** What was written, to be sent; the sheet goes on empty. */
  cut(): Buffer {
    const written = this.bytes.subarray(0, this.at);
    this.bytes = Buffer.allocUnsafe(this.bytes.length);
    this.at = 0;
    return written;
  }
}
