// Two cursors that stay where they are put: A and B. They are moved by dragging or with the arrow keys.
import { type KeyboardEvent, type PointerEvent, useState } from "react";
import { timeText } from "../../lib/format.ts";
import classes from "./chart.module.css";
import type { TimeWindow } from "./columns.ts";
import type { PlotArea } from "./plot.ts";

/** The times of A and B. */
export type Measure = readonly [aMs: number, bMs: number];

interface MeasureCursorsProps {
  readonly area: PlotArea;
  readonly window: TimeWindow;
  readonly timeZone: string;
  readonly measure: Measure;
  onChange(measure: Measure): void;
}

const keySteps = 200;

export function MeasureCursors({ area, window, timeZone, measure, onChange }: MeasureCursorsProps) {
  const [dragged, setDragged] = useState<Measure>();
  const perPixel = (window.endMs - window.startMs) / area.width;
  const inside = (timeMs: number) => Math.round(Math.min(window.endMs, Math.max(window.startMs, timeMs)));
  const moved = (index: number, timeMs: number): Measure =>
    index === 0 ? [inside(timeMs), measure[1]] : [measure[0], inside(timeMs)];
  const onPointerMove = (event: PointerEvent<HTMLElement>, index: number) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const box = event.currentTarget.parentElement!.getBoundingClientRect();
    setDragged(moved(index, window.startMs + (event.clientX - box.left - area.left) * perPixel));
  };
  const onPointerUp = () => {
    if (dragged) onChange(dragged);
    setDragged(undefined);
  };
  const onKeyDown = (event: KeyboardEvent, index: number) => {
    const direction = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (direction === undefined) return;
    event.preventDefault();
    onChange(moved(index, measure[index]! + (direction * (window.endMs - window.startMs)) / keySteps));
  };
  return (dragged ?? measure).map((timeMs, index) => {
    const left = area.left + (timeMs - window.startMs) / perPixel;
    if (left < area.left - 1 || left > area.left + area.width + 1) return null;
    const name = "AB"[index]!;
    return (
      <div
        key={name}
        className={classes["measure"]}
        style={{ left, top: area.top, height: area.height }}
        role="slider"
        tabIndex={0}
        aria-label={`Cursor ${name}`}
        aria-valuemin={window.startMs}
        aria-valuemax={window.endMs}
        aria-valuenow={timeMs}
        aria-valuetext={timeText(timeMs, timeZone)}
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={(event) => onPointerMove(event, index)}
        onPointerUp={onPointerUp}
        onKeyDown={(event) => onKeyDown(event, index)}
      >
        <span>{name}</span>
      </div>
    );
  });
}
