// The tags found in a drawing as a list, which is also the way to the assets without a picture, and the
// button that finds them.
import { Button, Card, Text, Title } from "@mantine/core";
import { ScanSearch } from "lucide-react";
import type { File } from "../../api/generated.ts";
import { countOf, countText } from "../../lib/format.ts";
import { mayDo } from "../../session/rights.ts";
import { useSession } from "../../session/session.ts";
import { Refusal } from "../../ui/confirm.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { useAssetNames } from "../../ui/use-asset-names.ts";
import { isDrawing, useDrawingTags, useFindTags } from "./drawing-tags.ts";
import classes from "./files.module.css";

/** Nothing for a file that is no drawing. */
export function DrawingCard({ file }: { file: File }) {
  const tags = useDrawingTags(file);
  const mayFind = mayDo(useSession(), "suggestionsAcl", "WRITE");
  const assetName = useAssetNames(tags.map(({ assetId }) => assetId));
  if (!isDrawing(file) || (tags.length === 0 && !mayFind)) return null;
  const places = Map.groupBy(tags, ({ assetId }) => assetId);
  const assets = [...places].map(([assetId, of]) => ({ assetId, of, name: assetName(assetId) }));
  return (
    <Card component="section" aria-label="Tags in the drawing">
      <Title order={2} size="h5" mb="xs">
        Tags in the drawing
      </Title>
      {mayFind && <FindTags file={file} />}
      {tags.some(({ state }) => state === "OPEN") && (
        <TextLink to="/suggestions" search={{ kind: "FILE" }} size="sm" mt={6}>
          Review the suggestions
        </TextLink>
      )}
      <ul className={classes["tags"]}>
        {assets
          .sort((a, b) => a.name.localeCompare(b.name))
          .map(({ assetId, of, name }) => (
            <li key={assetId}>
              <TextLink to="/assets/$id" params={{ id: assetId }}>
                {name}
              </TextLink>
              <small>
                {[...new Set(of.map(({ page }) => `page ${page}`))].join(", ")}
                {of.every(({ state }) => state === "OPEN") && ", suggested"}
              </small>
            </li>
          ))}
      </ul>
    </Card>
  );
}

function FindTags({ file }: { file: File }) {
  const { mutate, isPending, data, error } = useFindTags(file);
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<ScanSearch size={14} aria-hidden />}
        loading={isPending}
        onClick={() => mutate()}
      >
        Find tags
      </Button>
      <Text size="sm" c="var(--text-quiet)" role="status">
        {data && `Found ${countOf(data.matched, "tag")} of assets. ${newOf(data.proposed)}.`}
      </Text>
      <Refusal problem={error} />
    </>
  );
}

const newOf = (count: number) => `${countText(count)} ${count === 1 ? "is" : "are"} new`;
