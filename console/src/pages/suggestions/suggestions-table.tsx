// The rows of suggestions: both names, their difference, and the buttons of the review. On a narrow window
// each row is a card.
import { Badge, Checkbox } from "@mantine/core";
import { type KeyboardEvent, useRef } from "react";
import type { Suggestion } from "../../api/generated.ts";
import { countOf } from "../../lib/format.ts";
import { focusBeside } from "../../ui/focus.ts";
import { TextLink } from "../../ui/text-link.tsx";
import { useAssetNames } from "../../ui/use-asset-names.ts";
import { type Verdict, VerdictButtons } from "../../ui/verdict-buttons.tsx";
import classes from "./suggestions.module.css";
import { useSubjectNames } from "./use-suggestions.ts";

interface TableProps {
  readonly rows: readonly Suggestion[];
  readonly chosen: ReadonlySet<number>;
  setChosen(chosen: ReadonlySet<number>): void;
  readonly mayReview: boolean;
  /** The rows whose review has not ended. */
  readonly waiting: ReadonlySet<number>;
  onReview(verdict: Verdict, id: number): void;
}

/** A series is linked to one asset: of its suggestions the best one, the first of several. */
function bestOfEach(rows: readonly Suggestion[]): number[] {
  const best = new Map<number, Suggestion>();
  for (const row of rows) {
    const { seriesId, score } = row;
    if (seriesId !== undefined && score < (best.get(seriesId)?.score ?? Number.POSITIVE_INFINITY))
      best.set(seriesId, row);
  }
  const isBest = (row: Suggestion) => row.seriesId === undefined || best.get(row.seriesId) === row;
  return rows.filter(isBest).map(({ id }) => id);
}

export function SuggestionsTable({ rows, chosen, setChosen, mayReview, waiting, onReview }: TableProps) {
  const subjectName = useSubjectNames(rows);
  const assetName = useAssetNames(rows.map(({ assetId }) => assetId));
  const all = bestOfEach(rows);
  const isAll = all.every((id) => chosen.has(id));
  const choose = (id: number) =>
    setChosen(chosen.has(id) ? chosen.difference(new Set([id])) : chosen.union(new Set([id])));
  return (
    <div role="table" aria-label="Suggestions" className={classes["table"]} data-reviewed={mayReview}>
      <div role="row" className={classes["head"]}>
        {mayReview && (
          <div role="columnheader">
            <Checkbox
              aria-label="Select all"
              title="Of each series the suggestion with the smallest difference"
              checked={isAll}
              indeterminate={chosen.size > 0 && !isAll}
              onChange={() => setChosen(new Set(isAll ? [] : all))}
            />
          </div>
        )}
        {["Series or drawing", "Tag", "Asset", "Difference", mayReview ? "Review" : "State"].map((label) => (
          <div role="columnheader" key={label}>
            {label}
          </div>
        ))}
      </div>
      {rows.map((row) => (
        <Row
          key={row.id}
          {...{ row, mayReview, onReview }}
          subject={subjectName(row)}
          asset={assetName(row.assetId)}
          isChosen={chosen.has(row.id)}
          isPending={waiting.has(row.id)}
          onChoose={() => choose(row.id)}
        />
      ))}
    </div>
  );
}

interface RowProps extends Pick<TableProps, "mayReview" | "onReview"> {
  readonly row: Suggestion;
  readonly subject: string;
  readonly asset: string;
  readonly isChosen: boolean;
  readonly isPending: boolean;
  onChoose(): void;
}

const checkbox = "input[type=checkbox]";

function Row({ row, subject, asset, isChosen, isPending, mayReview, onChoose, onReview }: RowProps) {
  const { id, seriesId, fileId, page, assetId, tag, score } = row;
  const element = useRef<HTMLDivElement>(null);
  const review = (verdict: Verdict) => {
    // The row goes away with its focus.
    focusBeside(element.current!, checkbox);
    onReview(verdict, id);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.repeat;
    const verdict = ({ a: "accept", r: "reject" } as const)[event.key.toLowerCase()];
    if (verdict && mayReview && isPlain) review(verdict);
    const side = ({ ArrowDown: "below", ArrowUp: "above" } as const)[event.key];
    if (side && focusBeside(event.currentTarget, checkbox, [side])) event.preventDefault();
  };
  return (
    <div role="row" ref={element} className={classes["row"]} onKeyDown={onKeyDown}>
      {mayReview && (
        <div role="cell" className={classes["choice"]}>
          <Checkbox aria-label={`Select ${subject}, ${asset}`} checked={isChosen} onChange={onChoose} />
        </div>
      )}
      <div role="cell" className={classes["name"]}>
        {seriesId !== undefined ? (
          <TextLink to="/series/$id" params={{ id: seriesId }}>
            {subject}
          </TextLink>
        ) : (
          <TextLink to="/files/$id" params={{ id: fileId! }}>
            {subject}
          </TextLink>
        )}
        {page !== undefined && <small>page {page}</small>}
      </div>
      <div role="cell" className={classes["name"]} data-label="Tag">
        {tag}
      </div>
      <div role="cell" className={classes["name"]} data-label="Asset">
        <TextLink to="/assets/$id" params={{ id: assetId }}>
          {asset}
        </TextLink>
      </div>
      <div role="cell" data-label="Difference">
        {score === 0 ? "same tag" : countOf(score, "letter")}
      </div>
      <div role="cell" className={classes["review"]}>
        {mayReview ? (
          <VerdictButtons
            {...{ size: "compact-sm", subject: `${subject}, ${asset}`, disabled: isPending }}
            verdicts={verdictsOf[row.state]}
            onVerdict={review}
          />
        ) : (
          <State row={row} />
        )}
      </div>
    </div>
  );
}

const verdictsOf = { OPEN: ["accept", "reject"], ACCEPTED: ["reject"], REJECTED: ["accept"] } as const;
const stateTexts = { OPEN: "Open", ACCEPTED: "Accepted", REJECTED: "Rejected" } as const;

const State = ({ row: { state } }: { row: Suggestion }) => (
  <Badge variant="default">{stateTexts[state]}</Badge>
);
