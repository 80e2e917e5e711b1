// The events, files and sequences that are linked to an asset.
import { useInfiniteQuery } from "@tanstack/react-query";
import { getEvents, getFiles, getSequences } from "../../api/generated.ts";
import { countOf, durationText, timeText } from "../../lib/format.ts";
import { useProject } from "../../session/session.ts";
import { TextLink } from "../../ui/text-link.tsx";
import { type LinkedTo, linkedTo } from "./asset-series.tsx";
import classes from "./assets.module.css";
import { RecordSection } from "./section.tsx";

const pageSize = 10;

interface Paging {
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** Pages of a list; `kind` names it in the cache. */
function usePages<Page extends { readonly nextCursor?: string }>(
  kind: string,
  linked: LinkedTo,
  read: (paging: Paging, options: { readonly signal: AbortSignal }) => Promise<{ readonly data: Page }>,
) {
  const project = useProject();
  return useInfiniteQuery({
    queryKey: [kind, project, "of asset", linked],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam, signal }) =>
      (await read({ limit: pageSize, cursor: pageParam }, { signal })).data,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
}

export function AssetEvents(linked: LinkedTo) {
  const project = useProject();
  const { assetId, isBelow } = linked;
  const filter = isBelow ? { assetSubtrees: JSON.stringify([assetId]) } : { assetId };
  const events = usePages("events", linked, (paging, options) =>
    getEvents(project, { ...filter, sort: "DESC", ...paging }, options),
  );
  return (
    <RecordSection title="Events" records={events} empty="No event is linked to this asset.">
      {(items) => (
        <ul className={classes["list"]}>
          {items.map(({ id, startTime, endTime, type, subtype, description }) => (
            <li key={id}>
              <div className={classes["grow"]}>
                <TextLink to="/events/$id" params={{ id }}>
                  {[type, subtype].filter(Boolean).join(" · ") || "Event"}
                </TextLink>
                {description !== undefined && <small title={description}>{description}</small>}
              </div>
              <div className={classes["value"]}>
                {startTime !== undefined && timeText(startTime)}
                <small>{durationOf(startTime, endTime)}</small>
              </div>
            </li>
          ))}
        </ul>
      )}
    </RecordSection>
  );
}

function durationOf(startTime: number | undefined, endTime: number | undefined): string {
  if (startTime === undefined || endTime === undefined) return "not ended";
  return endTime === startTime ? "" : durationText(endTime - startTime);
}

export function AssetFiles(linked: LinkedTo) {
  const project = useProject();
  const files = usePages("files", linked, (paging, options) =>
    getFiles(project, { ...linkedTo(linked), sort: "DESC", ...paging }, options),
  );
  return (
    <RecordSection title="Files" records={files} empty="No file is linked to this asset.">
      {(items) => (
        <ul className={classes["list"]}>
          {items.map(({ id, fileName, directory, uploaded, lastUpdatedTime }) => (
            <li key={id}>
              <div className={classes["grow"]}>
                <TextLink to="/files/$id" params={{ id }}>
                  {fileName}
                </TextLink>
                {directory !== undefined && <small>{directory}</small>}
              </div>
              <div className={classes["value"]}>
                {uploaded ? timeText(lastUpdatedTime) : "not uploaded yet"}
              </div>
            </li>
          ))}
        </ul>
      )}
    </RecordSection>
  );
}

export function AssetSequences(linked: LinkedTo) {
  const project = useProject();
  const sequences = usePages("sequences", linked, (paging, options) =>
    getSequences(project, { ...linkedTo(linked), ...paging }, options),
  );
  return (
    <RecordSection title="Sequences" records={sequences} empty="No sequence is linked to this asset.">
      {(items) => (
        <ul className={classes["list"]}>
          {items.map(({ id, name, externalId, description, columns }) => (
            <li key={id}>
              <div className={classes["grow"]}>
                <TextLink to="/sequences/$id" params={{ id }}>
                  {name ?? externalId ?? id}
                </TextLink>
                {description !== null && <small title={description}>{description}</small>}
              </div>
              <div className={classes["value"]}>{countOf(columns.length, "column")}</div>
            </li>
          ))}
        </ul>
      )}
    </RecordSection>
  );
}
