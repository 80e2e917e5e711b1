// Shows a file: pictures, SVG, PDF, and the start of text and CSV.
//
// Nothing of a file runs as a script in the console. SVG is shown as an image, in which scripts do not run
// and nothing is loaded, from a `data:` address, which has no access to the console when it is opened alone.
// PDF is for the browser's viewer; its type is set here, so a page that calls itself PDF is not shown. A PDF
// with tags of assets is drawn as pictures, over which areas can be.
import { Card, Image, Pagination, Switch, Table, Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import type { File, Suggestion } from "../../api/generated.ts";
import { CsvReader, delimiterOf, encodingOf } from "../../lib/csv.ts";
import { bytesText, countText } from "../../lib/format.ts";
import { useProject } from "../../session/session.ts";
import { Empty, Failure, Loading } from "../../ui/page-states.tsx";
import { useDrawingTags } from "./drawing-tags.ts";
import { type FileStart, readAll, readStart } from "./file-content.ts";
import classes from "./files.module.css";
import { Hotspots } from "./hotspots.tsx";
import { pdfPicture } from "./pdf-pages.ts";
import { type PreviewKind, previewKindOf } from "./preview-kind.ts";

/** Text and CSV are shown up to here. */
const textBytesMax = 256 * 1024;
/** Larger files take long to load, and much memory to show. */
const wholeBytesMax = 64 * 1024 ** 2;
const svgBytesMax = 8 * 1024 ** 2;
const csvRowsMax = 500;

/** The start of the content; `uploadedAt` tells new content from old. */
export function useFileStart({ id, uploaded, uploadedAt }: File) {
  const project = useProject();
  return useQuery({
    queryKey: ["file content", project, id, uploadedAt, "start"],
    enabled: uploaded,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => readStart(project, { id, bytesMax: textBytesMax, signal }),
  });
}

export function FilePreview({ file }: { file: File }) {
  const { data, error, isPending, refetch } = useFileStart(file);
  return (
    <Card component="section" aria-label="Preview">
      {!file.uploaded && (
        <Empty title="This file has no content yet">
          Its record exists, and its content was not uploaded or the upload is not complete.
        </Empty>
      )}
      {file.uploaded && isPending && <Loading what="the preview" />}
      {error && <Failure problem={error} onRetry={() => void refetch()} />}
      {data && <Content file={file} start={data} />}
    </Card>
  );
}

function Content({ file, start }: { file: File; start: FileStart }) {
  const { bytes, size, contentType } = start;
  if (size === 0) return <Empty title="This file is empty">It has a size of 0 bytes.</Empty>;
  const preview = previewKindOf({ name: file.fileName, contentType, bytes });
  switch (preview.kind) {
    case "text":
      return <TextPreview start={start} />;
    case "csv":
      return <CsvPreview start={start} name={file.fileName} />;
    case "none":
      return (
        <Empty title="This kind of file has no preview">Download it to open it in another program.</Empty>
      );
    default:
      return <WholePreview {...{ file, size, preview }} />;
  }
}

interface WholePreviewProps {
  readonly file: File;
  readonly size: number;
  readonly preview: Extract<PreviewKind, { readonly type: string }>;
}

/** Kinds that cannot be shown in part. */
function WholePreview({ file, size, preview }: WholePreviewProps) {
  const { id, fileName, uploadedAt } = file;
  const project = useProject();
  const { kind, type } = preview;
  const limit = kind === "svg" ? svgBytesMax : wholeBytesMax;
  const isTooLarge = size > limit;
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ["file content", project, id, uploadedAt, "whole", type],
    enabled: !isTooLarge,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    queryFn: async ({ signal }) => new Blob([await readAll(project, id, signal)], { type }),
  });
  const address = useAddress(data, kind);
  if (isTooLarge)
    return (
      <Empty title="This file is too large for a preview">
        It has {bytesText(size)}, and a preview at most {bytesText(limit)}. Download it to open it.
      </Empty>
    );
  if (error) return <Failure problem={error} onRetry={() => void refetch()} />;
  if (isPending || address === undefined) return <Loading what="the preview" />;
  if (kind === "pdf")
    return (
      <PdfPreview file={file} content={data}>
        <Viewer name={fileName} address={address} />
      </PdfPreview>
    );
  const picture = { address, name: fileName };
  return kind === "svg" ? <Drawing file={file} {...picture} /> : <Picture key={address} {...picture} />;
}

function Viewer({ name, address }: { name: string; address: string }) {
  if (!navigator.pdfViewerEnabled)
    return <Empty title="This browser has no viewer for PDF">Download the file to open it.</Empty>;
  return <iframe className={classes["document"]} title={name} src={address} />;
}

interface PdfPreviewProps {
  readonly file: File;
  readonly content: Blob;
  /** The browser's viewer. */
  readonly children: ReactNode;
}

/** The viewer, or a page with the areas of the tags that were found in the drawing. */
function PdfPreview({ file, content, children }: PdfPreviewProps) {
  const tags = useDrawingTags(file);
  const [isPlain, setIsPlain] = useState(false);
  if (tags.length === 0) return children;
  return (
    <>
      <Switch
        mb="xs"
        label="Show the assets on the drawing"
        checked={!isPlain}
        onChange={({ currentTarget }) => setIsPlain(!currentTarget.checked)}
      />
      {isPlain ? children : <PdfDrawing {...{ file, content, tags }} />}
    </>
  );
}

