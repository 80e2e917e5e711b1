// Turns failures of requests into messages that say what to do.
import { HttpError } from "@oazapfts/runtime";

/** The text of a failure for people: what the server refused, or that it cannot be reached. */
export function messageOf(problem: unknown): string {
  if (problem instanceof HttpError) return refusalOf(problem);
  if (problem instanceof TypeError) return "The server cannot be reached. The console tries again by itself.";
  return problem instanceof Error ? problem.message : String(problem);
}

/** The HTTP status of a failure; undefined when there was no response. */
export const statusOf = (problem: unknown): number | undefined =>
  problem instanceof HttpError ? problem.status : undefined;

function refusalOf({ status, data }: HttpError): string {
  const body: unknown = typeof data === "string" ? parsed(data) : data;
  const message = (body as { error?: { message?: unknown } } | undefined)?.error?.message;
  if (typeof message === "string") return message;
  if (status === 403) return "You may not do this.";
  return `The server responded with status ${status}. ${status >= 500 ? afterServerError : ""}`.trimEnd();
}

/** For responses of a proxy, and of a server that is starting: they have no text of their own. */
const afterServerError =
  "Try again in a minute. If it happens again, an administrator finds the reason in the log of the server.";

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
