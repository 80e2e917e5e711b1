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
  loginUrl: Type.Optional(textField("Where a browser logs in")),
  logoutUrl: Type.Optional(textField("Where a browser logs out")),
  tokenUrl: Type.Optional(textField("Where tokens come from")),
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
        issuer: Type.Optional(textField("Address of the OpenID Connect provider; Azure AD needs none")),
        audiences: Type.Optional(
          Type.Array(textField("Audience"), {
            description: "Whom tokens are for; the client id when absent",
            maxItems: limits.audiencesMax,
          }),
        ),
        groupsClaim: Type.Optional(
          textField(
            "Claim that lists the groups by what groups here have as `sourceId`; `groups` when absent",
          ),
        ),
        redirectUrls: Type.Optional(
          Type.Array(textField("Address; one that ends in a slash allows all below it"), {
            description: "Where a browser may be sent with tokens",
            maxItems: limits.redirectUrlsMax,
          }),
        ),
        algorithms: Type.Optional(
          Type.Array(Type.Enum([...signingAlgorithms]), {
            description: "How tokens may be signed; all of these when absent",
            maxItems: signingAlgorithms.length,
          }),
        ),
        scope: Type.Optional(textField("What a login asks for; `openid profile email` when absent")),
      },
      { description: "An addition of Millrace: what the members above have no place for" },
    ),
  ),
};

export const projectShape = Type.Object(
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
      { description: "Type and protocol are empty, and there are no other members, while none is set" },
    ),
  },
  { title: "Project" },
);

const projectContent = Type.Object({
  name: nameField("What people call it"),
  urlName: Type.Optional(Type.String({ description: "Cannot change" })),
  defaultGroupId: Type.Optional(idField("Group of those who are in no other")),
  authentication: Type.Optional(
    Type.Object({
      ...Type.Partial(Type.Object(authenticationMembers)).properties,
      ...openIdMembers,
      azureADConfiguration: Type.Optional(
        Type.Object({ ...azureMembers, appSecret: Type.Optional(textField("Kept, never shown")) }),
      ),
      oAuth2Configuration: Type.Optional(
        Type.Object({ ...oAuth2Members, clientSecret: Type.Optional(textField("Kept, never shown")) }),
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
    response: () => ({ schema: itemsSchema(projectShape) }),
    handle: async (ctx) => itemsResponse([projectOf(await readProject(ctx))]),
  }),
  route({
    method: "PUT",
    path: "",
    versions: apiVersions,
    summary: "Overwrite the project; secrets that are left out stay as they are",
    capability: ["projectsAcl", "UPDATE"],
    body: {
      kind: "json",
      schema: Type.Object({ items: Type.Array(projectContent, { minItems: 1, maxItems: 1 }) }),
    },
    response: () => ({ schema: itemsSchema(projectShape) }),
    handle: async (ctx, { body }) => itemsResponse([projectOf(await replaceProject(ctx, body.items[0]!))]),
  }),
];

export const projectOf = ({ name, urlName, defaultGroupId, authentication = {} }: Project) => ({
  name,
  urlName,
  ...(defaultGroupId !== undefined && { defaultGroupId }),
  authentication: { type: "", protocol: "", validDomains: [], ...withoutSecrets(authentication) },
});
