// The place where a grid of rows starts: a key that a person types.
import { Button, Group, TextInput } from "@mantine/core";
import { CornerDownRight } from "lucide-react";
import { useState } from "react";

interface JumpToRowProps {
  readonly label: string;
  readonly placeholder: string;
  /** Where the grid starts now; undefined for its first row. */
  readonly from: string | undefined;
  /** The mistake in a typed key; undefined for a valid one. */
  faultOf?(key: string): string | undefined;
  /** Undefined for the first row. */
  onJump(key: string | undefined): void;
}

export function JumpToRow({ label, placeholder, from, faultOf, onJump }: JumpToRowProps) {
  const [key, setKey] = useState(from ?? "");
  const fault = key === "" ? undefined : faultOf?.(key);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (fault === undefined) onJump(key === "" ? undefined : key);
      }}
    >
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <TextInput
          size="sm"
          aria-label={label}
          placeholder={placeholder}
          leftSection={<CornerDownRight size={15} aria-hidden />}
          value={key}
          error={fault}
          onChange={(event) => setKey(event.currentTarget.value)}
          w={{ base: "100%", xs: 320 }}
        />
        <Button type="submit" variant="default" flex="none">
          Jump
        </Button>
        {from !== undefined && (
          <Button variant="subtle" flex="none" px="xs" onClick={() => onJump(undefined)}>
            First row
          </Button>
        )}
      </Group>
    </form>
  );
}
