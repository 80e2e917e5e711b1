// A small picture of a series: its average over time, without axes.
import { useMemo } from "react";

export interface SparkPoint {
  readonly timeMs: number;
  readonly value: number;
}

interface SparklineProps {
  readonly points: readonly SparkPoint[];
  readonly startMs: number;
  readonly endMs: number;
  /** Points further apart than this are not connected, unless the value holds until the next point. */
  readonly gapMs: number;
  readonly isStep?: boolean;
  readonly width?: number;
  readonly height?: number;
  readonly label: string;
}

const padding = 2;

export function Sparkline({ points, startMs, endMs, gapMs, isStep = false, ...shape }: SparklineProps) {
  const { width = 120, height = 26, label } = shape;
  const path = useMemo(() => {
    const values = points.map(({ value }) => value);
    const low = Math.min(...values);
    const span = Math.max(...values) - low || 1;
    const x = (timeMs: number) => ((timeMs - startMs) / (endMs - startMs)) * width;
    const y = (value: number) => height - padding - ((value - low) / span) * (height - 2 * padding);
    return points
      .map(({ timeMs, value }, i) => {
        const isGap = i === 0 || (!isStep && timeMs - points[i - 1]!.timeMs > gapMs);
        const to = `${x(timeMs).toFixed(1)} ${y(value).toFixed(1)}`;
        if (isGap) return `M${to}h.1`;
        return isStep ? `H${x(timeMs).toFixed(1)}V${y(value).toFixed(1)}` : `L${to}`;
      })
      .join("");
  }, [points, startMs, endMs, gapMs, isStep, width, height]);
  return (
    <svg width={width} height={height} role="img" aria-label={label} viewBox={`0 0 ${width} ${height}`}>
      <path
        d={path}
        fill="none"
        stroke="var(--mantine-primary-color-filled)"
        strokeWidth="1.4"
        strokeLinejoin="round"
      />
    </svg>
  );
}
