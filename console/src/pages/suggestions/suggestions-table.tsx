// The rows of suggestions: both names, the score, and the buttons of the review. On a narrow window each row
// is a card.
import { Badge, Button, Checkbox } from "@mantine/core";
import { Check, X } from "lucide-react";
import type { KeyboardEvent } from "react";
import type { Suggestion } from "../../api/generated.ts";
import { TextLink } from "../../ui/text-link.tsx";
import { useAssetNames } from "../../ui/use-asset-names.ts";
import classes from "./suggestions.module.css";
import { useSubjectNames, type Verdict } from "./use-suggestions.ts";

interface TableProps {
  readonly rows: readonly Suggestion[];
  readonly chosen: ReadonlySet<number>;
  setChosen(chosen: ReadonlySet<number>): void;
  readonly mayReview: boolean;
  onReview(verdict: Verdict, id: number): void;
}

export function SuggestionsTable({ rows, chosen, setChosen, mayReview, onReview }: TableProps) {
  const subjectName = useSubjectNames(rows);
  const assetName = useAssetNames(rows.map(({ assetId }) => assetId));
  const isAll = rows.every(({ id }) => chosen.has(id));
  const choose = (id: number) =>
    setChosen(chosen.has(id) ? chosen.difference(new Set([id])) : chosen.union(new Set([id])));
  return (
    <div role="table" aria-label="Suggestions" className={classes["table"]} data-reviewed={mayReview}>
      <div role="row" className={classes["head"]}>
        {mayReview && (
          <div role="columnheader">
            <Checkbox
              aria-label="Select all"
              checked={isAll}
              indeterminate={chosen.size > 0 && !isAll}
              onChange={() => setChosen(new Set(isAll ? [] : rows.map(({ id }) => id)))}
            />
          </div>
        )}
        {["Series or drawing", "Tag", "Asset", "Score", mayReview ? "Review" : "State"].map((label) => (
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
  onChoose(): void;
}

function Row({ row, subject, asset, isChosen, mayReview, onChoose, onReview }: RowProps) {
  const { id, seriesId, fileId, page, assetId, tag, score } = row;
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const verdict = ({ a: "accept", r: "reject" } as const)[event.key];
    if (verdict && mayReview && !event.ctrlKey && !event.metaKey && !event.altKey) onReview(verdict, id);
    const next = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" } as const;
    const sibling = event.currentTarget[next[event.key as keyof typeof next]];
    const box = sibling?.querySelector<HTMLElement>("input[type=checkbox]");
    if (!box) return;
    event.preventDefault();
    box.focus();
  };
  return (
    <div role="row" className={classes["row"]} onKeyDown={onKeyDown}>
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
      <div role="cell" data-label="Score" className="numbers">
        {score}
      </div>
      <div role="cell" className={classes["review"]}>
        {mayReview ? <Verdicts {...{ row, subject, asset, onReview }} /> : <State row={row} />}
      </div>
    </div>
  );
}

const stateTexts = { OPEN: "Open", ACCEPTED: "Accepted", REJECTED: "Rejected" } as const;

const State = ({ row: { state } }: { row: Suggestion }) => (
  <Badge variant="default">{stateTexts[state]}</Badge>
);

type VerdictsProps = Pick<RowProps, "row" | "subject" | "asset" | "onReview">;

function Verdicts({ row, subject, asset, onReview }: VerdictsProps) {
  const { id, state } = row;
  return (
    <>
      {state !== "ACCEPTED" && (
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`Accept ${subject}, ${asset}`}
          leftSection={<Check size={14} aria-hidden />}
          onClick={() => onReview("accept", id)}
        >
          Accept
        </Button>
      )}
      {state !== "REJECTED" && (
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`Reject ${subject}, ${asset}`}
          leftSection={<X size={14} aria-hidden />}
          onClick={() => onReview("reject", id)}
        >
          Reject
        </Button>
      )}
    </>
  );
}
