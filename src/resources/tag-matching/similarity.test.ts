// The nearest names of tags: what counts of a tag, and the same answers as by comparing everything.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { compareText } from "../../lib/text.ts";
import { type Match, NearestNames, plainForm } from "./similarity.ts";

test("case, separators and leading zeros do not count, the places of letters and digits do", () => {
  const same = ["21-PT-0019", "21_pt_19", "21PT19", " 021 / Pt / 19 ", "２１PT19"];
  assert.deepEqual([...new Set(same.map(plainForm))], ["21-pt-19"]);
  assert.deepEqual(["1-12", "11-2", "000", "", "--", "P0", "ΣΑΣ1"].map(plainForm), [
    ...["1-12", "11-2", "0", "", "", "p-0", "σασ-1"],
  ]);
});

/** The edits between two texts, by the table of all their beginnings. */
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

interface Bounds {
  readonly scoreMax: number;
  readonly matchesMax: number;
}

type Named = readonly [name: string, platform: string | undefined];

function naiveMatches(tag: string, names: readonly Named[], { scoreMax, matchesMax }: Bounds): Match[] {
  const distinct = new Map(names.map((one) => [JSON.stringify(one), one]));
  const all = [...distinct.values()].map(([name, platform]) => {
    return { name, platform, score: editsBetween(plainForm(tag), plainForm(name)) };
  });
  const near = all.filter(({ score }) => score <= scoreMax);
  const rank = ({ score, name, platform }: Match) =>
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

const tag = fc.oneof(
  fc.string({ unit: fc.constantFrom(..."aAb12-0_ "), maxLength: 8 }),
  fc.tuple(fc.nat(30), fc.constantFrom("PT", "pt", "FT", "HV"), fc.nat(40)).map((parts) => parts.join("-")),
  fc.string({ unit: "binary", maxLength: 5 }).map((text) => text.toWellFormed()),
);
const named = fc.tuple(tag, fc.constantFrom(undefined, "", "sap", "pi"));

test("the nearest names are those of comparing all, however many fit", () => {
  const bounds = fc.record({ scoreMax: fc.nat(5), matchesMax: fc.integer({ min: 1, max: 5 }) });
  const property = fc.property(
    fc.array(tag, { maxLength: 5 }),
    fc.array(named, { maxLength: 60 }),
    bounds,
    (tags, names, { scoreMax, matchesMax }) => {
      const nearest = new NearestNames(tags, { scoreMax, matchesMax });
      for (const [name, platform] of names) nearest.offer(name, platform);
      const expected = tags.map((one) => naiveMatches(one, names, { scoreMax, matchesMax }));
      assert.deepEqual(nearest.best(), expected);
    },
  );
  fc.assert(property, { numRuns: 500 });
});
