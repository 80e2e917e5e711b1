// Limits of requests and responses: sizes, memory, times.
import { limit } from "./limit.ts";

export const requestsLimits = {
  openBodyBytesMax: limit(
    16 * 2 ** 10,
    "bytes",
    "A request body, as sent and inflated, of an operation that needs no credentials or no body.",
  ),
  bodyBytesMax: limit(
    16 * 2 ** 20,
    "bytes",
    "A request body, as sent and inflated, of most operations. 10,000 names of any characters fit.",
  ),
  bulkBodyBytesMax: limit(
    64 * 2 ** 20,
    "bytes",
    "As `bodyBytesMax`, for operations that write many records, rows or points.",
  ),
  protobufBodyBytesMax: limit(
    8 * 2 ** 20,
    "bytes",
    "An insert of datapoints as protobuf: 100,000 numbers take 2 MiB.",
  ),
  entityBodyBytesMax: limit(
    8 * 2 ** 20,
    "bytes",
    "An insert of the entity-model interface: one raw row, with every character escaped.",
  ),
  inflationRatioMax: limit(
    256,
    "bytes",
    "Inflated bytes of a gzip body for each byte sent. Real bodies stay below 150.",
  ),
  inflationFreeBytes: limit(
    2 ** 20,
    "bytes",
    "Inflated bytes of a gzip body to which `inflationRatioMax` does not apply.",
  ),
  bodiesInFlightBytesMax: limit(
    192 * 2 ** 20,
    "bytes",
    "Memory of all bodies and their values together, besides `bodyReserveBytes`. Others wait.",
  ),
  clientBodiesBytesMax: limit(
    96 * 2 ** 20,
    "bytes",
    "The part of `bodiesInFlightBytesMax` for all bodies of one caller together.",
  ),
  bodyReserveBytes: limit(
    192 * 2 ** 20,
    "bytes",
    "Additional memory for one body, which completes even when others wait: its bytes, strings and values.",
  ),
  bodyBytesUncounted: limit(64 * 2 ** 10, "bytes", "A body up to this size never waits for larger ones."),
  frontBodyBytesMax: limit(
    2 * 2 ** 20,
    "bytes",
    "A body that a front thread receives. The main thread receives larger ones, and those of unknown length.",
  ),
  frontInflationMax: limit(
    8,
    "times",
    "How much longer than sent a front thread expects a compressed body to be.",
  ),
  forwardedHeadBytes: limit(
    2 ** 10,
    "bytes",
    "With front threads, the main thread accepts heads that are longer by so much.",
  ),
  frontLinesBytesMax: limit(
    384 * 2 ** 10,
    "bytes",
    "Inflated lines that a front thread writes, all at once. The main thread writes longer bodies.",
  ),
  frontDiskEveryMs: limit(250, "ms", "How often front threads learn whether the disk is full."),
  frontConnectEveryMs: limit(
    5,
    "ms",
    "How often a front thread tries to connect to the main thread while too many connections wait there.",
  ),
  portWaitMsMax: limit(
    2_000,
    "ms",
    "With front threads, how long a start waits for another server that is about to listen at its port.",
  ),
  frontThreadsMax: limit(64, "threads", "Front threads of one server."),
  bodyIdleMsMax: limit(
    20_000,
    "ms",
    "The time without new bytes of a body while the server could read them. Then it is refused with 408.",
  ),
  jsonValueBytes: limit(64, "bytes", "The memory that is reserved for each value of a JSON body."),
  jsonDepthMax: limit(64, "levels", "Nesting of a JSON body. A deeper body is refused."),
  jsonValuesMax: limit(
    1_000_000,
    "values",
    "Elements and members in a JSON body, except in the columns of raw rows. More are refused with 413.",
  ),
  jsonMembersMax: limit(10_000, "members", "Members of an object in a JSON body. More are refused with 413."),
  jsonStringBytesMax: limit(2 ** 20, "bytes", "One string in a JSON body. A longer one is refused with 413."),
  jsonTextBytesMax: limit(
    8 * 2 ** 20,
    "bytes",
    "The columns of one raw row or the definition of a trend, as sent. Longer ones are refused with 413.",
  ),
  jsonStepBytes: limit(
    16 * 2 ** 10,
    "bytes",
    "JSON that is parsed between two checks of the clock (about a millisecond).",
  ),
  itemsWithoutPause: limit(1_000, "items", "A request with more items first lets other requests run."),
  timeSliceMs: limit(5, "ms", "The time that long work takes before it lets other requests run."),
  readSliceMs: limit(
    2,
    "ms",
    "The time that all reads together have in each turn of the event loop. Then other requests run. " +
      "Sending the responses comes on top.",
  ),
  sendTogetherMs: limit(
    0.5,
    "ms",
    "How long a short response waits for others, to be sent with them. Work that is running then ends first.",
  ),
  sendTogetherBytesMax: limit(
    64 * 2 ** 10,
    "bytes",
    "A longer response of datapoints is sent at once, because a response that waits keeps its memory.",
  ),
  pathSegmentBytesMax: limit(12_288, "bytes", "One path segment, such as a series name, before decoding."),
  headBytesMax: limit(
    32 * 2 ** 10,
    "bytes",
    "The path and all headers of a request. Longer is refused with 431.",
  ),
  responsesInFlightBytesMax: limit(
    192 * 2 ** 20,
    "bytes",
    "Memory of all responses that are read or sent. Further large responses wait, and end with 503.",
  ),
  clientResponsesBytesMax: limit(
    128 * 2 ** 20,
    "bytes",
    "The part of that for one caller: two of the largest pages, or 32 lists while they are read.",
  ),
  responseReserveBytes: limit(
    64 * 2 ** 20,
    "bytes",
    "Additional memory for one response that waits: as much as the largest page takes.",
  ),
  responseBytesUncounted: limit(64 * 2 ** 10, "bytes", "A response up to this size never waits for others."),
  responseChunkBytes: limit(
    512 * 2 ** 10,
    "bytes",
    "A longer response is sent in chunks of about this size, as fast as its client reads them.",
  ),
  responseStreamBytes: limit(
    8 * 2 ** 20,
    "bytes",
    "Memory reserved for a streamed response of datapoints: its pages of points and its unsent chunks.",
  ),
  responseIdleMsMax: limit(
    30_000,
    "ms",
    "A response is aborted when its client reads nothing for this time. Networks recover sooner.",
  ),
  responseMsMax: limit(
    900_000,
    "ms",
    "The time in which a client must read a whole response. Then the response is aborted.",
  ),
  healthMsMax: limit(5_000, "ms", "The time that a store has to respond to `/health`."),
  refusalShownMs: limit(10_000, "ms", "How long `/health` reports a write that the disk refused."),
  retryAfterSeconds: limit(10, "s", "`Retry-After` of a 503 without a more exact figure."),
  requestMsMax: limit(
    120_000,
    "ms",
    "The deadline of a request until its response begins. Then it gets a 503.",
  ),
  receiveMsMax: limit(
    120_000,
    "ms",
    "The time a client may take to send a request. Then it is refused with 408.",
  ),
  shutdownMsMax: limit(
    10_000,
    "ms",
    "The time that a start, and then active requests, have to finish after SIGTERM.",
  ),
  staticFileBytesMax: limit(
    16 * 2 ** 20,
    "bytes",
    "A file of the console. The server keeps the files in memory and serves no larger one.",
  ),
  compressionBytesMin: limit(2_048, "bytes", "Smaller responses are never compressed with gzip."),
} as const;
