// Generates the pages of docs/ that come from the code: settings, limits and errors.
import { described as settings } from "../../src/config.ts";
import type { ErrorEntry } from "../../src/errors/entry.ts";
import { catalogue } from "../../src/errors.ts";
import type { Limit } from "../../src/limits/limit.ts";
import { limitsBySubject } from "../../src/limits.ts";

/** Path to text of every generated page. */
export const generatedPages = (): Record<string, string> => ({
  "docs/SETTINGS.md": settingsPage(),
  "docs/LIMITS.md": limitsPage(),
  "docs/ERRORS.md": errorsPage(),
});

const settingsPage = () =>
  page("Settings", "src/config.ts", [
    "Settings come from the environment, and from a file `millrace.env` in the working directory with one",
    "`NAME=value` a line; the environment wins. An unknown name that begins with `MILLRACE_` is refused.",
    "",
    ...table(
      ["Setting", "Default", "Meaning", "Expected"],
      Object.entries(settings).map(([name, one]) => [
        `\`${name}\``,
        "byDefault" in one ? `\`${one.byDefault}\`` : "",
        one.meaning,
        one.expected,
      ]),
    ),
  ]);

const limitsPage = () =>
  page("Limits", "src/limits/", [
    "Every bound of Millrace. A request beyond one is refused with a message that names field, limit and",
    "value, except where the text says that a value is lowered to the limit.",
    ...Object.entries(limitsBySubject).flatMap(([subject, described]) => [
      ...["", `## ${subject}`, ""],
      ...table(["Limit", "Value", "Unit", "Meaning"], Object.entries(described).map(limitRow)),
    ]),
  ]);

const limitRow = ([name, { value, unit, meaning }]: [string, Limit]) => [
  `\`${name}\``,
  amount(value, unit),
  unit,
  meaning,
];

const errorsPage = () =>
  page("Errors", "src/errors/", [
    'Every refusal is `{"error":{"code":<status>,"message":"<text>"}}`, some with further members, and',
    "carries the header `X-Request-Id`, which is also in the log of the server. Over OData the code is a",
    "string, and `details[0].code` is the failure: `filter-syntax` is `FilterSyntax` there.",
    "",
    ...table(
      ["Failure", "Status", "When", "Further members"],
      Object.entries(catalogue).map(([name, one]) => [
        name,
        statusesOf(one).join(" or "),
        one.when,
        memberNames(one).join(", "),
      ]),
    ),
  ]);

function page(title: string, source: string, lines: readonly string[]): string {
  const origin = `<!-- Made from ${source} by \`npm run docs\`; change it there. -->`;
  return `${[origin, "", `# ${title}`, "", ...lines].join("\n")}\n`;
}

/** A Markdown table; bars inside cells are escaped. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((one) => one.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)];
}

function amount(value: number, unit: string): string {
  if (unit === "bytes" && value % 2 ** 20 === 0) return `${value / 2 ** 20} Mi`;
  return value.toLocaleString("en-US").replaceAll(",", " ");
}

const statusesOf = ({ status, otherStatuses = [] }: Pick<ErrorEntry<never>, "status" | "otherStatuses">) => [
  status,
  ...otherStatuses,
];

/** The names of the members a failure adds to `error`, found by calling `members` with empty details. */
function memberNames(one: { members?: unknown }): string[] {
  if (typeof one.members !== "function") return [];
  const anything: unknown = new Proxy(
    Object.assign(() => [], {}),
    { get: (_, key) => (key === "length" ? 0 : []) },
  );
  return Object.keys((one.members as (details: unknown) => object)(anything)).map((name) => `\`${name}\``);
}
