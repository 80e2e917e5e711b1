// The search parameters of the sign-in page.

export interface SignInSearch {
  /** The address to open after the sign-in, below the base path. */
  readonly returnTo?: string;
}

/** Ignores an address of another site: a link must not lead people away from here. */
export function signInSearch({ returnTo }: Record<string, unknown>): SignInSearch {
  const isOwn = typeof returnTo === "string" && /^\/(?![/\\])/.test(returnTo);
  return isOwn ? { returnTo } : {};
}
