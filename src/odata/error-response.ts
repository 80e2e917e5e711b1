// Writes refusals as OData error responses: the platform's message, with the status as a string in `code`.
import { STATUS_CODES } from "node:http";
import type { Failure } from "../errors.ts";

export interface ODataErrorResponse {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * The body of an error of OData. `details[0].code` is the name of the error in the catalogue: `filter-syntax`
 * becomes `FilterSyntax` (docs/reference/odata.md#errors-of-odata).
 */
export function odataErrorOf({ failure, status, message }: Failure): ODataErrorResponse {
  const start = `HTTP ${status} ${STATUS_CODES[status]}`;
  const text = message.startsWith(start) ? message : `${start}: ${message}`;
  const reason = failure.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
  const error = { code: String(status), message: text, details: [{ code: reason, message }] };
  return {
    headers: {
      "OData-Version": "4.0",
      "Content-Type": "application/json;odata.metadata=minimal",
      ...(status === 401 && { "WWW-Authenticate": 'Basic realm="Millrace", Bearer' }),
    },
    body: JSON.stringify({ error }),
  };
}
