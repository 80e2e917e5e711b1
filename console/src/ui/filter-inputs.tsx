// Inputs of a filter that is in the address of the page. An input writes its text to the address after a
// pause in typing. When a link or a button changes the address, the input shows the new value.
import { Autocomplete, type AutocompleteProps, TextInput, type TextInputProps } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useEffect, useRef, useState } from "react";

const typingPauseMs = 200;

interface FilterValue {
  /** The value in the address; undefined without one. */
  readonly value: string | undefined;
  onChange(value: string | undefined): void;
}

type FilterTextProps = FilterValue & Omit<TextInputProps, keyof FilterValue>;

export function FilterText({ value, onChange, ...input }: FilterTextProps) {
  const [text, type] = useTyped({ value, onChange });
  return <TextInput {...input} value={text} onChange={(event) => type(event.currentTarget.value)} />;
}

type FilterWordProps = FilterValue & Omit<AutocompleteProps, keyof FilterValue>;

/** Also proposes known words. */
export function FilterWord({ value, onChange, ...input }: FilterWordProps) {
  const [text, type] = useTyped({ value, onChange });
  return <Autocomplete {...input} value={text} onChange={type} />;
}

function useTyped({ value = "", onChange }: FilterValue) {
  const [text, setText] = useState(value);
  /** Values that this input has written, and that are not yet in the address. */
  const written = useRef<readonly string[]>([]);
  const write = useDebouncedCallback((typed: string) => {
    const next = typed.trim() === "" ? undefined : typed;
    written.current = [...written.current, next ?? ""];
    onChange(next);
  }, typingPauseMs);
  useEffect(() => {
    const at = written.current.indexOf(value);
    written.current = at === -1 ? [] : written.current.slice(at + 1);
    // More may be typed since this input has written the value.
    if (at !== -1) return;
    write.cancel();
    setText(value);
  }, [value, write]);
  const type = (typed: string) => {
    setText(typed);
    write(typed);
  };
  return [text, type] as const;
}
