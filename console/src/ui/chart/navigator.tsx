// The navigator strip: the data around the window, and the window in it as a part that can be moved.
import { useComputedColorScheme } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { type KeyboardEvent, memo, type PointerEvent, useEffect, useLayoutEffect, useRef } from "react";
import { timeText } from "../../lib/format.ts";
import classes from "./chart.module.css";
import { chartColors } from "./chart-colors.ts";
import type { NumberLine } from "./chart-line.ts";
import type { TimeWindow } from "./columns.ts";
import { drawLine } from "./draw-lines.ts";
import { panned } from "./gestures.ts";
import type { MovingWindow } from "./moving-window.ts";
import { rangeOf } from "./value-range.ts";

interface NavigatorProps {
  readonly lines: readonly NumberLine[];
  /** The time that the strip shows. */
  readonly whole: TimeWindow;
  readonly window: TimeWindow;
  /** The strip shows this window while it moves. */
  readonly moving: MovingWindow;
  readonly timeZone: string;
  onMove(window: TimeWindow): void;
  onMoved(): void;
}

const keyPan = 0.25;

export const Navigator = memo(function Navigator({
  lines,
  whole,
  window,
  moving,
  timeZone,
  onMove,
  onMoved,
}: NavigatorProps) {
  const { ref, width, height } = useElementSize();
  const canvas = useRef<HTMLCanvasElement>(null);
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  useEffect(() => {
    if (canvas.current && width > 0) draw(canvas.current, { lines, whole, width, height, scheme });
  }, [lines, whole, width, height, scheme]);
  const now = () => moving.now() ?? window;
  const drag = useDrag({ whole, now, width, onMove, onMoved });
  const brush = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const show = () => place(brush.current!, { window: moving.now() ?? window, whole, width });
    show();
    return moving.subscribe(show);
  }, [moving, window, whole, width]);
  const onKeyDown = (event: KeyboardEvent) => {
    const direction = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (direction === undefined) return;
    event.preventDefault();
    onMove(panned(now(), direction * keyPan));
    onMoved();
  };
  return (
    <div ref={ref} className={classes["navigator"]} {...drag("jump")}>
      <canvas ref={canvas} aria-hidden />
      <span className={classes["navigatorLabel"]} style={{ left: 6 }}>
        {timeText(whole.startMs, timeZone).slice(0, 16)}
      </span>
      <span className={classes["navigatorLabel"]} style={{ right: 6 }}>
        {timeText(whole.endMs, timeZone).slice(0, 16)}
      </span>
      <div
        ref={brush}
        className={classes["brush"]}
        role="slider"
        tabIndex={0}
        aria-label="The window in the navigator"
        aria-valuemin={whole.startMs}
        aria-valuemax={whole.endMs}
        aria-valuenow={window.startMs}
        aria-valuetext={`${timeText(window.startMs, timeZone)} to ${timeText(window.endMs, timeZone)}`}
        onKeyDown={onKeyDown}
        {...drag("window")}
      >
        <div className={classes["handle"]} style={{ left: -4 }} {...drag("start")} />
        <div className={classes["handle"]} style={{ right: -4 }} {...drag("end")} />
      </div>
    </div>
  );
});

interface BrushPlace {
  readonly window: TimeWindow;
  readonly whole: TimeWindow;
  readonly width: number;
}

/** Unlike `left`, a transform moves it without a layout of the page in each frame. */
function place({ style }: HTMLElement, { window, whole, width }: BrushPlace): void {
  const pixels = (timeMs: number) => ((timeMs - whole.startMs) / (whole.endMs - whole.startMs)) * width;
  const left = Math.max(0, pixels(window.startMs));
  style.transform = `translateX(${left.toFixed(2)}px)`;
  style.width = `${Math.max(0, Math.min(width, pixels(window.endMs)) - left).toFixed(2)}px`;
}

interface DragSetting {
  readonly whole: TimeWindow;
  readonly width: number;
  /** The window that is shown. */
  now(): TimeWindow;
  onMove(window: TimeWindow): void;
  onMoved(): void;
}

type Grip = "window" | "start" | "end" | "jump";

/** Pointer listeners for the parts of the strip. A click beside the window moves it there. */
function useDrag({ whole, now, width, onMove, onMoved }: DragSetting) {
  const from = useRef<{ grip: Grip; clientX: number; window: TimeWindow }>(null);
  const perPixel = (whole.endMs - whole.startMs) / Math.max(1, width);
  const down = (grip: Grip) => (event: PointerEvent<HTMLElement>) => {
    if (event.button !== 0) return;
    event.stopPropagation();
    event.currentTarget.setPointerCapture(event.pointerId);
    let start = now();
    if (grip === "jump") {
      const at =
        whole.startMs + (event.clientX - event.currentTarget.getBoundingClientRect().left) * perPixel;
      const half = (start.endMs - start.startMs) / 2;
      start = { startMs: at - half, endMs: at + half };
      onMove(start);
    }
    from.current = { grip, clientX: event.clientX, window: start };
  };
  const move = (event: PointerEvent<HTMLElement>) => {
    if (!from.current) return;
    event.stopPropagation();
    const by = (event.clientX - from.current.clientX) * perPixel;
    const { startMs, endMs } = from.current.window;
    const { grip } = from.current;
    const start = grip === "end" ? startMs : startMs + by;
    const end = grip === "start" ? endMs : endMs + by;
    if (end - start > perPixel) onMove({ startMs: start, endMs: end });
  };
  const up = (event: PointerEvent<HTMLElement>) => {
    if (!from.current) return;
    event.stopPropagation();
    from.current = null;
    onMoved();
  };
  return (grip: Grip) => ({
    onPointerDown: down(grip),
    onPointerMove: move,
    onPointerUp: up,
    onPointerCancel: up,
  });
}

interface StripPicture {
  readonly lines: readonly NumberLine[];
  readonly whole: TimeWindow;
  readonly width: number;
  readonly height: number;
  readonly scheme: "light" | "dark";
}

/** Each line has a range of its own: the strip shows shapes, not values. */
function draw(canvas: HTMLCanvasElement, { lines, whole, width, height, scheme }: StripPicture): void {
  const ratio = devicePixelRatio;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d")!;
  context.fillStyle = chartColors(scheme).surface;
  context.fillRect(0, 0, canvas.width, canvas.height);
  const x = (timeMs: number) => ((timeMs - whole.startMs) / (whole.endMs - whole.startMs)) * canvas.width;
  for (const line of lines) {
    const [low, high] = rangeOf([line], whole);
    const y = (value: number) => canvas.height * (0.66 - 0.58 * ((value - low) / (high - low)));
    drawLine(context, line, whole, { x, y, ratio });
  }
}
