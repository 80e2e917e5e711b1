// The section of raw rows on the page of an asset.
import { Skeleton, Text } from "@mantine/core";
import { messageOf, statusOf } from "../../api/errors.ts";
import type { Asset } from "../../api/generated.ts";
import { cellText } from "../../lib/exact-json.ts";
import { countText } from "../../lib/format.ts";
import { TextLink } from "../../ui/text-link.tsx";
import { type LinkedTable, rowsSearched, useLinkedRows } from "../raw/linked-rows.ts";
import classes from "./assets.module.css";
import { Section } from "./section.tsx";

const rowsShown = 10;
const columnsShown = 6;

export function AssetRawRows({ path }: { path: readonly Asset[] }) {
  const { data, error, isPending } = useLinkedRows(path);
  if (statusOf(error) === 403) return null;
  const tables = data?.filter(({ rows }) => rows.length > 0) ?? [];
  const count = tables.reduce((sum, { rows }) => sum + rows.length, 0);
  return (
    <Section title="Raw rows" note={count > 0 ? countText(count) : undefined}>
      {isPending && <Skeleton height={36} aria-label="Loading raw rows" />}
      {error && (
        <Text size="sm" role="alert">
          {messageOf(error)}
        </Text>
      )}
      {tables.map((table) => (
        <TableRows key={`${table.name.database} ${table.name.table}`} linked={table} />
      ))}
      {data && <Searched all={data} isEmpty={count === 0} />}
    </Section>
  );
}

function TableRows({ linked: { name, rows } }: { linked: LinkedTable }) {
  const { database, table } = name;
  return (
    <>
      <Text size="sm" c="var(--text-quiet)" mt={4}>
        {database} /{" "}
        <TextLink to="/raw/$database/$table" params={{ database, table }} underline="always">
          {table}
        </TextLink>
      </Text>
      <ul className={classes["list"]} aria-label={`Rows of ${table}`}>
        {rows.slice(0, rowsShown).map(({ key, columns }) => {
          const text = Object.entries(columns)
            .slice(0, columnsShown)
            .map(([column, value]) => `${column}: ${cellText(value)}`)
            .join(" · ");
          return (
            <li key={key}>
              <div className={classes["grow"]}>
                <TextLink
                  to="/raw/$database/$table"
                  params={{ database, table }}
                  search={{ from: key, row: key }}
                >
                  {key}
                </TextLink>
                <small title={text}>{text}</small>
              </div>
            </li>
          );
        })}
      </ul>
      {rows.length > rowsShown && (
        <Text size="sm" c="var(--text-quiet)">
          and {countText(rows.length - rowsShown)} more in this table
        </Text>
      )}
    </>
  );
}

/** Names the searched tables, so that an empty section is not taken for a proof. */
function Searched({ all, isEmpty }: { all: readonly LinkedTable[]; isEmpty: boolean }) {
  const cut = all.filter(({ isCut }) => isCut).map(({ name }) => name.table);
  if (all.length === 0)
    return (
      <Text size="sm" c="var(--text-quiet)">
        No raw table is linked to this asset or to one above it.
      </Text>
    );
  return (
    <Text size="xs" c="var(--text-quiet)" mt={6}>
      {isEmpty && "No row names this asset. "}
      Searched for the name and the external id of the asset in the tables that are linked to it or to an
      asset above: {all.map(({ name }) => name.table).join(", ")}.
      {cut.length > 0 &&
        ` Of ${cut.join(", ")}, the first ${countText(rowsSearched)} rows and all keys were searched.`}
    </Text>
  );
}
