// Errors of an expression: their messages, and their places in its text.
import { HttpError } from "@oazapfts/runtime";
import { messageOf } from "../../api/errors.ts";

export interface Fault {
  readonly message: string;
  /** The index of the character in the expression. */
  readonly at: number | undefined;
}

interface Expression {
  readonly text: string;
  readonly aliases: readonly { readonly alias: string; readonly id: number }[];
}

/** The place that the server names; for a series that does not exist, the place of its alias or id. */
export function faultOf(problem: unknown, { text, aliases }: Expression): Fault | undefined {
  if (!problem) return undefined;
  const error = problem instanceof HttpError ? bodyOf(problem).error : undefined;
  if (error?.position !== undefined) return { message: plain(messageOf(problem)), at: error.position - 1 };
  const id = error?.notFound?.[0];
  if (id === undefined) return { message: messageOf(problem), at: undefined };
  return missingSeries(text, aliases.find((one) => one.id === id)?.alias ?? String(id));
}

/** The fault of an expression that names a series which does not exist for this person. */
export function missingSeries(text: string, name: string): Fault {
  const at = text.indexOf(`[${name}`);
  return { message: `There is no series ${name} that you may read.`, at: at === -1 ? undefined : at };
}

/** The fault as one sentence, with its place. */
export const faultText = ({ at, message }: Fault): string =>
  at === undefined ? message : `At character ${at + 1}: ${message}`;

interface ErrorBody {
  readonly error?: { readonly position?: number; readonly notFound?: readonly number[] };
}

const bodyOf = ({ data }: HttpError): ErrorBody =>
  (typeof data === "string" ? JSON.parse(data) : data) as ErrorBody;

/** Without the name of the field and without the place, which the editor shows. */
const plain = (message: string): string =>
  message
    .replace(/^Invalid field - items\[0\]\.function - /, "")
    .replace(/ at character \d+(?= but got)/, "");
