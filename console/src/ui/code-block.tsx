// Text for other programs, with a button that copies it.
import { Button, CopyButton } from "@mantine/core";
import { Check, Copy } from "lucide-react";
import classes from "./code-block.module.css";

interface CodeBlockProps {
  /** Names the text: "Read values". */
  readonly label: string;
  readonly language: string;
  readonly code: string;
}

export function CodeBlock({ label, language, code }: CodeBlockProps) {
  return (
    <figure className={classes["block"]} aria-label={label}>
      <figcaption className={classes["head"]}>
        <span>{label}</span>
        <span className={classes["language"]}>{language}</span>
        <CopyButton value={code}>
          {({ copied, copy }) => (
            <Button
              size="compact-xs"
              variant="default"
              aria-label={`Copy ${label}`}
              leftSection={copied ? <Check size={13} aria-hidden /> : <Copy size={13} aria-hidden />}
              onClick={copy}
            >
              {copied ? "Copied" : "Copy"}
            </Button>
          )}
        </CopyButton>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long line is scrolled by the keyboard. */}
      <pre className={classes["code"]} tabIndex={0}>
        {code}
      </pre>
    </figure>
  );
}
