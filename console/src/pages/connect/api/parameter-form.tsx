// The parameters of an operation as a form.
import { NativeSelect, SimpleGrid, TextInput } from "@mantine/core";
import { type Parameter, plainText, type Schema } from "./operations.ts";
import { problemWith } from "./request.ts";
import { typeText } from "./schemas.ts";
import type { Values } from "./search.ts";

interface ParameterFormProps {
  readonly parameters: readonly Parameter[];
  readonly values: Values;
  /** Whether missing values are marked: after the first try to send. */
  readonly marksMissing: boolean;
  /** The names of the fields that the server refused. */
  readonly refused: readonly string[];
  onChange(name: string, value: string): void;
}

export function ParameterForm({ parameters, values, marksMissing, refused, onChange }: ParameterFormProps) {
  const isNeeded = ({ required, in: place }: Parameter) => required === true || place === "path";
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm" verticalSpacing="sm">
      {parameters
        .toSorted((a, b) => Number(isNeeded(b)) - Number(isNeeded(a)))
        .map((parameter) => {
          const value = values[parameter.name] ?? "";
          const problem = value === "" && !marksMissing ? undefined : problemWith(parameter, value);
          const isRefused = refused.includes(parameter.name);
          return (
            <ParameterInput
              key={parameter.name}
              {...{ parameter, value }}
              isNeeded={isNeeded(parameter)}
              problem={problem ?? (isRefused ? "The server refuses this value" : undefined)}
              onChange={(changed) => onChange(parameter.name, changed)}
            />
          );
        })}
    </SimpleGrid>
  );
}

interface ParameterInputProps {
  readonly parameter: Parameter;
  readonly value: string;
  readonly isNeeded: boolean;
  readonly problem: string | undefined;
  onChange(value: string): void;
}

function ParameterInput({ parameter, value, isNeeded, problem, onChange }: ParameterInputProps) {
  const { name, in: place, schema, description = "" } = parameter;
  const choices = choicesOf(schema);
  const type = choices ? "" : typeText(schema, {});
  const common = {
    label: name,
    description: [place === "path" ? "in the path" : "", type, plainText(description)]
      .filter(Boolean)
      .join(" · "),
    error: problem,
    withAsterisk: isNeeded,
    value,
  };
  if (choices)
    return (
      <NativeSelect
        {...common}
        data={[{ value: "", label: defaultText(schema) }, ...choices]}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  return (
    <TextInput
      {...common}
      placeholder={placeholderOf(schema)}
      inputMode={schema.type === "integer" ? "numeric" : undefined}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

function choicesOf({ type, enum: words }: Schema): string[] | undefined {
  if (words) return words.map(String);
  return type === "boolean" ? ["true", "false"] : undefined;
}

const defaultText = ({ default: value }: Schema): string =>
  value === undefined ? "not sent" : `not sent: ${String(value)}`;

function placeholderOf({ default: value, examples }: Schema): string | undefined {
  if (value !== undefined) return `default ${String(value)}`;
  return examples?.[0] === undefined ? undefined : `for example ${String(examples[0])}`;
}
