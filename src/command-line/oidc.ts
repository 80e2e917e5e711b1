// `millrace oidc`: sets and shows the identity provider of a project, also while a server runs on it.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type Authentication, checkAuthentication, type Provider, providerOf } from "../access/provider.ts";
import { describeProvider, providerFetch, usableKeysIn } from "../access/provider-connection.ts";
import type { Settings } from "../config.ts";
import { StartRefused } from "../data-folder.ts";
import { Failure } from "../errors.ts";
import { addressPolicy } from "../lib/address-policy.ts";
import { setAuthentication } from "../resources/projects/projects.ts";
import { withProject } from "./beside-server.ts";
import { type Command, Misused } from "./command.ts";

const options = {
  project: { type: "string" },
  issuer: { type: "string" },
  "client-id": { type: "string" },
  "client-secret": { type: "string" },
  "client-secret-file": { type: "string" },
  audience: { type: "string", multiple: true },
  "groups-claim": { type: "string" },
  redirect: { type: "string", multiple: true },
  domain: { type: "string", multiple: true },
  scope: { type: "string" },
} as const;

type Given = ReturnType<typeof parseArgs<{ options: typeof options }>>["values"];

export const oidc: Command = {
  usage: `Usage: millrace oidc set [--project NAME] --issuer ADDRESS --client-id ID [OPTION]...
       millrace oidc show [--project NAME]

Sets by which OpenID Connect provider people log in to a project, after asking the provider whether it fits.
What is not given stays as it was, but another issuer needs its secret anew; a list that is given replaces the
old one. A running server knows within a second. The project is that of --project, else of MILLRACE_PROJECT,
else "default".

  --issuer ADDRESS           the provider, as it calls itself in its tokens
  --client-id ID             what the provider knows Millrace by
  --client-secret-file FILE  holds the secret for that; --client-secret TEXT would show it to others here
  --audience TEXT            whom tokens are for, instead of the client id; may be repeated
  --groups-claim NAME        the claim that lists a user's groups ("groups"), also as realm_access.roles
  --redirect ADDRESS         where a browser may be sent with tokens; one with a slash at its end allows all
                             below it; may be repeated
  --domain NAME              lets in these e-mail domains alone; may be repeated, "" lets in all
  --scope TEXT               what a login asks for ("openid profile email")

At the provider, allow the address MILLRACE_BASE_URL/login/callback. docs/operations.md has an example.`,
  async run(words) {
    const { positionals, values } = parseArgs({ args: [...words], options, allowPositionals: true });
    const [name = "", ...more] = positionals;
    if (more.length > 0) throw new Misused(`"${more[0]}" is one word too many.`);
    if (name !== "set" && name !== "show")
      throw new Misused(name === "" ? "What should be done?" : `There is no "oidc ${name}".`);
    await withProject(values.project, async ({ settings, ...services }, project) => {
      if (name === "show") return show(project.urlName, project.authentication);
      const authentication = changed(project.authentication ?? {}, values);
      await checkProvider(authentication, settings);
      await setAuthentication(services, project.id, authentication);
      console.log(`People log in to project ${project.urlName} by this provider from now on.`);
    });
    return 0;
  },
};

/** The record with what was given on the command line. */
function changed(old: Authentication, given: Given): Authentication {
  const secret = secretIn(given);
  const openIdConfiguration = {
    ...old.openIdConfiguration,
    ...(given.issuer !== undefined && { issuer: given.issuer }),
    ...(given.audience && { audiences: given.audience }),
    ...(given["groups-claim"] !== undefined && { groupsClaim: given["groups-claim"] }),
    ...(given.redirect && { redirectUrls: given.redirect }),
    ...(given.scope !== undefined && { scope: given.scope }),
  };
  const isMoved = given.issuer !== undefined && given.issuer !== providerOf(old)?.issuer;
  const { clientSecret, ...known } = old.oAuth2Configuration ?? {};
  const oAuth2Configuration = {
    ...known,
    ...(clientSecret !== undefined && !isMoved && { clientSecret }),
    ...(given["client-id"] !== undefined && { clientId: given["client-id"] }),
    ...(secret !== undefined && { clientSecret: secret }),
  };
  return {
    protocol: "oauth2",
    ...old,
    ...(given.domain && { validDomains: given.domain.filter((one) => one !== "") }),
    ...(Object.keys(oAuth2Configuration).length > 0 && { oAuth2Configuration }),
    openIdConfiguration,
  };
}

function secretIn(given: Given): string | undefined {
  const file = given["client-secret-file"];
  if (file === undefined) return given["client-secret"];
  try {
    return readFileSync(file, "utf8").trim();
  } catch (problem) {
    throw new StartRefused(`Cannot read the secret: ${(problem as Error).message}`);
  }
}

/** Asks the provider; `StartRefused` when its tokens could not be checked. */
async function checkProvider(authentication: Authentication, { outboundNetworks }: Settings): Promise<void> {
  try {
    checkAuthentication(authentication, "authentication");
  } catch (problem) {
    throw problem instanceof Failure ? new StartRefused(`${problem.message}. Nothing was saved.`) : problem;
  }
  const provider = providerOf(authentication);
  if (!provider) throw new Misused("A provider needs an --issuer and a --client-id (or an --audience).");
  const fetch = providerFetch({ isAllowed: addressPolicy(outboundNetworks), failsFast: true });
  const { metadata, keys } = await describeProvider(provider.issuer, fetch).catch((problem: Error) => {
    const { message, cause } = problem;
    const reason = cause instanceof Error ? `${message}: ${cause.message}` : message;
    throw new StartRefused(`The provider ${provider.issuer} does not fit: ${reason}. Nothing was saved.`);
  });
  const usable = await usableKeysIn(keys, provider);
  if (usable === 0)
    throw new StartRefused(
      `The provider ${provider.issuer} has no key to check tokens with: none is for signing with one of
${provider.algorithms.join(", ")}. Nothing was saved.`,
    );
  console.log(`The provider answers, with ${usable} ${usable === 1 ? "key" : "keys"} to check tokens with.`);
  if (metadata.authorization_endpoint === undefined)
    console.log("It has no page to log in with; tokens that people have from elsewhere are checked.");
}

function show(project: string, authentication: Authentication | undefined): void {
  const provider = providerOf(authentication);
  if (!provider) console.log(`The project ${project} has no identity provider.`);
  for (const [name, value] of provider ? linesOf(provider) : [])
    console.log(`${name.padEnd(15)} ${value || "-"}`);
}

const linesOf = (provider: Provider): [name: string, value: string][] => [
  ["issuer", provider.issuers.join(" ")],
  ["client id", provider.clientId ?? ""],
  ["client secret", provider.clientSecret === undefined ? "" : "(set)"],
  ["audiences", provider.audiences.join(" ")],
  ["groups claim", provider.groupsClaim],
  ["redirects", provider.redirectUrls.join(" ")],
  ["domains", provider.validDomains.join(" ") || "(all)"],
  ["algorithms", provider.algorithms.join(" ")],
  ["scope", provider.scope],
];
