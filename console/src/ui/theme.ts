// Colours, fonts and shapes. Colour is for data and for problems; the rest is quiet.
import { Alert, Card, createTheme, type MantineColorsTuple, Table, Tooltip } from "@mantine/core";

const water: MantineColorsTuple = [
  "#e6f7f9",
  "#d0ebee",
  "#a2d6dc",
  "#70c0ca",
  "#4aaebb",
  "#32a2b1",
  "#1a7f8c",
  "#0f6b78",
  "#0b5963",
  "#064851",
];

/** A neutral dark scale with a little blue, so that plots keep their colours on dark screens. */
const dark: MantineColorsTuple = [
  "#d5dbe1",
  "#b5bec7",
  "#8b97a3",
  "#66727e",
  "#3d4853",
  "#2c353f",
  "#212932",
  "#181f27",
  "#12181f",
  "#0c1117",
];

export const theme = createTheme({
  colors: { water, dark },
  primaryColor: "water",
  primaryShade: { light: 7, dark: 6 },
  autoContrast: true,
  // Dark text on the primary colour of the dark scheme: white has a contrast of 3 there.
  luminanceThreshold: 0.25,
  defaultRadius: "sm",
  fontFamily: "Inter, ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace",
  headings: { fontWeight: "600" },
  cursorType: "pointer",
  respectReducedMotion: true,
  components: {
    // A title in the colour of its alert has too little contrast in yellow, orange and green.
    Alert: Alert.extend({ styles: { title: { color: "var(--mantine-color-text)" } } }),
    Card: Card.extend({ defaultProps: { withBorder: true, padding: "md" } }),
    // Times in dialogs look like those in tables. The name alone: its code is for the pages that use it.
    DateTimePicker: { defaultProps: { valueFormat: "YYYY-MM-DD HH:mm:ss" } },
    Table: Table.extend({ defaultProps: { verticalSpacing: 6, highlightOnHover: true } }),
    Tooltip: Tooltip.extend({ defaultProps: { withArrow: true, openDelay: 300 } }),
  },
});
