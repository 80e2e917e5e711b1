// Port: finds the strings of a drawing that may be tags, with their places.
//
// Contract. For any bytes, `read` takes bounded time and memory, and rejects with a
// `DrawingProblem` or with the reason of the signal; any other error is one of the server.

export type DrawingFormat = "svg" | "pdf";

/** A string of a drawing, in fractions of the width and height of its page. */
export interface DrawingTag {
  /** From 1. */
  readonly page: number;
  readonly tag: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface DrawingRequest {
  readonly format: DrawingFormat;
  readonly bytes: AsyncIterable<Uint8Array>;
  /** The caller, for a fair order of waiting requests. */
  readonly project: string;
}

/** The bytes are no such drawing, or reading them goes beyond a bound. */
export class DrawingProblem extends Error {}

export interface DrawingReader {
  read(request: DrawingRequest, signal: AbortSignal): Promise<readonly DrawingTag[]>;
}
