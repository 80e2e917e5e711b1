// The cursor of a chart: a vertical line, a dot on each line, and the values at that time.
import { memo } from "react";
import { numberText, timeText } from "../../lib/format.ts";
import { pageScale } from "../page-scale.ts";
import classes from "./chart.module.css";
import type { ChartBand, ChartLine } from "./chart-line.ts";
import { indexAt, shownTime, type TimeWindow } from "./columns.ts";
import type { PlotArea } from "./plot.ts";

interface TooltipProps {
  readonly area: PlotArea;
  readonly lines: readonly ChartLine[];
  readonly bands: readonly ChartBand[];
  readonly window: TimeWindow;
  readonly timeZone: string;
  readonly cursorMs: number;
}

const linesMax = 12;
const bandsMax = 5;
const widthPx = 260 * pageScale;
/** Values of points are shown as they are, calculated ones as people can read them. */
const pointDigits = 8;
const averageDigits = 5;

export const Tooltip = memo(function Tooltip({
  area,
  lines,
  bands,
  window,
  timeZone,
  cursorMs,
}: TooltipProps) {
  const share = (cursorMs - window.startMs) / (window.endMs - window.startMs);
  if (share < 0 || share > 1) return null;
  const left = area.left + share * area.width;
  const isOnLeft = left + widthPx > area.left + area.width && left > widthPx;
  return (
    <>
      <div className={classes["cursor"]} style={{ left, top: area.top, height: area.height }} />
      <div
        className={classes["tooltip"]}
        style={{
          left,
          top: area.top + 8,
          transform: `translateX(${isOnLeft ? "calc(-100% - 10px)" : "10px"})`,
        }}
      >
        <strong className="numbers">{timeText(cursorMs, timeZone)}</strong>
        {lines.slice(0, linesMax).map((line) => (
          <div key={line.key} className={classes["tooltipLine"]}>
            <span className={classes["swatch"]} style={{ background: line.color }} />
            <span className={classes["tooltipName"]}>{line.label}</span>
            <span className="numbers">{valueText(line, cursorMs)}</span>
          </div>
        ))}
        {bands
          .filter(({ startMs, endMs = Number.POSITIVE_INFINITY }) => startMs <= cursorMs && cursorMs <= endMs)
          .slice(0, bandsMax)
          .map((band) => (
            <div key={band.key} className={classes["tooltipLine"]}>
              <span className={classes["bandSwatch"]} style={{ background: band.color }} />
              <span className={classes["tooltipName"]}>{band.label}</span>
            </div>
          ))}
        {lines.length > linesMax && <div>and {lines.length - linesMax} more in the table</div>}
      </div>
    </>
  );
});

/** The index in the data of a line that a cursor points at. */
function indexOf(line: ChartLine, timeMs: number): number | undefined {
  const shape = line.kind === "numbers" ? line : { isStep: true, gapMs: 0 };
  return line.columns && indexAt(line.columns, timeMs, shape);
}

/** The value of a line at a time, with its unit; a dash where it has none. */
export function valueText(line: ChartLine, timeMs: number): string {
  const { columns } = line;
  const index = indexOf(line, timeMs);
  if (!columns || index === undefined) return "–";
  if (columns.kind === "text") return columns.texts[index]!;
  const digits = columns.kind === "raw" ? pointDigits : averageDigits;
  return `${numberText(columns.values[index]!, digits)} ${line.kind === "numbers" ? line.axis : ""}`.trim();
}

/** The time of the value that a cursor at `timeMs` points at. */
export function timeOfValue(line: ChartLine, timeMs: number): number | undefined {
  const index = indexOf(line, timeMs);
  return index === undefined ? undefined : shownTime(line.columns!, index);
}

/** The number of a line at a time. */
export function numberAt(line: ChartLine, timeMs: number): number | undefined {
  const index = indexOf(line, timeMs);
  return line.kind === "texts" || index === undefined ? undefined : line.columns?.values[index];
}
