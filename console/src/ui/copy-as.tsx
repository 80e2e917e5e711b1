// "Copy as": the request of a page for curl, JavaScript, Python and OData.
import { Button, Menu } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { ClipboardCopy } from "lucide-react";
import { type ApiRequest, type Snippet, snippetsOf } from "../lib/snippets.ts";

export const CopyAs = ({ request }: { request: ApiRequest }) => (
  <CopyMenu snippets={() => snippetsOf(request)} />
);

interface CopyMenuProps {
  /** Runs when the menu opens. */
  snippets(): readonly Snippet[];
}

export function CopyMenu({ snippets }: CopyMenuProps) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" size="xs" leftSection={<ClipboardCopy size={14} aria-hidden />}>
          Copy as
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <SnippetItems snippets={snippets} />
      </Menu.Dropdown>
    </Menu>
  );
}

function SnippetItems({ snippets }: CopyMenuProps) {
  const copy = async (language: string, text: string) => {
    await navigator.clipboard.writeText(text);
    notifications.show({ message: `Copied as ${language}. Put your API key into it.` });
  };
  return snippets().map(({ language, text }) => (
    <Menu.Item key={language} onClick={() => void copy(language, text)}>
      {language}
    </Menu.Item>
  ));
}
