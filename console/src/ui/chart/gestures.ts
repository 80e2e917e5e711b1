// Mouse, wheel and touch over a plot: zoom, pan and the cursor. uPlot itself draws the selected area.
import type UPlot from "uplot";
import type { ValueRange } from "./chart-line.ts";
import type { TimeWindow } from "./columns.ts";

export interface Selection {
  readonly window: TimeWindow;
  /** The ranges of the axes when the selection is not over the whole height. */
  readonly ranges: readonly (readonly [axis: string, range: ValueRange])[];
}

export interface Gestures {
  /** A window while it moves. */
  onMove(window: TimeWindow): void;
  /** The movement has ended. */
  onMoved(): void;
  onSelect(selection: Selection): void;
  /** Absent if the value axes have no zoom. */
  readonly onRanges?: ((ranges: Selection["ranges"]) => void) | undefined;
  /** Back to the range of the data, of all value axes. */
  onReset(): void;
  /** The time below the pointer, or undefined outside of the plot. */
  onPoint(timeMs: number | undefined): void;
}

const zoomPerPixel = 1.0016;
/** A pause after which a movement of the wheel has ended. */
const wheelPauseMs = 280;

/** The window when it is `factor` times as long and `centerMs` stays where it is. */
export function zoomed({ startMs, endMs }: TimeWindow, factor: number, centerMs: number): TimeWindow {
  return { startMs: centerMs - (centerMs - startMs) * factor, endMs: centerMs + (endMs - centerMs) * factor };
}

/** The window when it moves by this share of its length. */
export function panned({ startMs, endMs }: TimeWindow, share: number): TimeWindow {
  const by = (endMs - startMs) * share;
  return { startMs: startMs + by, endMs: endMs + by };
}

/** Returns the function that stops listening. */
export function listenToGestures(plot: UPlot, axes: readonly string[], gestures: Gestures): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  const { over } = plot;
  over.style.touchAction = "pan-y";
  const point = (event: MouseEvent) =>
    gestures.onPoint(plot.posToVal(event.clientX - over.getBoundingClientRect().left, "x"));
  const onPointerMove = (event: PointerEvent) => {
    // The pointer is captured while it pans.
    if (event.pointerType === "mouse" && !over.hasPointerCapture(event.pointerId)) point(event);
  };
  over.addEventListener("pointermove", onPointerMove, { signal });
  over.addEventListener("pointerleave", () => gestures.onPoint(undefined), { signal });
  listenToWheel(plot, gestures, signal);
  listenToPointers(plot, gestures, signal);
  [...plot.root.querySelectorAll<HTMLElement>(".u-axis")].forEach((element, index) => {
    const axis = axes[index - 1];
    if (axis !== undefined) listenToAxis({ plot, element, axis }, gestures, signal);
  });
  return () => stop.abort();
}

const windowOf = ({ scales }: UPlot): TimeWindow => ({
  startMs: scales["x"]!.min!,
  endMs: scales["x"]!.max!,
});

function listenToWheel(plot: UPlot, gestures: Gestures, signal: AbortSignal): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onWheel = (event: WheelEvent) => {
    event.preventDefault();
    const box = plot.over.getBoundingClientRect();
    const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const distance = isSideways ? event.deltaX || event.deltaY : event.deltaY;
    const centerMs = plot.posToVal(event.clientX - box.left, "x");
    gestures.onMove(
      isSideways
        ? panned(windowOf(plot), distance / box.width)
        : zoomed(windowOf(plot), zoomPerPixel ** distance, centerMs),
    );
    clearTimeout(timer);
    timer = setTimeout(() => gestures.onMoved(), wheelPauseMs);
  };
  plot.over.addEventListener("wheel", onWheel, { signal, passive: false });
  signal.addEventListener("abort", () => clearTimeout(timer));
}

interface AxisElement {
  readonly plot: UPlot;
  readonly element: HTMLElement;
  readonly axis: string;
}

/** The wheel over a value axis zooms that axis. */
function listenToAxis({ plot, element, axis }: AxisElement, gestures: Gestures, signal: AbortSignal): void {
  const onWheel = (event: WheelEvent) => {
    event.preventDefault();
    const { min, max } = plot.scales[`unit ${axis}`]!;
    const share = 1 - (event.clientY - plot.over.getBoundingClientRect().top) / plot.over.clientHeight;
    const center = min! + (max! - min!) * share;
    const factor = zoomPerPixel ** event.deltaY;
    gestures.onRanges?.([[axis, [center - (center - min!) * factor, center + (max! - center) * factor]]]);
  };
  element.addEventListener("wheel", onWheel, { signal, passive: false });
  element.addEventListener("dblclick", () => gestures.onReset(), { signal });
  element.style.cursor = "ns-resize";
}

/** Drag with Shift or the middle button pans; a finger pans, two fingers zoom. */
function listenToPointers(plot: UPlot, gestures: Gestures, signal: AbortSignal): void {
  const { over } = plot;
  const pointers = new Map<number, number>();
  let from = { window: windowOf(plot), left: 0, spread: 0 };
  const middle = () => [...pointers.values()].reduce((sum, left) => sum + left, 0) / pointers.size;
  const spread = () => Math.max(...pointers.values()) - Math.min(...pointers.values());
  const begin = () => (from = { window: windowOf(plot), left: middle(), spread: spread() });
  const onDown = (event: PointerEvent) => {
    if (event.pointerType === "mouse" && !event.shiftKey && event.button !== 1) return;
    event.preventDefault();
    over.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, event.clientX);
    gestures.onPoint(undefined);
    begin();
  };
  const move = () => {
    const box = over.getBoundingClientRect();
    const moved = panned(from.window, (from.left - middle()) / box.width);
    const factor = pointers.size > 1 && spread() > 0 ? from.spread / spread() : 1;
    const share = (middle() - box.left) / box.width;
    gestures.onMove(zoomed(moved, factor, moved.startMs + (moved.endMs - moved.startMs) * share));
  };
  // A mouse reports several times in a frame.
  const frame = oncePerFrame(move);
  const onMove = (event: PointerEvent) => {
    if (!pointers.has(event.pointerId)) return;
    pointers.set(event.pointerId, event.clientX);
    frame.request();
  };
  const onUp = (event: PointerEvent) => {
    if (!pointers.has(event.pointerId)) return;
    frame.flush();
    pointers.delete(event.pointerId);
    if (pointers.size > 0) begin();
    else gestures.onMoved();
  };
  signal.addEventListener("abort", frame.cancel);
  over.addEventListener("pointerdown", onDown, { signal });
  over.addEventListener("pointermove", onMove, { signal });
  over.addEventListener("pointerup", onUp, { signal });
  over.addEventListener("pointercancel", onUp, { signal });
}

/** Runs `work` in the next frame, once for all requests before it. */
function oncePerFrame(work: () => void) {
  let next: number | undefined;
  const cancel = () => {
    if (next !== undefined) cancelAnimationFrame(next);
    next = undefined;
  };
  const run = () => {
    next = undefined;
    work();
  };
  return {
    cancel,
    request: () => (next ??= requestAnimationFrame(run)),
    /** Runs work that was requested now. */
    flush: () => {
      if (next === undefined) return;
      cancel();
      work();
    },
  };
}
