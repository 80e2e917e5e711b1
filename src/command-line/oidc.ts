// `millrace oidc`: sets and shows the identity provider of a project, also while a server runs.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type Authentication, checkAuthentication, type Provider, providerOf } from "../access/provider.ts";
import { describeProvider, providerFetch, usableKeysIn } from "../access/provider-connection.ts";
import type { Settings } from "../config.ts";
import { StartRefused } from "../data-folder.ts";
import { Failure } from "../errors.ts";
import { addressPolicy } from "../lib/address-policy.ts";
import { setAuthentication } from "../resources/projects/projects.ts";
import { audited } from "./audited.ts";
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

type OidcInput = ReturnType<typeof parseArgs<{ options: typeof options }>>["values"];

export const oidc: Command = {
  usage: `Usage: millrace oidc set [--project NAME] --issuer ADDRESS --client-id ID [OPTION]...
       millrace oidc show [--project NAME]

Sets the OpenID Connect provider of a project's logins, after a check that the provider works. Omitted options
keep their values, except that a new issuer needs its secret again and ends the settings of Azure AD; a list
replaces the old list. A running server sees the change within a second. The project is that of --project,
else MILLRACE_PROJECT, else "default".

  --issuer ADDRESS           the issuer of the provider's tokens
  --client-id ID             the client id of Millrace at the provider
  --client-secret-file FILE  a file with the client secret; other users could see --client-secret TEXT
  --audience TEXT            the audience of tokens, if it is not the client id; may be repeated
  --groups-claim NAME        the claim or path that lists a user's groups ("groups"): realm_access.roles
  --redirect ADDRESS         an address that browsers may be sent to with tokens; a slash at its end
                             allows all addresses below it; may be repeated
  --domain NAME              admits only users of this e-mail domain; may be repeated, "" admits all
  --scope TEXT               the scopes that a login requests ("openid profile email")

At the provider, allow the address MILLRACE_BASE_URL/login/callback. docs/login.md has an example.`,
  async run(words) {
    const { positionals, values } = parseArgs({ args: [...words], options, allowPositionals: true });
    const [name = "", ...more] = positionals;
    if (more.length > 0) throw new Misused(`Unexpected argument "${more[0]}".`);
    if (name !== "set" && name !== "show")
      throw new Misused(name === "" ? "Name an action: set or show." : `There is no action "oidc ${name}".`);
    await withProject(values.project, async ({ settings, ...services }, project) => {
      if (name === "show") return show(project.urlName, project.authentication);
      const authentication = changed(project.authentication ?? {}, values);
      await checkProvider(authentication, settings);
      const operation = {
        kind: "settings",
        action: "millrace oidc set",
        resource: "project",
        ids: [],
      } as const;
      await audited({ ...services, settings }, project, operation, () =>
        setAuthentication(services, project.id, authentication),
      );
      console.log(`Users log in to project ${project.urlName} by this provider now.`);
    });
    return 0;
  },
};

/** The authentication record with the changes of the command line. */
function changed(old: Authentication, input: OidcInput): Authentication {
  const secret = secretIn(input);
  const openIdConfiguration = {
    ...old.openIdConfiguration,
    ...(input.issuer !== undefined && { issuer: input.issuer }),
    ...(input.audience && { audiences: input.audience }),
    ...(input["groups-claim"] !== undefined && { groupsClaim: input["groups-claim"] }),
    ...(input.redirect && { redirectUrls: input.redirect }),
    ...(input.scope !== undefined && { scope: input.scope }),
  };
  const isMoved = input.issuer !== undefined && input.issuer !== providerOf(old)?.issuer;
  // They are of the old issuer, and have a secret that the new one must not get.
  const { azureADConfiguration: _, ...others } = old;
  const { clientSecret, ...known } = old.oAuth2Configuration ?? {};
  const oAuth2Configuration = {
    ...known,
    ...(clientSecret !== undefined && !isMoved && { clientSecret }),
    ...(input["client-id"] !== undefined && { clientId: input["client-id"] }),
    ...(secret !== undefined && { clientSecret: secret }),
  };
  return {
    protocol: "oauth2",
    ...(isMoved ? others : old),
    ...(input.domain && { validDomains: input.domain.filter((one) => one !== "") }),
    ...(Object.keys(oAuth2Configuration).length > 0 && { oAuth2Configuration }),
    openIdConfiguration,
  };
}

function secretIn(input: OidcInput): string | undefined {
  const file = input["client-secret-file"];
  if (file === undefined) return input["client-secret"];
  try {
    return readFileSync(file, "utf8").trim();
  } catch (problem) {
    throw new StartRefused(`Cannot read the secret: ${(problem as Error).message}`);
  }
}

/** Connects to the provider; throws `StartRefused` if Millrace could not verify its tokens. */
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
    throw new StartRefused(`The provider ${provider.issuer} cannot be used: ${reason}. Nothing was saved.`);
  });
  const usable = await usableKeysIn(keys, provider);
  if (usable === 0)
    throw new StartRefused(
      `The provider ${provider.issuer} has no key that can verify tokens, for signatures with one of
${provider.algorithms.join(", ")}. Nothing was saved.`,
    );
  console.log(
    `The provider responds and has ${usable} ${usable === 1 ? "key" : "keys"} to verify tokens with.`,
  );
  if (metadata.authorization_endpoint === undefined)
    console.log("It has no login page; Millrace accepts the tokens that users get in another way.");
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