interface PdfDrawingProps extends Omit<PdfPreviewProps, "children"> {
  readonly tags: readonly Suggestion[];
}

function PdfDrawing({ file: { id, fileName, uploadedAt }, content, tags }: PdfDrawingProps) {
  const project = useProject();
  const [page, setPage] = useState(() => Math.min(...tags.map((tag) => tag.page ?? 1)));
  const { data, error, refetch } = useQuery({
    queryKey: ["file content", project, id, uploadedAt, "page", page],
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
    placeholderData: keepPreviousData,
    queryFn: async () => ({ ...(await pdfPicture(content, page)), page }),
  });
  const address = useAddress(data?.picture, "pdf");
  if (error) return <Failure problem={error} onRetry={() => void refetch()} />;
  if (!data || address === undefined) return <Loading what="the drawing" />;
  return (
    <>
      {data.pages > 1 && (
        <Pagination
          mb="xs"
          size="sm"
          total={data.pages}
          value={page}
          onChange={setPage}
          getItemProps={(number) => ({ "aria-label": `Page ${number}` })}
          getControlProps={(control) => ({ "aria-label": `The ${control} page` })}
        />
      )}
      <Hotspots tags={tags.filter((tag) => tag.page === data.page)}>
        <Picture key={address} address={address} name={`Page ${data.page} of ${fileName}`} w="100%" />
      </Hotspots>
    </>
  );
}

/** The picture with the areas of the tags that were found in it. */
function Drawing({ file, ...picture }: { file: File } & PictureProps) {
  const tags = useDrawingTags(file);
  if (tags.length === 0) return <Picture key={picture.address} {...picture} />;
  return (
    <Hotspots tags={tags}>
      <Picture key={picture.address} {...picture} w="100%" />
    </Hotspots>
  );
}

interface PictureProps {
  readonly address: string;
  readonly name: string;
  readonly w?: string;
}

function Picture({ address, name, w = "auto" }: PictureProps) {
  const [isBroken, setIsBroken] = useState(false);
  if (isBroken)
    return (
      <Empty title="The browser cannot show this image">
        The file may be damaged. Download it to open it in another program.
      </Empty>
    );
  return (
    <Image className={classes["picture"]} w={w} src={address} alt={name} onError={() => setIsBroken(true)} />
  );
}

/** An address for the bytes, for as long as they are on the page. */
function useAddress(blob: Blob | undefined, kind: PreviewKind["kind"]): string | undefined {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (!blob) return;
    if (kind === "svg") {
      const reader = new FileReader();
      reader.onload = () => setAddress(reader.result as string);
      reader.readAsDataURL(blob);
      return () => reader.abort();
    }
    const url = URL.createObjectURL(blob);
    setAddress(url);
    return () => URL.revokeObjectURL(url);
  }, [blob, kind]);
  return address;
}

function TextPreview({ start }: { start: FileStart }) {
  return (
    <>
      <Part start={start} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach and scroll it. */}
      <pre className={classes["text"]} tabIndex={0} role="region" aria-label="Text">
        {textOf(start)}
      </pre>
    </>
  );
}

/** Without the last line when it is cut. */
function textOf({ bytes, size }: FileStart): string {
  const text = new TextDecoder(encodingOf(bytes)).decode(bytes, { stream: true });
  const end = text.lastIndexOf("\n");
  return bytes.length < size && end > 0 ? text.slice(0, end) : text;
}

const Part = ({ start: { bytes, size }, children }: { start: FileStart; children?: ReactNode }) =>
  bytes.length < size || children ? (
    <Text size="sm" c="var(--text-quiet)" mb={6} role="note">
      {children}
      {bytes.length < size &&
        `These are the first ${bytesText(bytes.length)} of ${bytesText(size)}. Download the file for all.`}
    </Text>
  ) : null;

function CsvPreview({ start, name }: { start: FileStart; name: string }) {
  const text = textOf(start);
  const reader = new CsvReader(delimiterOf(text.slice(0, 20_000)));
  const [header = [], ...records] = [...reader.read(text), ...reader.end()];
  const shown = records.slice(0, csvRowsMax);
  return (
    <>
      <Part start={start}>
        {records.length > shown.length && `The table shows the first ${countText(csvRowsMax)} rows. `}
      </Part>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach and scroll it. */}
      <div className={classes["rows"]} tabIndex={0} role="region" aria-label="Table">
        <Table aria-label={`Rows of ${name}`} fz="xs" stickyHeader withTableBorder>
          <Table.Thead>
            <CsvRow cells={header} as="th" />
          </Table.Thead>
          <Table.Tbody>
            {shown.map((cells, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no key, and they do not change.
              <CsvRow key={at} cells={cells} as="td" />
            ))}
          </Table.Tbody>
        </Table>
      </div>
    </>
  );
}

function CsvRow({ cells, as }: { cells: readonly string[]; as: "th" | "td" }) {
  const Cell = as === "th" ? Table.Th : Table.Td;
  return (
    <Table.Tr>
      {cells.map((cell, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: cells are known by their column.
        <Cell key={at} style={{ whiteSpace: "nowrap" }}>
          {cell.slice(0, 200)}
        </Cell>
      ))}
    </Table.Tr>
  );
}
