// The editor of an expression: completes functions and series, and marks an error in the text.
import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, type RefObject, useEffect, useId, useRef, useState } from "react";
import { getTimeseriesSearch } from "../../api/generated.ts";
import { useProject } from "../../session/session.ts";
import classes from "./expression.module.css";
import type { Fault } from "./fault.ts";
import { type Suggestion, type Typing, typingAt, wordsFor } from "./language.ts";
import { Marked } from "./marked.tsx";

interface ExpressionEditorProps {
  /** The text at the start. */
  readonly text: string;
  readonly fault: Fault | undefined;
  /** Whether the keys go to the editor as soon as it is there, because a click opened it. */
  readonly takesFocus?: boolean;
  onChange(text: string, series?: Suggestion["series"]): void;
}

const suggestionsMax = 8;

export function ExpressionEditor(props: ExpressionEditorProps) {
  const { text: initial, fault, takesFocus = false, onChange } = props;
  // The address follows later than the keys, so that the editor has the text itself.
  const [text, setText] = useState(initial);
  const input = useRef<HTMLTextAreaElement>(null);
  useFocus(input, takesFocus);
  const [typing, setTyping] = useState<Typing>();
  const [active, setActive] = useState(0);
  const suggestions = useSuggestions(typing);
  const listId = useId();
  const look = (value: string) => {
    setTyping(typingAt(value, input.current?.selectionStart ?? value.length));
    setActive(0);
  };
  const take = ({ text: written, series }: Suggestion) => {
    const caret = input.current?.selectionStart ?? text.length;
    const after = text.slice(caret).replace(/^\]/, series ? "" : "]");
    const before = text.slice(0, typing!.start) + written;
    setText(before + after);
    onChange(before + after, series);
    setTyping(undefined);
    requestAnimationFrame(() => {
      input.current?.focus();
      input.current?.setSelectionRange(before.length, before.length);
    });
  };
  const isOpen = typing !== undefined && suggestions.length > 0;
  const onKeyDown = (event: KeyboardEvent) => {
    if (isOpen)
      onSuggestionKey(event, { suggestions, active, setActive, take, close: () => setTyping(undefined) });
  };
  return (
    <div className={classes["editor"]}>
      <Marked text={text} at={fault?.at} />
      <textarea
        ref={input}
        className={classes["input"]}
        value={text}
        spellCheck={false}
        autoCapitalize="off"
        placeholder="100 * [outflow] / [inflow]: type [ for a series, or the name of a function"
        role="combobox"
        aria-label="Expression"
        aria-invalid={fault !== undefined}
        aria-expanded={isOpen}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={isOpen ? `${listId}-${active}` : undefined}
        onChange={(event) => {
          setText(event.currentTarget.value);
          onChange(event.currentTarget.value);
          look(event.currentTarget.value);
        }}
        onKeyDown={onKeyDown}
        onBlur={() => setTyping(undefined)}
      />
      <Suggestions id={listId} {...{ suggestions: isOpen ? suggestions : [], active, take }} />
    </div>
  );
}

function useFocus(input: RefObject<HTMLTextAreaElement | null>, isWanted: boolean): void {
  useEffect(() => {
    if (isWanted) input.current?.focus();
  }, [input, isWanted]);
}

interface SuggestionKeys {
  readonly suggestions: readonly Suggestion[];
  readonly active: number;
  setActive(index: number): void;
  take(suggestion: Suggestion): void;
  close(): void;
}

/** Arrow keys choose a suggestion, Enter and Tab take it, Escape closes the list. */
function onSuggestionKey(event: KeyboardEvent, keys: SuggestionKeys): void {
  const { suggestions, active, setActive, take, close } = keys;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step !== undefined) setActive((active + step + suggestions.length) % suggestions.length);
  else if (event.key === "Enter" || event.key === "Tab") take(suggestions[active]!);
  else if (event.key === "Escape") close();
  else return;
  event.preventDefault();
}

interface SuggestionsProps {
  readonly id: string;
  readonly suggestions: readonly Suggestion[];
  readonly active: number;
  take(suggestion: Suggestion): void;
}

function Suggestions({ id, suggestions, active, take }: SuggestionsProps) {
  return (
    <div
      id={id}
      role="listbox"
      aria-label="Suggestions"
      className={classes["suggestions"]}
      hidden={suggestions.length === 0}
    >
      {suggestions.map((suggestion, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the input takes the keys.
        <div
          key={suggestion.label}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === active}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => take(suggestion)}
        >
          <span>{suggestion.label}</span>
          <span>{suggestion.hint}</span>
        </div>
      ))}
    </div>
  );
}

/** Functions from the language, series from the server. */
function useSuggestions(typing: Typing | undefined): readonly Suggestion[] {
  const project = useProject();
  const query = typing?.kind === "series" ? typing.beginning.trim() : "";
  const { data = [] } = useQuery({
    queryKey: ["calculated", project, "series", query],
    enabled: query !== "",
    queryFn: async ({ signal }) =>
      (await getTimeseriesSearch(project, { query, limit: suggestionsMax }, { signal })).data.items,
  });
  if (typing?.kind === "word") return wordsFor(typing.beginning).slice(0, suggestionsMax);
  return data
    .filter(({ isString }) => !isString)
    .map(({ id, name, description = "", unit = "" }) => ({
      ...{ text: `[${name}]`, label: name, hint: [unit, description].filter(Boolean).join(" · ") },
      series: { name, id },
    }));
}
