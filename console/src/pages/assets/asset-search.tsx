// The search above the tree.
import { TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { useEffect, useState } from "react";

const typingPauseMs = 200;

export function AssetSearch() {
  const { query = "" } = useSearch({ from: "/frame/assets" });
  const navigate = useNavigate();
  const [text, setText] = useState(query);
  const change = useDebouncedCallback((value: string) => {
    const next = value.trim() === "" ? undefined : value;
    void navigate({ to: ".", search: (now) => ({ ...now, query: next }), replace: true });
  }, typingPauseMs);
  useEffect(() => setText(query), [query]);
  return (
    <TextInput
      type="search"
      aria-label="Search assets"
      placeholder="Search by name or description"
      leftSection={<Search size={15} aria-hidden />}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        change(event.currentTarget.value);
      }}
    />
  );
}
