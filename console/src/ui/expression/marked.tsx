// The text of an editor below its input, with a mark at the error.
import classes from "./expression.module.css";

/** The token at `at` is marked. */
export function Marked({ text, at }: { text: string; at: number | undefined }) {
  if (at === undefined)
    return (
      <pre className={classes["mirror"]} aria-hidden>
        {`${text} `}
      </pre>
    );
  const token = /^(?:\[[^[\]]*\]?|\w+|.)/s.exec(text.slice(at))?.[0] ?? " ";
  return (
    <pre className={classes["mirror"]} aria-hidden>
      {text.slice(0, at)}
      <mark>{token}</mark>
      {`${text.slice(at + token.length)} `}
    </pre>
  );
}
