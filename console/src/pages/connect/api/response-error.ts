// The message of a refusal, and the fields of the request that it names.

export interface ResponseError {
  readonly message: string;
  readonly fields: readonly string[];
}

/** Parses the body of an error of the API; undefined when it is none. */
export function errorIn(text: string): ResponseError | undefined {
  const error = membersOf(text);
  if (typeof error?.message !== "string") return undefined;
  const named = /^(?:Invalid|Unknown) fields? - (.+?) - |^(\S+) may hold at most/.exec(error.message);
  const fields = error.missingFields ?? (named?.[1] ?? named?.[2])?.split(/, | and /) ?? [];
  return { message: error.message, fields };
}

interface ErrorMembers {
  readonly message?: unknown;
  readonly missingFields?: readonly string[];
}

function membersOf(text: string): ErrorMembers | undefined {
  try {
    return (JSON.parse(text) as { readonly error?: ErrorMembers } | null)?.error;
  } catch {
    return undefined;
  }
}
