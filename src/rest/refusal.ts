// Says what is wrong with a JSON body: which field, what it should be, and what came instead.
import type { TLocalizedValidationError } from "typebox/error";
import { type Failure, fail } from "../errors.ts";
import { shortened } from "../lib/text.ts";
import { patternWords } from "./fields.ts";

type Problem = TLocalizedValidationError;
type Said = Readonly<Record<string, unknown>>;

/** The refusal that tells most, of all that a schema finds wrong with `body`. */
export function refusalOf(body: unknown, problems: readonly Problem[]): Failure {
  const choices = problems.filter(({ keyword }) => keyword === "anyOf");
  const isOutside = (one: Problem) => !choices.some((choice) => isWithin(one, choice));
  const plain = problems.filter((one) => one.keyword !== "anyOf" && isOutside(one));
  const missing = plain.filter(({ keyword }) => keyword === "required");
  if (missing.length > 0) return fail("fields-missing", { fields: missing.flatMap(missingIn) });
  const unknown = plain.filter(isUnknown).map(({ instancePath }) => shortened(fieldName(instancePath)));
  if (unknown.length > 0) return fail("fields-unknown", { fields: unknown });
  const choice = choices.find(isOutside);
  const meant = plain.length === 0 && choice ? ofTheOneMeant(choice, problems) : undefined;
  if (meant) return refusalOf(body, meant);
  const problem = plain[0] ?? choice!;
  const value = isOfKey(problem) ? partsOf(problem.instancePath).at(-1) : valueAt(body, problem.instancePath);
  const field = fieldName(problem.instancePath) || "body";
  if (problem.keyword === "maxItems")
    return fail("too-many", { field, limit: limitOf(problem), got: (value as unknown[]).length });
  return fail("field-invalid", {
    field,
    expected: expectedBy(problem, problems),
    got: found(problem, value),
  });
}

/** A member that the schema of an update object does not name. */
const isUnknown = ({ keyword, schemaPath }: Problem): boolean =>
  keyword === "boolean" && schemaPath.endsWith("/additionalProperties");

/** What the alternatives of a choice complain of is summed up by the choice itself. */
const isWithin = (one: Problem, choice: Problem): boolean =>
  one.schemaPath.startsWith(`${choice.schemaPath}/anyOf/`);

/**
 * The problems of the alternative that was meant, when one can be told: of those of the type that came, one
 * that knows all members, and then the one whose problems are deepest in the value.
 */
function ofTheOneMeant(choice: Problem, problems: readonly Problem[]): readonly Problem[] | undefined {
  const start = `${choice.schemaPath}/anyOf/`.length;
  const alternatives = Map.groupBy(
    problems.filter((one) => isWithin(one, choice)),
    ({ schemaPath }) => schemaPath.slice(start).split("/", 1)[0],
  );
  const isOfType = (one: readonly Problem[]) =>
    one.every(({ keyword, instancePath }) => keyword !== "type" || instancePath !== choice.instancePath);
  const meant = [...alternatives.values()].filter(isOfType);
  const known = meant.filter((one) => !one.some(isUnknown));
  const candidates = known.length > 0 ? known : meant;
  const deepest = Math.max(...candidates.map(depthOf));
  const found = candidates.filter((one) => depthOf(one) === deepest);
  return found.length === 1 ? found[0] : undefined;
}

const depthOf = (problems: readonly Problem[]): number =>
  Math.max(...problems.map(({ instancePath }) => partsOf(instancePath).length));

/** The name of a member is wrong, not its value. */
const isOfKey = ({ schemaPath }: Problem): boolean => schemaPath.split("/").includes("propertyNames");

const missingIn = ({ params, instancePath }: Problem): string[] =>
  ((params as Said)["requiredProperties"] as string[]).map((name) => fieldName(`${instancePath}/${name}`));

/** `/items/0/name` as `items[0].name`. */
function fieldName(instancePath: string): string {
  let name = "";
  for (const part of partsOf(instancePath))
    name += /^\d+$/.test(part) ? `[${part}]` : name === "" ? part : `.${part}`;
  return name;
}

const partsOf = (instancePath: string): string[] =>
  instancePath
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));

const valueAt = (body: unknown, instancePath: string): unknown =>
  partsOf(instancePath).reduce((value, part) => (value as Said)[part] as object, body as object);

const limitOf = ({ params }: Problem): number => (params as Said)["limit"] as number;

function expectedBy(problem: Problem, all: readonly Problem[]): string {
  const params = problem.params as Said;
  switch (problem.keyword) {
    case "type":
      return params["type"] === "object" ? "an object" : String(params["type"]);
    case "enum":
      return `one of ${(params["allowedValues"] as unknown[]).join(", ")}`;
    case "anyOf": {
      const alternatives = all.filter((one) => one !== problem && isWithin(one, problem));
      return [...new Set(alternatives.map((one) => expectedBy(one, all)))].join(" or ");
    }
    case "const":
      return JSON.stringify(params["allowedValue"]);
    case "pattern":
      return patternWords[String(params["pattern"])] ?? "text of another form";
    case "minLength":
      return `at least ${limitOf(problem)} characters`;
    case "maxLength":
      return `at most ${limitOf(problem)} characters`;
    case "minItems":
      return `at least ${limitOf(problem)} items`;
    case "maxProperties":
      return `at most ${limitOf(problem)} members`;
    case "minimum":
    case "maximum":
      return `a value ${params["comparison"]} ${limitOf(problem)}`;
    default:
      return `a value that ${problem.message}`;
  }
}

/** How much of a wrong value a message repeats. */
const shownCharacters = 100;

/** The type that came instead of another, the size of what is too large, else the value, shortened. */
function found({ keyword, params }: Problem, value: unknown): string {
  if (keyword === "maxLength" || keyword === "minLength") return `${(value as string).length}`;
  if (keyword === "minItems") return `${(value as unknown[]).length}`;
  if (keyword === "maxProperties") return `${Object.keys(value as object).length}`;
  const type = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  const isFraction = type === "number" && (params as Said)["type"] === "integer";
  if ((keyword === "type" && !isFraction) || type === "object" || type === "array") return type;
  const text = JSON.stringify(value);
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)}...` : text;
}
