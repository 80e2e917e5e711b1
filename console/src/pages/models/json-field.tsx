// A field of a form for a JSON object or list, such as the arguments of a training.
import { Textarea, type TextareaProps } from "@mantine/core";

export interface JsonKinds {
  object: Record<string, unknown>;
  list: readonly unknown[];
}

interface JsonFieldProps extends Omit<TextareaProps, "value" | "onChange" | "error"> {
  readonly kind: keyof JsonKinds;
  readonly value: string;
  onChange(text: string): void;
}

export const JsonField = ({ kind, value, onChange, ...rest }: JsonFieldProps) => (
  <Textarea
    autosize
    maxRows={12}
    classNames={{ input: "numbers" }}
    spellCheck={false}
    {...rest}
    value={value}
    onChange={(event) => onChange(event.currentTarget.value)}
    error={jsonIn(value, kind).problem}
  />
);

/** The object or list in the text, or why there is none. */
export function jsonIn<Kind extends keyof JsonKinds>(
  text: string,
  kind: Kind,
): { readonly value?: JsonKinds[Kind]; readonly problem?: string } {
  try {
    const value: unknown = JSON.parse(text);
    const isRight = kind === "list" ? Array.isArray(value) : isObject(value);
    if (isRight) return { value: value as JsonKinds[Kind] };
    return { problem: kind === "list" ? "Write a list: [ ... ]" : "Write an object: { ... }" };
  } catch (problem) {
    return { problem: problem instanceof Error ? problem.message : String(problem) };
  }
}

const isObject = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value);
