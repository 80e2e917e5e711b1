// The session of the person at the console. The cookie is the server's: no key stays in the browser.
import { HttpError } from "@oazapfts/runtime";
import { queryOptions, useSuspenseQuery } from "@tanstack/react-query";
import { createContext, use } from "react";
import { baseUrl } from "../api/base.ts";
import { defaults, type Group } from "../api/generated.ts";
import { asMember, type SeenGroup, seenGroupId, setSeenGroup } from "./see-as.ts";

export interface Session {
  /** A user of the identity provider has no account, and so no id. */
  readonly account: { readonly id?: number; readonly name: string };
  /** The URL name of the project. */
  readonly project: string;
  readonly capabilities: Group["capabilities"];
  readonly isAdministrator: boolean;
  /** In ms since 1970. */
  readonly expiresTime: number;
  /** The group whose rights the pages show; the other members are then those of a member of it. */
  readonly seenAs?: { readonly id: number; readonly name: string };
}

export interface SignInOptions {
  readonly project: string;
  readonly identityProviders: readonly { readonly name: string; readonly loginUrl: string }[];
}

/** A person signs in with an API key, or the token of a one-time link. */
export type SignInSecret = { readonly apiKey: string } | { readonly token: string };

/** The session, or null without a sign-in. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: async () => {
    try {
      return await withSeenGroup(await send<Session>("GET", "/session"));
    } catch (problem) {
      if (problem instanceof HttpError && problem.status === 401) return null;
      throw problem;
    }
  },
  staleTime: 60_000,
});

export const signInOptionsQuery = queryOptions({
  queryKey: ["session", "options"],
  queryFn: () => send<SignInOptions>("GET", "/session/options"),
});

export const signIn = (secret: SignInSecret): Promise<Session> => send("POST", "/session", secret);

export const signOut = (): Promise<void> => send("DELETE", "/session");

/** For the frame around the pages, which the router shows to people who are signed in. Null after the end. */
export const useSessionData = (): Session | null => useSuspenseQuery(sessionQuery).data;

/** The frame provides it: a query of their own in the 200 parts that use it takes 0.5 ms of each render. */
export const SessionContext = createContext<Session | undefined>(undefined);

/** The session, inside of the frame. */
export function useSession(): Session {
  const session = use(SessionContext);
  if (!session) throw new Error("The part is not inside of the frame.");
  return session;
}

/** The project's URL name, the first argument of each function of the generated client. */
export const useProject = (): string => useSession().project;

/** Ends "see as this group" for people who may not use it, and when the group was deleted. */
async function withSeenGroup(session: Session): Promise<Session> {
  const id = seenGroupId();
  if (id === undefined) return session;
  const group = session.isAdministrator ? await readGroup(session.project, id) : undefined;
  if (group) return asMember(session, group);
  setSeenGroup(undefined);
  return session;
}

/** Reads the group with the rights of the session itself. */
async function readGroup(project: string, id: number): Promise<SeenGroup | undefined> {
  const path = `/api/0.6/projects/${encodeURIComponent(project)}/groups/${id}`;
  try {
    const { data } = await send<{ data: { items: (SeenGroup & { isDeleted: boolean })[] } }>("GET", path);
    return data.items.find(({ isDeleted }) => !isDeleted);
  } catch (problem) {
    if (problem instanceof HttpError && problem.status === 404) return undefined;
    if (problem instanceof HttpError && problem.status === 400) return undefined;
    throw problem;
  }
}

async function send<Result>(method: string, path: string, body?: unknown): Promise<Result> {
  const response = await defaults.fetch!(`${baseUrl()}${path}`, {
    method,
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { "Content-Type": "application/json" },
    }),
  });
  const text = await response.text();
  if (!response.ok) throw new HttpError(response.status, text, response.headers);
  return (text === "" ? undefined : JSON.parse(text)) as Result;
}
