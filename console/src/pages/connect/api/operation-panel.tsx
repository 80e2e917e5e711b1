// One operation: its parameters and body as a form, a button that sends it, and the response.
import { Alert, Badge, Button, Code, Group, Stack, Text, Title } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Eye, Play, X } from "lucide-react";
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { bytesText } from "../../../lib/format.ts";
import { type HttpRequest, programsFor } from "../../../lib/snippets.ts";
import { useProject, useSession } from "../../../session/session.ts";
import { Confirm, Refusal } from "../../../ui/confirm.tsx";
import { CopyMenu } from "../../../ui/copy-as.tsx";
import { TextLink } from "../../../ui/text-link.tsx";
import classes from "./api.module.css";
import { BodyEditor, contentProblem, firstContent } from "./body-editor.tsx";
import { Method } from "./operation-list.tsx";
import { type Description, type Operation, plainText } from "./operations.ts";
import { ParameterForm } from "./parameter-form.tsx";
import { pathOf, problemWith, send } from "./request.ts";
import { ResponseView } from "./response-view.tsx";
import { searchOf, type Values, valuesIn } from "./search.ts";

interface OperationPanelProps {
  readonly operation: Operation;
  readonly schemas: Description["schemas"];
}

export function OperationPanel({ operation, schemas }: OperationPanelProps) {
  const { body, parameters, isReadOnly } = operation;
  const project = useProject();
  const { seenAs } = useSession();
  const [values, change] = useValues();
  const [content, setContent] = useState<string | Blob>(() => firstContent(body, schemas));
  const [isTried, setIsTried] = useState(false);
  const [isConfirming, setIsConfirming] = useState(false);
  const call = useCall();
  const request: HttpRequest = {
    ...{ method: operation.method, path: pathOf(operation, project, values) },
    ...(body && { body: { contentType: body.contentType, content } }),
  };
  const isValid =
    parameters.every((parameter) => problemWith(parameter, values[parameter.name]) === undefined) &&
    (!body || contentProblem(body, content) === undefined);
  const isRefusedInView = seenAs !== undefined && !isReadOnly;
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    setIsTried(true);
    if (!isValid || isRefusedInView || call.isPending) return;
    if (isReadOnly) call.run(request);
    else setIsConfirming(true);
  };
  const sendByKeys = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
  };
  return (
    <Stack component="section" aria-label={operation.summary} className={classes["panel"]}>
      <OperationHead operation={operation} path={request.path} />
      <form onSubmit={submit} onKeyDown={sendByKeys} noValidate>
        <Stack>
          <ParameterForm
            {...{ parameters, values, onChange: change, refused: call.refused }}
            marksMissing={isTried}
          />
          {body && <BodyEditor {...{ body, schemas, content, onChange: setContent }} />}
          <SendControls {...{ operation, request, call }} isDisabled={isTried && !isValid} />
        </Stack>
      </form>
      <Refusal problem={call.problem} />
      {call.response && <ResponseView key={call.sentAt} response={call.response} name={operation.id} />}
      {isConfirming && (
        <ConfirmSend
          request={request}
          onClose={() => setIsConfirming(false)}
          onConfirm={() => {
            setIsConfirming(false);
            call.run(request);
          }}
        />
      )}
    </Stack>
  );
}

interface SendControlsProps {
  readonly operation: Operation;
  readonly request: HttpRequest;
  readonly call: ReturnType<typeof useCall>;
  readonly isDisabled: boolean;
}

