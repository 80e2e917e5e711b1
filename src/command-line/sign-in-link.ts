// One-time links to the console, and how they are printed.

/** The token is in the fragment, which browsers send to no server. */
export const signInLink = (baseUrl: string, token: string): string => `${baseUrl}/sign-in#token=${token}`;
