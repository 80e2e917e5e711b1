// The JSON of lists in pieces, so that writing a long one never holds up other requests for long.
import { bytesOrStream, textPieces } from "../lib/streams.ts";
import { limits } from "../limits.ts";
import type { Answer, BytesAnswer, StreamAnswer } from "./route.ts";

const contentType = "application/json; charset=utf-8";

/** A list of fewer items is written at once, in a few milliseconds. */
const itemsAtOnce = 32;

interface ItemsWrapper {
  readonly data?: { readonly items?: readonly unknown[] };
}

/** A list of many items as bytes, or as a stream if it is long; any other answer as it is. */
export async function inPieces(answer: Answer): Promise<Answer> {
  const { items, ...rest } = (answer as ItemsWrapper).data ?? {};
  if (items === undefined || items.length <= itemsAtOnce) return answer;
  const texts = items.values().map((item) => JSON.stringify(item));
  return itemsTextAnswer({ ...answer, data: { items: [], ...rest } }, [texts]);
}

/**
 * The JSON of `wrapper`, in which `items` is an empty list, with the items whose JSON is given. Fails as the
 * batches do: after the response has begun, its transfer is broken off.
 */
export async function itemsTextAnswer(
  wrapper: object,
  batches: Iterable<Iterable<string>> | AsyncIterable<Iterable<string>>,
): Promise<BytesAnswer | StreamAnswer> {
  const [start, end] = splitAtItems(JSON.stringify(wrapper));
  const pieces = textPieces(listed(start, batches, end));
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
): AsyncGenerator<string> {
  yield start;
  let isFirst = true;
  for await (const batch of batches)
    for (const text of batch) {
      yield isFirst ? text : `,${text}`;
      isFirst = false;
    }
  yield end;
}
