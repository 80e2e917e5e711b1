// A time line of events with a lane for each type. It is zoomed and moved by wheel, drag, keys and buttons.
import { ActionIcon, Box, Group } from "@mantine/core";
import { useDebouncedCallback, useElementSize, useMergedRef } from "@mantine/hooks";
import { ZoomIn, ZoomOut } from "lucide-react";
import { type KeyboardEvent, type PointerEvent, useEffect, useMemo, useRef, useState } from "react";
import type { Event } from "../../api/generated.ts";
import { durationText, timeText } from "../../lib/format.ts";
import type { TimeRange } from "./search.ts";
import classes from "./timeline.module.css";
import { panned, zoomed } from "./timeline-layout.ts";
import { labelWidth, TimelinePicture } from "./timeline-picture.tsx";

interface TimelineProps {
  readonly events: readonly Event[];
  readonly range: TimeRange;
  readonly nowMs: number;
  onRange(range: TimeRange): void;
  onOpen(event: Event): void;
}

/** The page reads events of a new range after the hand has rested for so long. */
const settleMs = 200;
const zoomStep = 1.6;
const panPart = 0.2;
/** A pointer that moves less than this has clicked. */
const clickPixels = 4;

export function Timeline({ events, range, nowMs, onRange, onOpen }: TimelineProps) {
  const { view, change } = useView(range, onRange);
  const { ref: sizeRef, width } = useElementSize();
  const plotWidth = Math.max(1, width - labelWidth(width));
  const timeAt = (left: number) =>
    view.startMs + ((left - labelWidth(width)) / plotWidth) * (view.endMs - view.startMs);
  const wheelRef = useWheel((event, left) =>
    change(
      event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)
        ? panned(view, (event.deltaX || event.deltaY) / plotWidth)
        : zoomed(view, event.deltaY > 0 ? 1.2 : 1 / 1.2, timeAt(left)),
    ),
  );
  const drag = useDrag(view, (start, pixels) => change(panned(start, -pixels / plotWidth)));
  const middleMs = (view.startMs + view.endMs) / 2;
  const zoom = (factor: number) => change(zoomed(view, factor, middleMs));
  const onKeyDown = (event: KeyboardEvent) => {
    const keys: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => change(panned(view, -panPart)),
      ArrowRight: () => change(panned(view, panPart)),
      "+": () => zoom(1 / zoomStep),
      "-": () => zoom(zoomStep),
    };
    const action = keys[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  };
  const open = (event: Event) => !drag.hasMoved() && onOpen(event);
  const ref = useMergedRef(sizeRef, wheelRef);
  return (
    <section className={classes["timeline"]} aria-label="Time line">
      <Box
        ref={ref}
        className={classes["plot"]}
        role="group"
        aria-label="Move with the arrow keys, zoom with plus and minus"
        tabIndex={0}
        onKeyDown={onKeyDown}
        {...drag.handlers}
      >
        <TimelinePicture {...{ events, nowMs, width }} range={view} onOpen={open} />
      </Box>
      <Controls view={view} zoom={zoom} />
    </section>
  );
}

function Controls({ view: { startMs, endMs }, zoom }: { view: TimeRange; zoom(factor: number): void }) {
  return (
    <Group className={classes["controls"]} gap={4}>
      <span>
        {timeText(startMs)}, {durationText(endMs - startMs)}
      </span>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={26}
        aria-label="Zoom in"
        onClick={() => zoom(1 / zoomStep)}
      >
        <ZoomIn size={15} aria-hidden />
      </ActionIcon>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={26}
        aria-label="Zoom out"
        onClick={() => zoom(zoomStep)}
      >
        <ZoomOut size={15} aria-hidden />
      </ActionIcon>
    </Group>
  );
}

/** The range on the screen while it moves; the page gets it when it has come to rest. */
function useView(range: TimeRange, onRange: (range: TimeRange) => void) {
  const { startMs, endMs } = range;
  const given = useMemo(() => ({ startMs, endMs }), [startMs, endMs]);
  const [moved, setMoved] = useState<{ from: TimeRange; to: TimeRange }>();
  const settle = useDebouncedCallback(onRange, settleMs);
  const change = (to: TimeRange) => {
    setMoved({ from: given, to });
    settle(to);
  };
  return { view: moved && moved.from === given ? moved.to : given, change };
}

/** React's own listeners of wheels are passive: they cannot stop the page from scrolling. */
function useWheel(onWheel: (event: WheelEvent, left: number) => void) {
  const [element, setElement] = useState<HTMLElement | null>(null);
  const latest = useRef(onWheel);
  useEffect(() => {
    latest.current = onWheel;
  });
  useEffect(() => {
    if (element === null) return;
    const listener = (event: WheelEvent) => {
      event.preventDefault();
      latest.current(event, event.clientX - element.getBoundingClientRect().left);
    };
    element.addEventListener("wheel", listener, { passive: false });
    return () => element.removeEventListener("wheel", listener);
  }, [element]);
  return setElement;
}

function useDrag(view: TimeRange, onDrag: (start: TimeRange, pixels: number) => void) {
  const start = useRef<{ x: number; view: TimeRange }>(undefined);
  const moved = useRef(false);
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    start.current = { x: event.clientX, view };
    moved.current = false;
  };
  const onPointerMove = (event: PointerEvent) => {
    if (!start.current) return;
    const pixels = event.clientX - start.current.x;
    if (!moved.current && Math.abs(pixels) < clickPixels) return;
    moved.current = true;
    event.currentTarget.setPointerCapture(event.pointerId);
    onDrag(start.current.view, pixels);
  };
  const onPointerUp = () => {
    start.current = undefined;
  };
  return {
    hasMoved: () => moved.current,
    handlers: { onPointerDown, onPointerMove, onPointerUp, onPointerCancel: onPointerUp },
  };
}
