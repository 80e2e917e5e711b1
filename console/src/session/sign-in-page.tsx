// Signs in with a one-time link, an API key or an identity provider.
import {
  Alert,
  Button,
  Center,
  Code,
  Divider,
  Group,
  Paper,
  PasswordInput,
  Stack,
  Text,
  Title,
} from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { KeyRound } from "lucide-react";
import { type FormEvent, useEffect, useState } from "react";
import { baseUrl } from "../api/base.ts";
import { messageOf, statusOf } from "../api/errors.ts";
import { Logo } from "../ui/logo.tsx";
import { type SignInSecret, sessionQuery, signIn, signInOptionsQuery } from "./session.ts";

export function SignInPage() {
  const attempt = useSignIn();
  useOneTimeLink(attempt.mutate);
  return (
    <Center component="main" mih="100dvh" p="md">
      <Paper withBorder p="xl" radius="md" w="100%" maw={420}>
        <Stack>
          <Group gap="sm">
            <Logo size={36} />
            <Title order={1} size="h3">
              Sign in to Millrace
            </Title>
          </Group>
          {attempt.error && (
            <Alert color="red" role="alert" title="The sign-in failed">
              {refusalOf(attempt.error, attempt.variables)}
            </Alert>
          )}
          <ProviderFailure />
          <EndOfSession />
          <KeyForm onSubmit={attempt.mutate} isPending={attempt.isPending} />
          <Providers />
          <Text size="sm" c="var(--text-quiet)">
            No key? On the server's machine, <Code>npx millrace login-link</Code> prints a link that signs in
            once.
          </Text>
        </Stack>
      </Paper>
    </Center>
  );
}

function refusalOf(problem: unknown, secret: SignInSecret | undefined): string {
  if (statusOf(problem) !== 401) return messageOf(problem);
  if (secret && "token" in secret)
    return "The link was used already or has expired. Print a new one, or use a key.";
  return "The server does not know this key. Check that it was copied whole.";
}

function KeyForm({ onSubmit, isPending }: { onSubmit(secret: SignInSecret): void; isPending: boolean }) {
  const [apiKey, setApiKey] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit({ apiKey: apiKey.trim() });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <PasswordInput
          label="API key"
          placeholder="Paste the key"
          leftSection={<KeyRound size={16} aria-hidden />}
          value={apiKey}
          onChange={(event) => setApiKey(event.currentTarget.value)}
          autoComplete="current-password"
          autoFocus
          required
        />
        <Button type="submit" loading={isPending} disabled={apiKey.trim() === ""}>
          Sign in
        </Button>
      </Stack>
    </form>
  );
}

function ProviderFailure() {
  const { error, error_description: description } = useSearch({ from: "/sign-in" });
  if (error === undefined) return null;
  return (
    <Alert color="red" role="alert" title="The sign-in with the identity provider failed">
      {description ?? error}. Try again, or ask the administrator of the provider.
    </Alert>
  );
}

function EndOfSession() {
  const { reason } = useSearch({ from: "/sign-in" });
  if (reason === undefined) return null;
  return (
    <Alert color="yellow" role="status" title="Your session has ended">
      Sign in to continue on the same page.
    </Alert>
  );
}

/** The address at which the sign-in starts; it ends at the page that was requested. */
function loginAddress(loginUrl: string, returnTo: string | undefined): string {
  const address = new URL(loginUrl, `${baseUrl()}/`);
  if (returnTo !== undefined) address.searchParams.set("page", returnTo);
  return address.href;
}

function Providers() {
  const { data } = useQuery(signInOptionsQuery);
  const { returnTo } = useSearch({ from: "/sign-in" });
  if (!data || data.identityProviders.length === 0) return null;
  return (
    <Stack>
      <Divider label="or" />
      {data.identityProviders.map(({ name, loginUrl }) => (
        <Button key={name} component="a" variant="default" href={loginAddress(loginUrl, returnTo)}>
          Continue with {name}
        </Button>
      ))}
    </Stack>
  );
}

function useSignIn() {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { returnTo } = useSearch({ from: "/sign-in" });
  return useMutation({
    mutationFn: signIn,
    onSuccess: (session) => {
      queryClient.clear();
      queryClient.setQueryData(sessionQuery.queryKey, session);
      return navigate({ href: returnTo ?? "/", replace: true });
    },
  });
}

/** Uses the token of the address `/sign-in#token=...` and removes it from the address. */
function useOneTimeLink(use: (secret: SignInSecret) => void): void {
  useEffect(() => {
    const token = new URLSearchParams(window.location.hash.slice(1)).get("token");
    if (token === null) return;
    window.history.replaceState(window.history.state, "", window.location.pathname + window.location.search);
    use({ token });
  }, [use]);
}
