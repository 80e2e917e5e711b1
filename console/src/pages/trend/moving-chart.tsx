// The chart and the navigator of the trend, which follow the window in every frame while it moves.
import type { ReactNode } from "react";
import { Chart } from "../../ui/chart/chart.tsx";
import type { TimeWindow } from "../../ui/chart/columns.ts";
import { Navigator } from "../../ui/chart/navigator.tsx";
import type { PlotArea } from "../../ui/chart/plot.ts";
import { type MovingWindow, useMovingWindow } from "./moving-window.ts";

interface Moving {
  readonly moving: MovingWindow;
}

interface MovingChartProps extends Moving, Omit<Parameters<typeof Chart>[0], "children"> {
  readonly children: (area: PlotArea, window: TimeWindow) => ReactNode;
}

export function MovingChart({ moving, children, ...props }: MovingChartProps) {
  const now = useMovingWindow(moving);
  const window = now ?? props.window;
  return (
    <Chart {...props} window={window} isMoving={now !== undefined}>
      {(area) => children(area, window)}
    </Chart>
  );
}

export function MovingNavigator({ moving, ...props }: Moving & Parameters<typeof Navigator>[0]) {
  return <Navigator {...props} window={useMovingWindow(moving) ?? props.window} />;
}
