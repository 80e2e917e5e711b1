// A new key, which is shown once: to copy now, never again.
import { Alert, Button, CopyButton, Group, Stack, Text, TextInput } from "@mantine/core";
import { Check, Copy, TriangleAlert } from "lucide-react";

export function Secret({ value, account }: { value: string; account: string }) {
  return (
    <Alert
      color="yellow"
      icon={<TriangleAlert size={18} aria-hidden />}
      title="Copy this key now. It is shown only this once."
    >
      <Stack gap="xs">
        <Group gap="xs" wrap="nowrap" align="flex-end">
          <TextInput
            label={`Key of ${account}`}
            value={value}
            readOnly
            onFocus={(event) => event.currentTarget.select()}
            classNames={{ input: "code" }}
            flex={1}
          />
          <CopyButton value={value}>
            {({ copied, copy }) => (
              <Button
                onClick={copy}
                leftSection={copied ? <Check size={15} aria-hidden /> : <Copy size={15} aria-hidden />}
              >
                {copied ? "Copied" : "Copy"}
              </Button>
            )}
          </CopyButton>
        </Group>
        <Text size="sm">
          The server stores only a checksum of it. Who has the key has the rights of the account: keep it like
          a password. If it is lost, delete it and create another.
        </Text>
      </Stack>
    </Alert>
  );
}
