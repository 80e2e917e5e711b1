// "Copy as": the request of a page for curl, JavaScript, Python and OData.
import { Button, Menu } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { ClipboardCopy } from "lucide-react";
import { type ApiRequest, type Snippet, snippetsOf } from "../lib/snippets.ts";

export const CopyAs = ({ request }: { request: ApiRequest }) => <CopyMenu snippets={snippetsOf(request)} />;

export function CopyMenu({ snippets }: { snippets: readonly Snippet[] }) {
  const copy = async (language: string, text: string) => {
    await navigator.clipboard.writeText(text);
    notifications.show({ message: `Copied as ${language}. Put your API key into it.` });
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" size="xs" leftSection={<ClipboardCopy size={14} aria-hidden />}>
          Copy as
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {snippets.map(({ language, text }) => (
          <Menu.Item key={language} onClick={() => void copy(language, text)}>
            {language}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
