// Paragraphs of docs are joined to one line each; code and tables keep their lines.
import assert from "node:assert/strict";
import { test } from "node:test";
import { joinParagraphs, wrappedParagraphs } from "./paragraphs.ts";

const wrapped = `# Title

One sentence
goes on.

- an item
  goes on
- another
1. first
   line

| a | b |
|---|---|
| c | d |

\`\`\`sh
one
two
\`\`\`
After code.
`;

const joined = `# Title

One sentence goes on.

- an item goes on
- another
1. first line

| a | b |
|---|---|
| c | d |

\`\`\`sh
one
two
\`\`\`
After code.
`;

test("paragraphs and list items become one line; code and tables stay", () => {
  assert.equal(joinParagraphs(wrapped), joined);
  assert.equal(joinParagraphs(joined), joined);
});

test("each line that continues a paragraph is named", () => {
  const lines = wrappedParagraphs("page.md", wrapped).map(({ line }) => line);
  assert.deepEqual(lines, [4, 7, 10]);
  assert.deepEqual(wrappedParagraphs("page.md", joined), []);
});
