// Projects over REST (docs/reference/projects-and-login.md#projects): read and overwrite.
import { Type } from "typebox";
import { signingAlgorithms } from "../../access/provider.ts";
import { limits } from "../../limits.ts";
import { itemsResponse, itemsSchema } from "../../rest/envelope.ts";
import { idField, nameField, textField } from "../../rest/fields.ts";
import { apiVersions, type Route, route } from "../../rest/route.ts";
import { type Project, readProject, replaceProject, withoutSecrets } from "./projects.ts";

const azureMembers = {
  appId: Type.Optional(textField("Application id")),
  tenantId: Type.Optional(textField("Tenant id")),
  appResourceId: Type.Optional(textField("Resource id")),
};

const oAuth2Members = {
  loginUrl: Type.Optional(textField("The login URL for browsers")),
  logoutUrl: Type.Optional(textField("The logout URL for browsers")),
  tokenUrl: Type.Optional(textField("The token URL")),
  clientId: Type.Optional(textField("Client id")),
};

const authenticationMembers = {
  type: textField('Type of authentication, such as "AzureAD"'),
  protocol: textField('Protocol, such as "oauth2"'),
  validDomains: Type.Array(textField("A domain"), {
    description: "Empty: any user of the provider",
    maxItems: limits.validDomainsMax,
  }),
};

const openIdMembers = {
  openIdConfiguration: Type.Optional(
    Type.Object(
      {
        issuer: Type.Optional(textField("The URL of the OpenID Connect provider; not needed for Azure AD")),
        audiences: Type.Optional(
          Type.Array(textField("Audience"), {
            description: "The audience of tokens; default: the client id",
            maxItems: limits.audiencesMax,
          }),
        ),
        groupsClaim: Type.Optional(
          textField("The claim with the `sourceId`s of the user's groups; default `groups`"),
        ),
        redirectUrls: Type.Optional(
          Type.Array(textField("A URL; one that ends in a slash allows all URLs below it"), {
            description: "URLs to which browsers may be redirected with tokens",
            maxItems: limits.redirectUrlsMax,
          }),
        ),
        algorithms: Type.Optional(
          Type.Array(Type.Enum([...signingAlgorithms]), {
            description: "Allowed signature algorithms of tokens; default: all of these",
            maxItems: signingAlgorithms.length,
          }),
        ),
        scope: Type.Optional(textField("The scope of a login; default `openid profile email`")),
      },
      { description: "An extension of Millrace: settings without a member above" },
    ),
  ),
};

export const projectSchema = Type.Object(
  {
    name: Type.String(),
    urlName: Type.String(),
    defaultGroupId: Type.Optional(Type.Integer()),
    authentication: Type.Object(
      {
        ...authenticationMembers,
        ...openIdMembers,
        azureADConfiguration: Type.Optional(Type.Object(azureMembers)),
        oAuth2Configuration: Type.Optional(Type.Object(oAuth2Members)),
      },
      { description: "If no provider is set, type and protocol are empty and other members absent" },
    ),
  },
  { title: "Project" },
);

const projectContent = Type.Object({
  name: nameField("The name"),
  urlName: Type.Optional(Type.String({ description: "Cannot change" })),
  defaultGroupId: Type.Optional(idField("The group of callers in no other group")),
  authentication: Type.Optional(
    Type.Object({
      ...Type.Partial(Type.Object(authenticationMembers)).properties,
      ...openIdMembers,
      azureADConfiguration: Type.Optional(
        Type.Object({ ...azureMembers, appSecret: Type.Optional(textField("Stored, but never returned")) }),
      ),
      oAuth2Configuration: Type.Optional(
        Type.Object({
          ...oAuth2Members,
          clientSecret: Type.Optional(textField("Stored, but never returned")),
        }),
      ),
    }),
  ),
});

export const projectRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "",
    versions: apiVersions,
    summary: "Read the project",
    capability: "member",
    response: () => ({ schema: itemsSchema(projectSchema) }),
    handle: async (ctx) => itemsResponse([projectOf(await readProject(ctx))]),
  }),
  route({
    method: "PUT",
    path: "",
    versions: apiVersions,
    summary: "Overwrite the project; absent secrets stay",
    capability: ["projectsAcl", "UPDATE"],
    body: {
      kind: "json",
      schema: Type.Object({ items: Type.Array(projectContent, { minItems: 1, maxItems: 1 }) }),
    },
    response: () => ({ schema: itemsSchema(projectSchema) }),
    handle: async (ctx, { body }) => itemsResponse([projectOf(await replaceProject(ctx, body.items[0]!))]),
  }),
];

export const projectOf = ({ name, urlName, defaultGroupId, authentication = {} }: Project) => ({
  name,
  urlName,
  ...(defaultGroupId !== undefined && { defaultGroupId }),
  authentication: { type: "", protocol: "", validDomains: [], ...withoutSecrets(authentication) },
});
