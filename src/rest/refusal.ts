// Creates the refusal of a JSON body: it names the field, the expected value and the received one.
//
// Validation finds several problems. For `{"items": [{"name": 5, "isString": "yes"}]}` there is one for each
// wrong field; the refusal is that of the first: "items[0].name", a string, 5. In order of preference:
// missing fields, unknown fields, the problems of the likeliest alternative of a choice, the first problem.
import type { TLocalizedValidationError } from "typebox/error";
import { type Failure, fail } from "../errors.ts";
import { shortened } from "../lib/text.ts";
import { patternWords } from "./fields.ts";

type Problem = TLocalizedValidationError;
type Details = Readonly<Record<string, unknown>>;

/** The refusal for the most informative of all problems that a schema finds in `body`. */
export function refusalOf(body: unknown, problems: readonly Problem[]): Failure {
  const choices = problems.filter(({ keyword }) => keyword === "anyOf");
  const isOutside = (problem: Problem) => !choices.some((choice) => isWithin(problem, choice));
  const plain = problems.filter((problem) => problem.keyword !== "anyOf" && isOutside(problem));
  const missing = plain.filter(({ keyword }) => keyword === "required");
  if (missing.length > 0) return fail("fields-missing", { fields: missing.flatMap(missingIn) });
  const unknown = plain.filter(isUnknown).map(({ instancePath }) => shortened(fieldName(instancePath)));
  if (unknown.length > 0) return fail("fields-unknown", { fields: unknown });
  const choice = choices.find(isOutside);
  const likely = plain.length === 0 && choice ? problemsOfLikeliest(choice, problems) : undefined;
  if (likely) return refusalOf(body, likely);
  const problem = plain[0] ?? choice!;
  const value = isOfKey(problem) ? partsOf(problem.instancePath).at(-1) : valueAt(body, problem.instancePath);
  const field = fieldName(problem.instancePath) || "body";
  if (problem.keyword === "maxItems")
    return fail("too-many", { field, limit: limitOf(problem), got: (value as unknown[]).length });
  return fail("field-invalid", {
    field,
    expected: expectedBy(problem, problems),
    got: received(problem, value),
  });
}

/** A member that the schema of an update object does not name. */
const isUnknown = ({ keyword, schemaPath }: Problem): boolean =>
  keyword === "boolean" && schemaPath.endsWith("/additionalProperties");

/** A problem of an alternative of a choice: the problem of the choice itself covers it. */
const isWithin = (problem: Problem, choice: Problem): boolean =>
  problem.schemaPath.startsWith(`${choice.schemaPath}/anyOf/`);

/**
 * The problems of the alternative that the caller probably wanted, if one stands out: it has the type of the
 * value, else it names all members of the value, else its problems are deepest in the value.
 */
function problemsOfLikeliest(choice: Problem, problems: readonly Problem[]): readonly Problem[] | undefined {
  const start = `${choice.schemaPath}/anyOf/`.length;
  const alternatives = Map.groupBy(
    problems.filter((problem) => isWithin(problem, choice)),
    ({ schemaPath }) => schemaPath.slice(start).split("/", 1)[0],
  );
  const isOfType = (alternative: readonly Problem[]) =>
    alternative.every(
      ({ keyword, instancePath }) => keyword !== "type" || instancePath !== choice.instancePath,
    );
  const likely = [...alternatives.values()].filter(isOfType);
  const known = likely.filter((alternative) => !alternative.some(isUnknown));
  const candidates = known.length > 0 ? known : likely;
  const deepest = Math.max(...candidates.map(depthOf));
  const best = candidates.filter((alternative) => depthOf(alternative) === deepest);
  return best.length === 1 ? best[0] : undefined;
}

const depthOf = (problems: readonly Problem[]): number =>
  Math.max(...problems.map(({ instancePath }) => partsOf(instancePath).length));

/** The name of a member is wrong, not its value. */
const isOfKey = ({ schemaPath }: Problem): boolean => schemaPath.split("/").includes("propertyNames");

const missingIn = ({ params, instancePath }: Problem): string[] =>
  ((params as Details)["requiredProperties"] as string[]).map((name) => fieldName(`${instancePath}/${name}`));

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
  partsOf(instancePath).reduce((value, part) => (value as Details)[part] as object, body as object);

const limitOf = ({ params }: Problem): number => (params as Details)["limit"] as number;

function expectedBy(problem: Problem, all: readonly Problem[]): string {
  const params = problem.params as Details;
  switch (problem.keyword) {
    case "type":
      return params["type"] === "object" ? "an object" : String(params["type"]);
    case "enum":
      return `one of ${(params["allowedValues"] as unknown[]).join(", ")}`;
    case "anyOf": {
      const alternatives = all.filter((other) => other !== problem && isWithin(other, problem));
      return [...new Set(alternatives.map((alternative) => expectedBy(alternative, all)))].join(" or ");
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

/** The maximum length of a wrong value in a message. */
const shownCharacters = 100;

/** The type of a value of the wrong type, the size of one that is too large, else the shortened value. */
function received({ keyword, params }: Problem, value: unknown): string {
  if (keyword === "maxLength" || keyword === "minLength") return `${(value as string).length}`;
  if (keyword === "minItems") return `${(value as unknown[]).length}`;
  if (keyword === "maxProperties") return `${Object.keys(value as object).length}`;
  const type = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  const isFraction = type === "number" && (params as Details)["type"] === "integer";
  if ((keyword === "type" && !isFraction) || type === "object" || type === "array") return type;
  const text = JSON.stringify(value);
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)}...` : text;
}
