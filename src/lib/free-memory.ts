// Frees the memory of buffers at once. Left to the garbage collector, it accumulates: a fast transfer of
// bytes leaves more than 60 MB, eight clients that read a million points leave more than 50 MB, and a shard
// that encodes blocks 30 MB.

/** Frees a buffer whole. Other views of it, if any, are empty afterwards. */
export function freeBuffer(buffer: ArrayBufferLike): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
}

/** V8 has smaller arrays on its heap. Reading their buffer would move them off it. */
const onHeapBytesMax = 64;

/** Frees the memory of bytes or of a column that are not used any more, unless others share it. */
export function freeChunk(chunk: ArrayBufferView): void {
  const { byteLength } = chunk;
  if (byteLength > onHeapBytesMax && chunk.buffer.byteLength === byteLength) freeBuffer(chunk.buffer);
}
