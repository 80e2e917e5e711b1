// The buttons that accept and reject suggested links.
import { Button, type ButtonProps } from "@mantine/core";
import { Check, X } from "lucide-react";

export type Verdict = "accept" | "reject";

interface VerdictButtonsProps {
  readonly size: NonNullable<ButtonProps["size"]>;
  /** Their subject, as a part of their names: `23-T-1010, Tank`. */
  readonly subject?: string;
  /** Text after the word on each button. */
  readonly what?: string;
  /** The verdicts that can be given; by default both. */
  readonly verdicts?: readonly Verdict[];
  /** Whether accepting is the main action of its part of the page. */
  readonly isMain?: boolean;
  readonly disabled: boolean;
  onVerdict(verdict: Verdict): void;
}

const kinds = { accept: { word: "Accept", Icon: Check }, reject: { word: "Reject", Icon: X } } as const;

export function VerdictButtons(props: VerdictButtonsProps) {
  const { size, subject, what, verdicts = ["accept", "reject"], isMain = false, disabled, onVerdict } = props;
  return verdicts.map((verdict) => {
    const { word, Icon } = kinds[verdict];
    return (
      <Button
        key={verdict}
        size={size}
        variant={isMain && verdict === "accept" ? "filled" : "default"}
        aria-label={subject && `${word} ${subject}`}
        leftSection={<Icon size={14} aria-hidden />}
        disabled={disabled}
        onClick={() => onVerdict(verdict)}
      >
        {what ? `${word} ${what}` : word}
      </Button>
    );
  });
}
