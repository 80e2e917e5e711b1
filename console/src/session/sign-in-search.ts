// The search parameters of the sign-in page.
import { wordIn } from "../lib/search-values.ts";

export interface SignInSearch {
  /** The address to open after the sign-in, below the base path. */
  readonly returnTo?: string;
  /** Why the person has to sign in: the session has ended. */
  readonly reason?: "ended" | undefined;
  /** The code of a failure of the identity provider, and its description. */
  readonly error?: string;
  readonly error_description?: string;
}

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** Ignores an address of another site: a link must not lead people away from here. */
export function signInSearch({ returnTo, ...search }: Record<string, unknown>): SignInSearch {
  const isOwn = typeof returnTo === "string" && /^\/(?![/\\])/.test(returnTo);
  const reason = wordIn(search["reason"], ["ended"]);
  const failure = { error: text(search["error"]), error_description: text(search["error_description"]) };
  return { ...(isOwn && { returnTo }), reason, ...failure };
}
