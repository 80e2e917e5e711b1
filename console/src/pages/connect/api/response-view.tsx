// A response: its status, time, size and headers, and its body as formatted text.
import { Alert, Badge, Box, Button, Group, Stack, Text } from "@mantine/core";
import { Download } from "lucide-react";
import { useEffect, useRef } from "react";
import { bytesText, countText } from "../../../lib/format.ts";
import { saveFile } from "../../../lib/save.ts";
import { Facts } from "../../../ui/facts.tsx";
import classes from "./api.module.css";
import type { ExplorerResponse } from "./request.ts";
import type { ResponseError } from "./response-error.ts";

/** More text would make the page slow; the file has all of it. */
const shownMax = 100_000;
export function ResponseView({ response, name }: { response: ExplorerResponse; name: string }) {
  const { status, statusText, durationMs, headers, body } = response;
  const isError = status >= 400;
  const section = useRef<HTMLDivElement>(null);
  // The form above can be longer than the window. Some browsers return a promise, which is no cleanup.
  useEffect(() => {
    section.current?.scrollIntoView({ block: "start" });
  }, []);
  return (
    <Stack component="section" ref={section} aria-label="Response" gap="xs">
      <Group gap="xs">
        <Badge variant="dot" color={isError ? "red" : "green"} size="lg" radius="sm" tt="none">
          {status} {statusText}
        </Badge>
        <Text size="sm" className="numbers">
          {countText(durationMs)} ms · {bytesText(body.size)}
        </Text>
        {body.size > 0 && (
          <Button
            size="xs"
            variant="default"
            ml="auto"
            leftSection={<Download size={14} aria-hidden />}
            onClick={() => saveFile(`${name}${extensionOf(response)}`, [body], response.contentType)}
          >
            Download
          </Button>
        )}
      </Group>
      <details>
        <summary className={classes["disclosure"]}>{headers.length} headers</summary>
        <Facts facts={headers.map(([label, value]) => ({ label, value }))} />
      </details>
      <ResponseBody response={response} />
    </Stack>
  );
}

function ResponseBody({ response: { body, contentType, text, error } }: { response: ExplorerResponse }) {
  if (body.size === 0) return <Text size="sm">The response has no body.</Text>;
  if (text === undefined)
    return <Text size="sm">The body is {contentType || "not text"}. Download it to see it.</Text>;
  return (
    <>
      {error && <ErrorFacts error={error} />}
      {text.length > shownMax && (
        <Alert color="yellow" title="Only the beginning is shown">
          {countText(shownMax)} of {countText(text.length)} characters. The download has all of them.
        </Alert>
      )}
      <Box
        component="pre"
        className={classes["output"]}
        tabIndex={0}
        role="region"
        aria-label="Body of the response"
      >
        {text.slice(0, shownMax)}
      </Box>
    </>
  );
}

/** The message of a refusal, and the fields that it is about. */
const ErrorFacts = ({ error: { message, fields } }: { error: ResponseError }) => (
  <Alert color="red" role="alert" title={message}>
    <Facts facts={[{ label: fields.length === 1 ? "Field" : "Fields", value: fields.join(", ") }]} />
  </Alert>
);

const extensionOf = ({ contentType }: ExplorerResponse): string => {
  if (contentType.includes("json")) return ".json";
  if (contentType.includes("csv")) return ".csv";
  return contentType.startsWith("text/") ? ".txt" : ".bin";
};
