// Turns failures of requests into messages with a remedy.
import { HttpError } from "@oazapfts/runtime";

/** The text of a failure for people: a refusal, a lost connection, or a fault of the console. */
export function messageOf(problem: unknown): string {
  if (problem instanceof HttpError) return refusalOf(problem);
  if (problem instanceof TypeError || problem instanceof RangeError || problem instanceof ReferenceError)
    return `This is a fault of the console: ${problem.message}. Load the page again, and please report it.`;
  return problem instanceof Error ? problem.message : String(problem);
}

/** The same with a full stop, for another sentence after it. */
export const sentenceOf = (problem: unknown): string => messageOf(problem).replace(/[^.!?]$/, "$&.");

/** The message of the server about a failure; undefined if there was no response, or a proxy responded. */
export function serverMessageOf(problem: unknown): string | undefined {
  if (!(problem instanceof HttpError)) return undefined;
  const { data } = problem;
  const body: unknown = typeof data === "string" ? parsed(data) : data;
  const message = (body as { error?: { message?: unknown } } | undefined)?.error?.message;
  return typeof message === "string" ? message : undefined;
}

/** The HTTP status of a failure; undefined when there was no response. */
export const statusOf = (problem: unknown): number | undefined =>
  problem instanceof HttpError ? problem.status : undefined;

function refusalOf(problem: HttpError): string {
  const { status } = problem;
  const message = serverMessageOf(problem);
  if (message !== undefined) return message;
  if (status === 403) return "You may not do this.";
  return `The server responded with status ${status}. ${status >= 500 ? afterServerError : ""}`.trimEnd();
}

/** For responses of a proxy, and of a server that is starting: they have no text of their own. */
const afterServerError =
  "Try again in a minute. If it happens again, an administrator finds the reason in the log of the server.";

/** The value of a JSON text; undefined for another text. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Why a part of a page shows no records of this kind; for a person without the right it is no fault. */
export const unreadText = (records: string, problem: unknown): string =>
  statusOf(problem) === 403 ? `You may not read ${records}.` : messageOf(problem);
