// The SQL functions of the catalog in PostgreSQL; they return what the JavaScript functions of `lib/text.ts`
// return.
import { createHash } from "node:crypto";
import { foldCase } from "../../../../lib/text.ts";

/** A string constant of SQL. */
export const quotedText = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const body = (text: string): string => `as $body$${text}$body$`;

/** Every letter that folding changes, and the letters that replace it. */
function folding(): { readonly from: string; readonly to: string; readonly longer: [string, string][] } {
  let [from, to] = ["", ""];
  const longer: [string, string][] = [];
  for (let code = 128; code <= 0x10ffff; code++) {
    if (code === 0xd800) code = 0xe000;
    const letter = String.fromCodePoint(code);
    const folded = foldCase(letter);
    if (folded === letter) continue;
    if ([...folded].length > 1) longer.push([letter, folded]);
    else {
      from += letter;
      to += folded;
    }
  }
  return { from, to, longer };
}

function foldText(): string {
  const { from, to, longer } = folding();
  const ascii = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].join("");
  const one = `translate(x, ${quotedText(ascii + from)}, ${quotedText(ascii.toLowerCase() + to)})`;
  const all = longer.reduce(
    (text, [letter, folded]) => `replace(${text}, ${quotedText(letter)}, ${quotedText(folded)})`,
    one,
  );
  return `select ${asciiFirst(all)}`;
}

/** ASCII has one byte a letter. */
const asciiFirst = (other: string): string =>
  `case when octet_length(x) = char_length(x) then lower(x collate "C") else ${other} end`;

/** The name tells the version of Unicode: an index that calls it is of that version. */
export interface SqlFunctions {
  readonly fold: string;
  readonly statements: readonly string[];
}

const pure = "immutable strict parallel safe";
/** PostgreSQL inlines no strict function with a `case`, and a call costs 20 µs; both return null for null. */
const inlined = "immutable parallel safe";

/** The ids in a list of links, for its index. */
export const idsFunction = "millrace_ids";
/** The elements of a json list, with `key` null, or the pairs of a json object. */
export const elementsFunction = "millrace_elements";
/** Single-letter edits between two strings, as `fastest-levenshtein` counts them: in UTF-16 units. */
export const editsFunction = "millrace_edits";

const array = (json: string) => `case jsonb_typeof(${json}) when 'array' then ${json} else '[]' end`;
const object = (json: string) => `case jsonb_typeof(${json}) when 'object' then ${json} else '{}' end`;

const idsBody = `select array(select value::bigint from jsonb_array_elements_text(x::jsonb))`;

const elementsBody = `
  select null::text, value from jsonb_array_elements(${array("x::jsonb")})
  union all select key, value from jsonb_each(${object("x::jsonb")})`;

/** The UTF-16 units of a stored string. */
const unitsBody = `
declare units int[] := '{}'; code int; escaped boolean := false; letter text;
begin
  foreach letter in array string_to_array(x, null) loop
    code := ascii(letter);
    if escaped then units := units || (code - 2); escaped := false;
    elsif code = 1 then escaped := true;
    elsif code > 65535 then
      units := units || (55296 + ((code - 65536) >> 10)) || (56320 + ((code - 65536) & 1023));
    else units := units || code;
    end if;
  end loop;
  return units;
end`;

const editsBody = `
declare
  a int[] := millrace_units(x); b int[] := millrace_units(y);
  n int := cardinality(a); m int := cardinality(b); above int[]; here int[]; best int;
begin
  if abs(n - m) > most then return most + 1; end if;
  above := array(select generate_series(0, m));
  for i in 1..n loop
    here := array[i]; best := i;
    for j in 1..m loop
      here := here || least(above[j + 1] + 1, here[j] + 1, above[j] + (a[i] <> b[j])::int);
      best := least(best, here[j + 1]);
    end loop;
    if best > most then return most + 1; end if;
    above := here;
  end loop;
  return above[m + 1];
end`;

/** All functions, to be made at every start. */
export function sqlFunctions(): SqlFunctions {
  const text = foldText();
  const fold = `millrace_fold_${createHash("sha256").update(text).digest("hex").slice(0, 8)}`;
  const make = (signature: string, rest: string) => `create or replace function ${signature} ${rest}`;
  return {
    fold,
    statements: [
      make(`${fold}_all(x text) returns text`, `language sql ${pure} ${body(text)}`),
      // Bound when it is made: autovacuum and restores run it without the schema in the search path.
      make(`${fold}(x text) returns text`, `language sql ${inlined} return ${asciiFirst(`${fold}_all(x)`)}`),
      make(`${idsFunction}(x text) returns bigint[]`, `language sql ${pure} ${body(idsBody)}`),
      make(
        `${elementsFunction}(x text) returns table (key text, value jsonb)`,
        `language sql ${pure} ${body(elementsBody)}`,
      ),
      make("millrace_units(x text) returns int[]", `language plpgsql ${pure} ${body(unitsBody)}`),
      make(
        `${editsFunction}(x text, y text, most int) returns int`,
        `language plpgsql ${pure} ${body(editsBody)}`,
      ),
    ],
  };
}
