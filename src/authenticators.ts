// Opens the authenticators of keys, of tokens of identity providers, and of logins in a browser.
import type { Logger } from "pino";
import { Authenticator } from "./access/authenticator.ts";
import { BrowserLogin } from "./access/browser-login.ts";
import { EndedSessions } from "./access/ended-sessions.ts";
import { LoginDirectory } from "./access/login-directory.ts";
import { OwnTokens } from "./access/own-tokens.ts";
import { ProgramTokens } from "./access/program-tokens.ts";
import { providerFetch } from "./access/provider-connection.ts";
import { Throttle } from "./access/throttle.ts";
import { Tokens } from "./access/tokens.ts";
import type { Settings } from "./config.ts";
import type { Services } from "./context.ts";
import { observeCatalog } from "./foreign-changes.ts";
import { addressPolicy } from "./lib/address-policy.ts";
import { loginProjects } from "./resources/projects/projects.ts";
import type { Authenticators } from "./rest/route.ts";

interface AuthenticatorSettings {
  readonly settings: Settings;
  /** 32 bytes that only this installation knows. */
  readonly secretFor: (purpose: string) => Uint8Array;
  readonly log: Logger;
}

/** Opens the authenticators of keys, tokens, and logins in a browser. */
export async function openAuthenticators(
  services: Services,
  { settings, secretFor, log }: AuthenticatorSettings,
): Promise<Authenticators> {
  const { system, keys, rights, sessions, baseUrl } = services;
  const onProblem = (problem: unknown) =>
    log.warn({ err: problem }, "A request to an identity provider failed");
  const fetch = providerFetch({ isAllowed: addressPolicy(settings.outboundNetworks) });
  const directory = new LoginDirectory({
    ...{ rights, system, fetch, onProblem },
    load: () => loginProjects(services),
  });
  const own = new OwnTokens(secretFor("tokens"), system);
  const ended = new EndedSessions(services);
  await ended.load();
  observeCatalog(services.catalog, { ...services, ended }, system);
  const tokens = new Tokens({ directory, own, ended, system });
  const programTokens = new ProgramTokens({ own, keys, rights, system });
  const throttle = new Throttle(settings.attemptsPerMinute, system);
  const authenticator = new Authenticator({
    keys,
    tokens,
    programTokens,
    throttle,
    ended,
    rights,
    sessions,
    ...(baseUrl !== undefined && { baseUrl }),
  });
  const loginSecret = secretFor("logins");
  const browserLogin = new BrowserLogin({
    directory,
    tokens,
    own,
    rights,
    system,
    fetch,
    secret: loginSecret,
    onProblem,
  });
  return { authenticator, browserLogin, programTokens, sessions, consoleProject: settings.project };
}
