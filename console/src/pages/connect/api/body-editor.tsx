// The body of a request: JSON or another text in an editor, bytes from a file.
import { Button, FileInput, Group, Stack, Table, Text, Textarea } from "@mantine/core";
import { FileUp } from "lucide-react";
import classes from "./api.module.css";
import { type Body, type Description, plainText } from "./operations.ts";
import { exampleOf, membersOf } from "./schemas.ts";

interface BodyEditorProps {
  readonly body: Body;
  readonly schemas: Description["schemas"];
  readonly content: string | Blob;
  onChange(content: string | Blob): void;
}

/** The content that the editor begins with. */
export const firstContent = (body: Body | undefined, schemas: Description["schemas"]): string =>
  body?.contentType === "application/json" ? exampleText(body, schemas, "required") : "";

const exampleText = ({ schema }: Body, schemas: Description["schemas"], has: "required" | "all"): string =>
  JSON.stringify(exampleOf(schema, schemas, has), null, 2);

/** Why the content cannot be sent. */
export function contentProblem({ contentType }: Body, content: string | Blob): string | undefined {
  if (contentType !== "application/json" || typeof content !== "string") return undefined;
  try {
    JSON.parse(content);
    return undefined;
  } catch (problem) {
    return problem instanceof Error ? problem.message : String(problem);
  }
}

export function BodyEditor({ body, schemas, content, onChange }: BodyEditorProps) {
  const { contentType, description } = body;
  if (contentType === "application/octet-stream")
    return (
      <FileInput
        label="Body"
        {...{ description }}
        placeholder="Choose a file"
        leftSection={<FileUp size={15} aria-hidden />}
        value={content instanceof File ? content : null}
        onChange={(file) => onChange(file ?? "")}
        maw={420}
      />
    );
  return (
    <Stack gap="xs">
      <Textarea
        label={`Body, ${contentType}`}
        {...{ description }}
        classNames={{ input: classes["editor"] }}
        value={typeof content === "string" ? content : ""}
        error={contentProblem(body, content)}
        onChange={(event) => onChange(event.currentTarget.value)}
        autosize
        minRows={4}
        maxRows={18}
        spellCheck={false}
      />
      {contentType === "application/json" && (
        <Group gap="xs">
          <Button size="compact-xs" variant="default" onClick={() => onChange(firstContent(body, schemas))}>
            Example with required members
          </Button>
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => onChange(exampleText(body, schemas, "all"))}
          >
            Example with all members
          </Button>
        </Group>
      )}
      <BodyMembers body={body} schemas={schemas} />
    </Stack>
  );
}

function BodyMembers({ body, schemas }: Pick<BodyEditorProps, "body" | "schemas">) {
  const members = membersOf(body.schema, schemas);
  if (members.length === 0) return null;
  return (
    <details>
      <summary className={classes["disclosure"]}>Members of the body</summary>
      <Table.ScrollContainer minWidth={420} maxHeight={360} scrollAreaProps={{ viewportProps: focusable }}>
        <Table aria-label="Members of the body" fz="sm">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Member</Table.Th>
              <Table.Th>Type</Table.Th>
              <Table.Th>Meaning</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {members.map(({ path, type, isRequired, description }) => (
              <Table.Tr key={path}>
                <Table.Td className={classes["code"]}>
                  {path}
                  {isRequired && <Text size="xs">required</Text>}
                </Table.Td>
                <Table.Td>{type}</Table.Td>
                <Table.Td>{plainText(description)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </details>
  );
}

const focusable = { tabIndex: 0 };
