// A list of saved trends, each of which is a link.
import { Anchor, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Trend } from "../../api/generated.ts";
import { trendSearch } from "./search.ts";
import classes from "./trend-links.module.css";

export const TrendLinks = ({ trends }: { trends: readonly Trend[] }) => (
  <ul className={classes["list"]}>
    {trends.map(({ id, name, owner, definition }) => (
      <li key={id} className={classes["item"]}>
        <Anchor
          size="sm"
          renderRoot={(props) => (
            <Link to="/trend" search={{ ...trendSearch(definition ?? {}), trend: id }} {...props} />
          )}
        >
          {name}
        </Anchor>
        <Text size="sm" c="var(--text-quiet)">
          {owner}
        </Text>
      </li>
    ))}
  </ul>
);