function SendControls({ operation, request, call, isDisabled }: SendControlsProps) {
  const { seenAs } = useSession();
  const isRefused = seenAs !== undefined && !operation.isReadOnly;
  return (
    <>
      {isRefused && (
        <Alert color="yellow" icon={<Eye size={18} aria-hidden />} title="This changes something">
          You see as a member of {seenAs.name}, and send only requests that change nothing.
        </Alert>
      )}
      <Group gap="xs" className={classes["actions"]}>
        {call.isPending ? (
          <Button variant="default" leftSection={<X size={15} aria-hidden />} onClick={call.cancel}>
            Cancel
          </Button>
        ) : (
          <Button
            type="submit"
            leftSection={<Play size={15} aria-hidden />}
            disabled={isRefused || isDisabled}
            title="Ctrl Enter"
          >
            Send
          </Button>
        )}
        <CopyMenu snippets={() => programsFor(request)} />
        {call.isPending && <Text size="sm">Waiting for the response…</Text>}
      </Group>
    </>
  );
}

function OperationHead({ operation, path }: { operation: Operation; path: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  // The list is not on a narrow screen any more: the keyboard continues at the operation.
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <Stack gap={6}>
      <TextLink
        className={classes["back"]}
        to="/connect/api"
        search={({ version, find }: { version?: "0.4" | "0.5" | "0.6"; find?: string }) => ({
          version,
          find,
        })}
      >
        All operations
      </TextLink>
      <Title order={2} size="h4" ref={heading} tabIndex={-1} className={classes["heading"]}>
        {operation.summary}
      </Title>
      <Group gap="xs">
        <Method method={operation.method} />
        <Code className={classes["address"]}>{path}</Code>
        {operation.isReadOnly && (
          <Badge variant="default" tt="none">
            changes nothing
          </Badge>
        )}
      </Group>
      <Text size="sm" c="var(--text-quiet)">
        {plainText(operation.description)}
      </Text>
    </Stack>
  );
}

/** The values of the parameters: the address has them, too. */
function useValues() {
  const search = useSearch({ from: "/frame/connect/api" });
  const navigate = useNavigate({ from: "/connect/api" });
  const [values, setValues] = useState<Values>(() => valuesIn(search));
  const change = (name: string, value: string) => {
    const next = { ...values, [name]: value };
    setValues(next);
    void navigate({
      search: ({ version, operation, find }) => ({ version, operation, find, ...searchOf(next) }),
      replace: true,
      resetScroll: false,
    });
  };
  return [values, change] as const;
}

/** Sends requests one after another. */
function useCall() {
  const [abort, setAbort] = useState<AbortController>();
  const call = useMutation({
    mutationFn: ({ request, signal }: { request: HttpRequest; signal: AbortSignal }) => send(request, signal),
  });
  const wasCancelled = call.error instanceof DOMException && call.error.name === "AbortError";
  return {
    ...{
      isPending: call.isPending,
      sentAt: call.submittedAt,
      response: call.data,
      refused: call.data?.error?.fields ?? [],
    },
    problem: wasCancelled ? undefined : call.error,
    run(request: HttpRequest) {
      const controller = new AbortController();
      setAbort(controller);
      call.mutate({ request, signal: controller.signal });
    },
    cancel: () => abort?.abort(),
  };
}

const shownBodyMax = 2_000;

interface ConfirmSendProps {
  readonly request: HttpRequest;
  onConfirm(): void;
  onClose(): void;
}

function ConfirmSend({ request: { method, path, body }, onConfirm, onClose }: ConfirmSendProps) {
  const content = body?.content ?? "";
  const text = typeof content === "string" ? content : "";
  return (
    <Confirm
      title="Send a request that can change data?"
      action={`Send ${method}`}
      isPending={false}
      problem={undefined}
      {...{ onConfirm, onClose }}
    >
      <Stack gap="xs">
        <Code block className={classes["confirmed"]}>{`${method} ${path}`}</Code>
        {body && typeof content !== "string" && (
          <Text size="sm">With a file of {bytesText(content.size)}.</Text>
        )}
        {text !== "" && (
          <>
            <Text size="sm">With this body:</Text>
            <Code block className={classes["confirmed"]} tabIndex={0}>
              {text.slice(0, shownBodyMax)}
              {text.length > shownBodyMax && `\n… and ${text.length - shownBodyMax} more characters`}
            </Code>
          </>
        )}
      </Stack>
    </Confirm>
  );
}
