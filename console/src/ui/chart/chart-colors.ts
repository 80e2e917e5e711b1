// The colours of charts, for light and dark screens. Neighbours in the list differ for colour-blind people.

export interface ChartColors {
  readonly scheme: "light" | "dark";
  readonly lines: readonly string[];
  readonly text: string;
  readonly grid: string;
  readonly cursor: string;
  readonly surface: string;
  readonly font: string;
}

const font = "Inter, ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

const light: ChartColors = {
  scheme: "light",
  lines: [
    ...["#0f6b78", "#c2410c", "#6d28d9", "#3f7d16", "#be185d"],
    ...["#1d4ed8", "#8a6100", "#9f1239", "#047857", "#7e22ce"],
  ],
  text: "#3c4650",
  grid: "#e6eaee",
  cursor: "#56626e",
  surface: "#ffffff",
  font,
};

const dark: ChartColors = {
  scheme: "dark",
  lines: [
    ...["#4cc3d0", "#ff9d5c", "#b79cff", "#93d365", "#ff8fbd"],
    ...["#7fb0ff", "#e3c04f", "#ff8f8f", "#5ddcab", "#dd9bff"],
  ],
  text: "#c3cbd3",
  grid: "#28313a",
  cursor: "#9aa6b2",
  surface: "#181f27",
  font,
};

export const chartColors = (scheme: "light" | "dark"): ChartColors => (scheme === "dark" ? dark : light);

export const lineColor = ({ lines }: ChartColors, index: number): string => lines[index % lines.length]!;
