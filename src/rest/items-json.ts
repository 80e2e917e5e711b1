// The JSON of lists in pieces, so that writing a long one never holds up other requests for long.
import { bytesOrStream, textChunks } from "../lib/streams.ts";
import { limits } from "../limits.ts";
import type { BytesResponse, RouteResponse, StreamResponse } from "./route.ts";

const contentType = "application/json; charset=utf-8";

/** A list of fewer items is written at once, in a few milliseconds. */
const itemsAtOnce = 32;
/** Characters of items that are written at once, about: a text of one item costs twice the time. */
const textLength = 16 * 1024;

interface ItemsWrapper {
  readonly data?: { readonly items?: readonly unknown[] };
}

/** A list of many items as bytes, or as a stream if it is long; any other answer as it is. */
export async function inChunks(answer: RouteResponse): Promise<RouteResponse> {
  const { items, ...rest } = (answer as ItemsWrapper).data ?? {};
  if (items === undefined || items.length <= itemsAtOnce) return answer;
  return itemsTextResponse({ ...answer, data: { items: [], ...rest } }, [itemTexts(items)]);
}

/** The JSON of some items at a time, with commas between them. */
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
 * The JSON of `wrapper`, in which `items` is an empty list, with the items in it. A text is the JSON of one
 * item, or of several with commas between them. Fails as the batches do: after the response has begun, its
 * transfer is broken off.
 */
export async function itemsTextResponse(
  wrapper: object,
  batches: Iterable<Iterable<string>> | AsyncIterable<Iterable<string>>,
): Promise<BytesResponse | StreamResponse> {
  const [start, end] = splitAtItems(JSON.stringify(wrapper));
  const pieces = textChunks(listed(start, batches, end));
  return { contentType, ...(await bytesOrStream(pieces, limits.responsePieceBytes)) };
}

const emptyItems = '"items":[]';

/** Nothing that a caller chooses comes before the items. */
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
