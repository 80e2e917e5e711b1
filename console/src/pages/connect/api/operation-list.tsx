// The operations of a version by resource, with a search.
import { Text, TextInput } from "@mantine/core";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { useState } from "react";
import { countText } from "../../../lib/format.ts";
import classes from "./api.module.css";
import { foundOperations, type Operation, shortPath } from "./operations.ts";

export function OperationList({ operations }: { operations: readonly Operation[] }) {
  const { find = "" } = useSearch({ from: "/frame/connect/api" });
  const navigate = useNavigate({ from: "/connect/api" });
  const [text, setText] = useState(find);
  const groups = foundOperations(operations, text);
  const change = (value: string) => {
    setText(value);
    void navigate({ search: (now) => ({ ...now, find: value.trim() || undefined }), replace: true });
  };
  const count = groups.reduce((sum, [, members]) => sum + members.length, 0);
  return (
    <nav className={classes["list"]} aria-label="Operations">
      <TextInput
        type="search"
        aria-label="Search operations"
        placeholder="Search by path or purpose"
        leftSection={<Search size={15} aria-hidden />}
        value={text}
        onChange={(event) => change(event.currentTarget.value)}
      />
      <Text size="xs" c="var(--text-quiet)" role="status" my={6}>
        {count === 0
          ? "No operation has these words"
          : `${countText(count)} ${count === 1 ? "operation" : "operations"}`}
      </Text>
      {groups.map(([tag, members]) => (
        <section key={tag} aria-label={tag}>
          <h2 className={classes["tag"]}>{tag}</h2>
          <ul className={classes["operations"]}>
            {members.map((operation) => (
              <OperationLink key={operation.id} operation={operation} />
            ))}
          </ul>
        </section>
      ))}
    </nav>
  );
}

function OperationLink({ operation: { id, method, path, summary } }: { operation: Operation }) {
  const { operation: openId } = useSearch({ from: "/frame/connect/api" });
  return (
    <li>
      <Link
        to="/connect/api"
        search={({ version, find }) => ({ version, find, operation: id })}
        className={classes["operation"]}
        aria-current={id === openId ? "page" : undefined}
        title={summary}
      >
        <Method method={method} />
        <span className={classes["summary"]}>{summary}</span>
        <span className={classes["path"]}>{shortPath(path)}</span>
      </Link>
    </li>
  );
}

export const Method = ({ method }: { method: string }) => (
  <span className={classes["method"]} data-method={method}>
    {method}
  </span>
);
