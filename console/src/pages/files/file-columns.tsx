// The columns of the table of files.
import { Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { TriangleAlert } from "lucide-react";
import type { File } from "../../api/generated.ts";
import { timeText } from "../../lib/format.ts";
import type { TableColumn } from "../../ui/virtual-table.tsx";
import classes from "./files.module.css";

const assetsShown = 2;

export const fileColumns = (assetName: (id: number) => string): TableColumn<File>[] => [
  {
    ...{ key: "name", label: "Name", width: "minmax(140px, 2.2fr)" },
    cell: ({ id, fileName, directory, uploaded }) => (
      <div className={classes["name"]}>
        <Link to="/files/$id" params={{ id }} title={fileName}>
          {fileName}
        </Link>
        <span title={directory}>
          {!uploaded && (
            <b className={classes["missing"]}>
              <TriangleAlert size={12} aria-hidden /> no content yet
            </b>
          )}{" "}
          {directory}
        </span>
      </div>
    ),
  },
  {
    ...{ key: "type", label: "Type", width: "minmax(90px, 1fr)", isOptional: true },
    cell: ({ fileType }) => <span title={fileType}>{fileType}</span>,
  },
  {
    ...{ key: "assets", label: "Assets", width: "minmax(120px, 1.4fr)", isOptional: true },
    cell: ({ assetIds }) => assetsText(assetIds, assetName),
  },
  {
    ...{ key: "uploaded", label: "Uploaded", width: "160px", isOptional: true },
    cell: ({ uploadedAt }) => (
      <span className="numbers">{uploadedAt !== undefined && timeText(uploadedAt)}</span>
    ),
  },
  {
    ...{ key: "changed", label: "Changed", width: "160px", isOptional: true },
    cell: ({ lastUpdatedTime }) => (
      <Text span inherit c="var(--text-quiet)" className="numbers">
        {timeText(lastUpdatedTime)}
      </Text>
    ),
  },
];

function assetsText(ids: readonly number[], nameOf: (id: number) => string): string {
  const names = ids.slice(0, assetsShown).map(nameOf).join(", ");
  return ids.length > assetsShown ? `${names} and ${ids.length - assetsShown} more` : names;
}
