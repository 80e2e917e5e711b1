// Serializes lists in chunks, so that a long one does not block other requests.
import { bytesOrStream, textChunks } from "../lib/streams.ts";
import { limits } from "../limits.ts";
import type { BytesResponse, RouteResponse, StreamResponse } from "./route.ts";

const contentType = "application/json; charset=utf-8";

/** A list of fewer items is serialized at once, in a few milliseconds. */
const itemsAtOnce = 32;
/** The approximate characters of a chunk: chunks of one item each take twice the time. */
const textLength = 16 * 1024;

interface ItemsWrapper {
  readonly data?: { readonly items?: readonly unknown[] };
}

/** Converts a list of many items to bytes, or to a stream if it is long; undefined for other responses. */
export function inChunks(response: RouteResponse): Promise<BytesResponse | StreamResponse> | undefined {
  const { data } = response as ItemsWrapper;
  if (data?.items === undefined || data.items.length <= itemsAtOnce) return undefined;
  const { items, ...rest } = data;
  return itemsTextResponse({ ...response, data: { items: [], ...rest } }, [itemTexts(items)]);
}

/** The JSON of a few items at a time, with commas between them. */
export function* itemTexts(items: readonly unknown[]): Generator<string> {
  let count = 1;
  for (let at = 0; at < items.length; ) {
    const text = JSON.stringify(items.slice(at, at + count)).slice(1, -1);
    yield text;
    at += count;
    count = Math.max(1, Math.min(itemsAtOnce, Math.floor((count * textLength) / text.length)));
  }
}

/**
 * The JSON of `wrapper` with the items in its empty list `items`. A string is the JSON of one item, or of
 * several with commas between them. If a batch fails after the response has started, the connection is
 * closed.
 */
export async function itemsTextResponse(
  wrapper: object,
  batches: Iterable<Iterable<string>> | AsyncIterable<Iterable<string>>,
): Promise<BytesResponse | StreamResponse> {
  const [start, end] = splitAtItems(JSON.stringify(wrapper));
  const chunks = textChunks(listed(start, batches, end));
  return { contentType, ...(await bytesOrStream(chunks, limits.responseChunkBytes)) };
}

const emptyItems = '"items":[]';

/** No value of a caller precedes the items, so the first match is the list. */
function splitAtItems(wrapper: string): readonly [start: string, end: string] {
  const at = wrapper.indexOf(emptyItems) + emptyItems.length - 1;
  return [wrapper.slice(0, at), wrapper.slice(at)];
}

async function* listed(
  start: string,
  batches: Iterable<Iterable<string>> | AsyncIterable<Iterable<string>>,
  end: string,
): AsyncGenerator<Iterable<string>> {
  let comma = "";
  function* withCommas(batch: Iterable<string>): Generator<string> {
    for (const text of batch) {
      yield comma + text;
      comma = ",";
    }
  }
  yield [start];
  for await (const batch of batches) yield withCommas(batch);
  yield [end];
}
