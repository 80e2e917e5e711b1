// The nearest names of tags: the relevant part of a tag, and the same results as by comparing all names.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { compareText } from "../../lib/text.ts";
import { limits } from "../../limits.ts";
import { editsOf, NameTrie, numberOf } from "../../query/tags/name-trie.ts";
import { type NameMatch, plainForm } from "../../query/tags/similarity.ts";
import { type Bounds, NearestNames } from "./nearest-names.ts";

test("case, separators and leading zeros do not count, the places of letters and digits do", () => {
  const same = ["21-PT-0019", "21_pt_19", "21PT19", " 021 / Pt / 19 ", "２１PT19"];
  assert.deepEqual([...new Set(same.map(plainForm))], ["21-pt-19"]);
  assert.deepEqual(["1-12", "11-2", "000", "", "--", "P0", "ΣΑΣ1"].map(plainForm), [
    ...["1-12", "11-2", "0", "", "", "p-0", "σασ-1"],
  ]);
});

/** The edit distance of two strings, by the table of all prefixes. */
function editsBetween(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++)
      row.push(Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + Number(a[i - 1] !== b[j - 1])));
    above = row;
  }
  return above[b.length]!;
}

type Named = readonly [name: string, platform: string | undefined];

function naiveMatches(tag: string, names: readonly Named[], { scoreMax, matchesMax }: Bounds): NameMatch[] {
  const distinct = new Map(names.map((one) => [JSON.stringify(one), one]));
  const all = [...distinct.values()].map(([name, platform]) => {
    return { name, platform, score: editsBetween(plainForm(tag), plainForm(name)) };
  });
  const near = all.filter(({ score }) => score <= scoreMax);
  const rank = ({ score, name, platform }: NameMatch) =>
    [score, name === tag ? 0 : 1, name, platform ?? "", platform === undefined ? 0 : 1] as const;
  const sorted = near.sort((a, b) => {
    const [one, other] = [rank(a), rank(b)];
    return (
      one[0] - other[0] ||
      one[1] - other[1] ||
      compareText(one[2], other[2]) ||
      compareText(one[3], other[3]) ||
      one[4] - other[4]
    );
  });
  return sorted.slice(0, matchesMax);
}

/** Runs all steps; returns the result and how many characters were compared. */
function finished<Result>(steps: Generator<number, Result>): { result: Result; compared: number } {
  let compared = 0;
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return { result: step.value, compared };
    compared += step.value;
  }
}

/** The matches when the names come in pages of this size. */
function nearestOf(tags: readonly string[], names: readonly Named[], bounds: Bounds, pageSize: number) {
  const nearest = new NearestNames(tags, bounds);
  for (let at = 0; at < names.length; at += pageSize) {
    const page = names.slice(at, at + pageSize).map(([name, platform]) => ({ name, platform }));
    finished(nearest.add(page));
  }
  return finished(nearest.best(tags)).result;
}

const tag = fc.oneof(
  fc.string({ unit: fc.constantFrom(..."aAb12-0_ "), maxLength: 8 }),
  fc.tuple(fc.nat(30), fc.constantFrom("PT", "pt", "FT", "HV"), fc.nat(40)).map((parts) => parts.join("-")),
  fc.string({ unit: "binary", maxLength: 5 }).map((text) => text.toWellFormed()),
  fc.string({ unit: fc.constantFrom("a", "b"), minLength: 25, maxLength: 45 }),
  fc.constantFrom("ab", "ba", "a1").map((part) => part.repeat(30)),
  fc.constant("\u{fdfa}"),
);
const named = fc.tuple(tag, fc.constantFrom(undefined, "", "sap", "pi"));
const bounds = fc.record({
  scoreMax: fc.nat(limits.tagEditsMax),
  matchesMax: fc.integer({ min: 1, max: 5 }),
});

test("the nearest names are those of comparing all, however many fit and however they come", () => {
  const property = fc.property(
    fc.array(tag, { maxLength: 5 }),
    fc.array(named, { maxLength: 60 }),
    bounds,
    fc.integer({ min: 1, max: 60 }),
    (tags, names, matchBounds, pageSize) => {
      const expected = tags.map((one) => naiveMatches(one, names, matchBounds));
      assert.deepEqual(nearestOf(tags, names, matchBounds, pageSize), expected);
    },
  );
  fc.assert(property, { numRuns: 500 });
});

test("the same when the names are more than one batch holds", () => {
  const letters = [..."0123456789"].flatMap((a) => [..."abcdefghij"].map((b) => `${a}${b}`));
  const names = letters.flatMap((one) =>
    letters.flatMap((other) => [...Array(14).keys()].map((at): Named => [`${one}-${other}-${at}`, "sap"])),
  );
  assert.ok(names.length > limits.tagNamesPerBatch);
  const tags = ["0a-9j-13", "5c5c-1", "x", "9j9j13", "5-5-5-5"];
  const matchBounds = { scoreMax: 3, matchesMax: 7 };
  const expected = tags.map((one) => naiveMatches(one, names, matchBounds));
  assert.deepEqual(nearestOf(tags, names, matchBounds, 5_000), expected);
});

test("a trie gives the distance of every name up to the maximum, for strings of any lengths", () => {
  const text = fc.oneof(
    fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 14 }),
    fc.string({ unit: fc.constantFrom("a", "b"), minLength: 28, maxLength: 75 }),
  );
  const property = fc.property(
    text,
    fc.uniqueArray(text, { maxLength: 30 }),
    fc.nat(limits.tagEditsMax),
    fc.nat(3),
    (pattern, names, most, below) => {
      const least = Math.max(0, most - below);
      const all = names.map((name): [string, number] => [name, editsBetween(name, pattern)]);
      const expected = all.filter(([, distance]) => distance >= least && distance <= most).sort();
      const trie = new NameTrie(names);
      // The first searches walk the names forwards, the next ones backwards as well, the others the shorter
      // way.
      for (let search = 1; search <= 20; search++) {
        const { result } = finished(trie.search(pattern, { least, most }));
        const found = Array.from(result, (hit): [string, number] => [names[numberOf(hit)]!, editsOf(hit)]);
        assert.deepEqual(found.sort(), expected);
      }
    },
  );
  fc.assert(property, { numRuns: 1_000 });
});

test("the characters compared are counted, and are far fewer than those of all pairs", () => {
  const names = [...Array(2_000).keys()].map((at) => ({
    name: `23-PT-${10_000 + 7 * at}`,
    platform: undefined,
  }));
  const tags = names.slice(0, 50).map(({ name }) => name.replace("PT", "PI"));
  const nearest = new NearestNames(tags, { scoreMax: limits.tagEditsMax, matchesMax: 10 });
  const compared = finished(nearest.add(names)).compared + finished(nearest.best(tags)).compared;
  const ofAllPairs = tags.length * names.length * names[0]!.name.length;
  assert.ok(compared > names.length && compared < ofAllPairs / 4, `${compared} of ${ofAllPairs}`);
});
