// The colours of events: the same for a type on every page and day. Red is for alarms alone.

/** A colour on light screens, and on dark ones. */
export interface EventColor {
  readonly light: string;
  readonly dark: string;
}

const alarmColor: EventColor = { light: "#c62828", dark: "#ff8a80" };
const alarmWords = /alarm|trip|fault|fail|emergency/i;

const palette: readonly EventColor[] = [
  { light: "#0f6b78", dark: "#4aaebb" },
  { light: "#b45309", dark: "#f0a35e" },
  { light: "#4f46a5", dark: "#a5a0f0" },
  { light: "#3f7d20", dark: "#8fc96b" },
  { light: "#6b4b3a", dark: "#c9a48f" },
  { light: "#8a6d00", dark: "#d9bd4a" },
  { light: "#1d5fa8", dark: "#7db4ee" },
];

export function eventColor(type: string): EventColor {
  if (alarmWords.test(type)) return alarmColor;
  let hash = 0;
  for (const character of type) hash = (hash * 131 + character.codePointAt(0)!) % 65_521;
  return palette[hash % palette.length]!;
}

/** As a value of CSS, which follows the colour scheme of the page. */
export const eventColorStyle = (type: string): string => {
  const { light, dark } = eventColor(type);
  return `light-dark(${light}, ${dark})`;
};
