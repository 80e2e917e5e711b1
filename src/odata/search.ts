// Search functions (`AssetsSearch`): records whose fields contain all words, in the order of the set.
import { fail } from "../errors.ts";
import { wordsIn } from "../lib/text.ts";
import { and, words } from "../query/filter.ts";
import { type EntityFunction, type EntityReader, entityFunction } from "./model.ts";

interface SearchableSet<Found> extends Pick<EntityReader<Found>, "read" | "count"> {
  readonly name: string;
  readonly set: string;
  /** The fields that are searched. */
  readonly fields: readonly string[];
}

/** Declares the search function of a set. Refuses a `Search` without words. */
export const searchFunction = <Found>({
  name,
  set,
  fields,
  read,
  count,
}: SearchableSet<Found>): EntityFunction =>
  entityFunction<Found>({
    ...{ name, set },
    parameters: [{ name: "Search", type: "Edm.String" }],
    results(given) {
      const query = given["Search"] as string;
      if (wordsIn(query).length === 0)
        throw fail("key-invalid", {
          problem: `The parameter Search of ${name} contains no word to search for`,
        });
      const found = words(fields, query);
      return {
        read: (ctx, question) => read(ctx, { ...question, filter: and(found, question.filter) }),
        count: (ctx, filter) => count(ctx, and(found, filter)),
      };
    },
  });
