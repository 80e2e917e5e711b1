// The identity provider of the project: where people log in.
import {
  Alert,
  Button,
  Card,
  Code,
  Group,
  PasswordInput,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from "@mantine/core";
import { type FormEvent, useState } from "react";
import { baseUrl } from "../../api/base.ts";
import { getProject, type Project, putProject } from "../../api/generated.ts";
import { Confirm, Refusal } from "../../ui/confirm.tsx";
import { Failure, Loading } from "../../ui/page-states.tsx";
import { useChange, useProjectSettings } from "./data.ts";

type Authentication = NonNullable<Parameters<typeof putProject>[1]["items"][number]["authentication"]>;

export function ProviderTab() {
  const settings = useProjectSettings();
  if (settings.isPending) return <Loading what="the identity provider" />;
  if (settings.isError) return <Failure problem={settings.error} onRetry={() => void settings.refetch()} />;
  return <ProviderForm key={JSON.stringify(settings.data.authentication)} settings={settings.data} />;
}

interface ProviderFields {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly groupsClaim: string;
  readonly validDomains: string[];
  readonly redirectUrls: string[];
}

function fieldsOf({ authentication }: Project): ProviderFields {
  const { openIdConfiguration: openId, oAuth2Configuration: oAuth, validDomains } = authentication;
  return {
    issuer: openId?.issuer ?? "",
    clientId: oAuth?.clientId ?? "",
    clientSecret: "",
    groupsClaim: openId?.groupsClaim ?? "",
    validDomains: validDomains ?? [],
    redirectUrls: openId?.redirectUrls ?? [],
  };
}

/** The stored settings with the changed fields; an empty secret keeps the stored one. */
function authenticationOf({ authentication }: Project, fields: ProviderFields): Authentication {
  const { openIdConfiguration, oAuth2Configuration, azureADConfiguration, type, protocol } = authentication;
  const { issuer, clientId, clientSecret, groupsClaim, validDomains, redirectUrls } = fields;
  return {
    ...(type && { type }),
    ...(protocol && { protocol }),
    ...(azureADConfiguration && { azureADConfiguration }),
    validDomains,
    openIdConfiguration: {
      ...openIdConfiguration,
      ...(issuer.trim() && { issuer: issuer.trim() }),
      ...(groupsClaim.trim() ? { groupsClaim: groupsClaim.trim() } : { groupsClaim: undefined }),
      redirectUrls,
    },
    oAuth2Configuration: {
      ...oAuth2Configuration,
      ...(clientId.trim() && { clientId: clientId.trim() }),
      ...(clientSecret && { clientSecret }),
    },
  };
}

function ProviderForm({ settings }: { settings: Project }) {
  const [fields, setFields] = useState(() => fieldsOf(settings));
  const set = (change: Partial<ProviderFields>) => setFields({ ...fields, ...change });
  const [isRemoving, setIsRemoving] = useState(false);
  const save = useChange({
    change: async (project, sent: ProviderFields | undefined) => {
      // The request replaces the whole project, and others may have changed the rest of it since it was read.
      const now = (await getProject(project)).data.items[0]!;
      const { name, defaultGroupId } = now;
      const authentication = sent && authenticationOf(now, sent);
      return putProject(project, { items: [{ name, defaultGroupId, authentication }] });
    },
    done: (input) => (input ? "Saved the identity provider." : "Removed the identity provider."),
  });
  const isSet = settings.authentication.type !== "" || fieldsOf(settings).issuer !== "";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(fields);
  };
  return (
    <Stack maw={760}>
      <ProviderHelp isSet={isSet} />
      <Card>
        <form onSubmit={submit}>
          <Stack>
            <ProviderInputs
              fields={fields}
              set={set}
              isAzure={!!settings.authentication.azureADConfiguration}
            />
            <Refusal problem={isRemoving ? undefined : save.error} />
            <Group justify="flex-end">
              {isSet && (
                <Button variant="default" c="var(--text-danger)" onClick={() => setIsRemoving(true)}>
                  Remove the provider
                </Button>
              )}
              <Button type="submit" loading={save.isPending}>
                Save
              </Button>
            </Group>
          </Stack>
        </form>
      </Card>
      {isRemoving && (
        <Confirm
          title="Remove the identity provider?"
          action="Remove the provider"
          isPending={save.isPending}
          problem={save.error}
          onConfirm={() => save.mutate(undefined)}
          onClose={() => setIsRemoving(false)}
        >
          Nobody can log in with it any more, and its tokens and the keys created with them stop working. API
          keys are not affected.
        </Confirm>
      )}
    </Stack>
  );
}

function ProviderHelp({ isSet }: { isSet: boolean }) {
  return (
    <Alert title={isSet ? "People log in with this provider" : "People can sign in with keys only"}>
      <Text size="sm">
        With an OpenID Connect provider (Keycloak, Azure AD, Okta, …) people use their own login. At the
        provider, register a client for the code flow with the redirect address{" "}
        <Code>{baseUrl()}/login/callback</Code>, and have it put groups and e-mail address into its tokens.
        Then name the provider's group in each group here that people should be in.
      </Text>
    </Alert>
  );
}

interface ProviderInputsProps {
  readonly fields: ProviderFields;
  readonly isAzure: boolean;
  set(change: Partial<ProviderFields>): void;
}

function ProviderInputs({ fields, set, isAzure }: ProviderInputsProps) {
  return (
    <>
      <TextInput
        label="Issuer"
        description="The address of the provider, as it names itself in tokens"
        placeholder="https://sso.plant.example/realms/plant"
        type="url"
        required={!isAzure}
        value={fields.issuer}
        onChange={(event) => set({ issuer: event.currentTarget.value })}
      />
      <Group grow align="flex-start">
        <TextInput
          label="Client id"
          description="The name of the client at the provider"
          placeholder="millrace"
          required={!isAzure}
          value={fields.clientId}
          onChange={(event) => set({ clientId: event.currentTarget.value })}
        />
        <PasswordInput
          label="Client secret"
          description="Empty: the stored one stays"
          autoComplete="new-password"
          value={fields.clientSecret}
          onChange={(event) => set({ clientSecret: event.currentTarget.value })}
        />
      </Group>
      <TextInput
        label="Claim with the groups"
        description="Where tokens name the groups of a person; groups when empty"
        placeholder="realm_access.roles"
        value={fields.groupsClaim}
        onChange={(event) => set({ groupsClaim: event.currentTarget.value })}
      />
      <TagsInput
        label="Allowed e-mail domains"
        description="None: every user of the provider may log in"
        placeholder="plant.example"
        value={fields.validDomains}
        onChange={(validDomains) => set({ validDomains })}
      />
      <TagsInput
        label="Addresses of other web applications"
        description="Where a login may return to with tokens. The console needs no entry"
        placeholder="https://dashboard.plant.example/"
        value={fields.redirectUrls}
        onChange={(redirectUrls) => set({ redirectUrls })}
      />
    </>
  );
}
