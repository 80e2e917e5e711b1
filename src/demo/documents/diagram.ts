// Draws piping and instrumentation diagrams as SVG: equipment, pipes, valves and instruments on a sheet with
// a title block.

export type SheetPoint = readonly [x: number, y: number];

/** The fluid, which gives the pipe its color. */
export type Medium = "process" | "steam" | "water" | "air" | "vapor";

export type EquipmentSymbol = "tank" | "vessel" | "reactor" | "column" | "boiler" | "tower" | "box";

export interface Equipment {
  readonly symbol: EquipmentSymbol;
  readonly tag: string;
  readonly label: string;
  /** The upper left corner, width and height. */
  readonly at: readonly [x: number, y: number, width: number, height: number];
}

/** Small symbols, by their middle. */
export type Small = "pump" | "exchanger" | "valve" | "onoff" | "safety" | "fan" | "compressor";

export interface Sheet {
  readonly number: string;
  readonly title: string;
  readonly equipment: readonly Equipment[];
  readonly small: readonly (readonly [symbol: Small, tag: string, x: number, y: number])[];
  /** Each begins and ends at a connection; arrows show the direction. */
  readonly pipes: readonly (readonly [medium: Medium, ...points: SheetPoint[]])[];
  /** Letters and number in a circle, and where the instrument measures or acts. */
  readonly instruments: readonly (readonly [
    tag: string,
    x: number,
    y: number,
    ...connections: SheetPoint[],
  ])[];
  /** Labels where pipes leave the sheet. */
  readonly notes: readonly (readonly [text: string, x: number, y: number])[];
}

const width = 1600;
const height = 1000;
const ink = "#22303c";

const colors: Readonly<Record<Medium, string>> = {
  process: ink,
  steam: "#c2452d",
  water: "#2f7fbf",
  air: "#7c8b98",
  vapor: "#b07a1e",
};

export const drawSheet = (sheet: Sheet): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif">`,
    `<title>${escaped(sheet.title)}</title>`,
    `<defs>${Object.entries(colors).map(arrowOf).join("")}</defs>`,
    `<rect width="${width}" height="${height}" fill="#fbfcfd"/>`,
    `<rect x="12" y="12" width="${width - 24}" height="${height - 24}" fill="none" stroke="${ink}"/>`,
    ...sheet.instruments.flatMap(signals),
    ...sheet.pipes.map(pipe),
    ...sheet.equipment.map(equipment),
    ...sheet.small.map(small),
    ...sheet.instruments.map(bubble),
    ...sheet.notes.map(([text, x, y]) => textAt(text, [x, y], { size: 13, anchor: "start", isItalic: true })),
    titleBlock(sheet),
    "</svg>",
    "",
  ].join("\n");

const arrowOf = ([medium, color]: [string, string]) =>
  `<marker id="${medium}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" ` +
  `orient="auto"><path d="M0 1 L10 5 L0 9 Z" fill="${color}"/></marker>`;

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

interface TextStyle {
  readonly size: number;
  readonly anchor?: "start" | "middle" | "end";
  readonly isBold?: boolean;
  readonly isItalic?: boolean;
  readonly color?: string;
  /** Without the white edge that keeps lines away. */
  readonly isPlain?: boolean;
}

/** A white edge around a label, so that lines do not cross its letters. */
const halo = ' paint-order="stroke" stroke="#ffffff" stroke-opacity="0.85" stroke-width="4"';

function textAt(text: string, [x, y]: SheetPoint, { size, anchor = "middle", ...style }: TextStyle): string {
  const { isBold, isItalic, isPlain, color = ink } = style;
  const weight = `${isBold ? ' font-weight="600"' : ""}${isItalic ? ' font-style="italic"' : ""}`;
  const place = `x="${x}" y="${y}" font-size="${size}" text-anchor="${anchor}"`;
  return `<text ${place} fill="${color}"${weight}${isPlain ? "" : halo}>${escaped(text)}</text>`;
}

const pathOf = (points: readonly SheetPoint[]) => `M${points.map(([x, y]) => `${x} ${y}`).join(" L")}`;

const pipe = ([medium, ...points]: Sheet["pipes"][number]) =>
  `<path d="${pathOf(points)}" fill="none" stroke="${colors[medium]}" stroke-width="2.2" ` +
  `stroke-linejoin="round" marker-end="url(#${medium})"/>`;

const shape = (d: string, fill = "#ffffff") =>
  `<path d="${d}" fill="${fill}" stroke="${ink}" stroke-width="2" stroke-linejoin="round"/>`;

function equipment({ symbol, tag, label, at }: Equipment): string {
  const [x, y, w, h] = at;
  const middle = x + w / 2;
  const isLow = symbol === "vessel";
  const texts = [
    textAt(tag, [middle, y + h / 2 + (isLow ? 0 : -4)], { size: 14, isBold: true }),
    textAt(label, [middle, y + h / 2 + (isLow ? 16 : 14)], { size: 12, color: "#55646f" }),
  ];
  return `<g>${outlines[symbol](at).join("")}${texts.join("")}</g>`;
}

type Box = Equipment["at"];
type Outline = (box: Box) => readonly string[];

const domed = ([x, y, w, h]: Box, dome: number) =>
  `M${x} ${y + dome} Q${x + w / 2} ${y - dome} ${x + w} ${y + dome} V${y + h - dome} ` +
  `Q${x + w / 2} ${y + h + dome} ${x} ${y + h - dome} Z`;

const stirrer = (x: number, top: number, bottom: number) =>
  shape(`M${x} ${top} V${bottom} M${x - 22} ${bottom} h44`, "none") +
  shape(`M${x - 12} ${top - 18} h24 v18 h-24 Z`, "#e8edf1");

const trays = ([x, y, w, h]: Box) =>
  Array.from({ length: 12 }, (_, at) => {
    const level = y + 50 + (at * (h - 100)) / 11;
    const [from, to] = at % 2 === 0 ? [x, x + w * 0.7] : [x + w * 0.3, x + w];
    return `<path d="M${from} ${level} H${to}" stroke="#b9c4cc" stroke-width="1.5"/>`;
  }).join("");

const outlines: Readonly<Record<EquipmentSymbol, Outline>> = {
  tank: ([x, y, w, h]) => [
    shape(`M${x} ${y + 14} Q${x + w / 2} ${y - 12} ${x + w} ${y + 14} V${y + h} H${x} Z`),
  ],
  vessel: ([x, y, w, h]) => [
    shape(
      `M${x + 18} ${y} H${x + w - 18} Q${x + w + 14} ${y + h / 2} ${x + w - 18} ${y + h} ` +
        `H${x + 18} Q${x - 14} ${y + h / 2} ${x + 18} ${y} Z`,
    ),
  ],
  reactor: ([x, y, w, h]) => [
    shape(
      `M${x - 12} ${y + 60} V${y + h - 22} ` +
        `Q${x + w / 2} ${y + h + 38} ${x + w + 12} ${y + h - 22} V${y + 60} Z`,
      "#eef2f5",
    ),
    shape(domed([x, y, w, h], 20)),
    stirrer(x + w / 2, y + 10, y + h - 34),
  ],
  column: (box) => [shape(domed(box, 18)), trays(box)],
  boiler: ([x, y, w, h]) => [
    shape(`M${x} ${y} H${x + w} V${y + h} H${x} Z`),
    shape(`M${x + 20} ${y + 12} h${w - 40} q14 14 0 28 h${-(w - 40)} q-14 -14 0 -28 Z`, "#eef2f5"),
  ],
  tower: ([x, y, w, h]) => [
    shape(`M${x + 30} ${y} H${x + w - 30} L${x + w} ${y + h - 26} H${x} Z`),
    shape(`M${x - 8} ${y + h - 26} H${x + w + 8} V${y + h} H${x - 8} Z`, "#e3eff8"),
  ],
  box: ([x, y, w, h]) => [shape(`M${x} ${y} H${x + w} V${y + h} H${x} Z`)],
};

const circle = (x: number, y: number, r: number, fill = "#ffffff") =>
  `<circle cx="${x}" cy="${y}" r="${r}" fill="${fill}" stroke="${ink}" stroke-width="2"/>`;

const bowTie = (x: number, y: number, fill: string) =>
  shape(`M${x - 15} ${y - 9} V${y + 9} L${x + 15} ${y - 9} V${y + 9} Z`, fill);

const smalls: Readonly<Record<Small, (x: number, y: number) => string>> = {
  pump: (x, y) => circle(x, y, 18) + shape(`M${x - 8} ${y - 16} L${x + 18} ${y} L${x - 8} ${y + 16}`, "none"),
  exchanger: (x, y) => circle(x, y, 24) + shape(`M${x - 24} ${y} h12 l8 -13 l10 26 l8 -13 h10`, "none"),
  valve: (x, y) =>
    bowTie(x, y, "#ffffff") + shape(`M${x} ${y} V${y - 16} M${x - 11} ${y - 16} a11 10 0 0 1 22 0 Z`),
  onoff: (x, y) => bowTie(x, y, ink) + shape(`M${x} ${y} V${y - 14} M${x - 8} ${y - 26} h16 v12 h-16 Z`),
  safety: (x, y) =>
    shape(`M${x - 9} ${y + 12} H${x + 9} L${x} ${y} L${x + 13} ${y - 9} V${y + 9} L${x} ${y} Z`),
  fan: (x, y) => circle(x, y, 20) + shape(`M${x} ${y} q14 -16 0 -16 q-14 16 0 32 q-14 0 0 -16`),
  compressor: (x, y) =>
    circle(x, y, 22) +
    shape(`M${x - 16} ${y - 15} L${x + 20} ${y - 8} M${x - 16} ${y + 15} L${x + 20} ${y + 8}`, "none"),
};

const labelDrop: Readonly<Record<Small, number>> = {
  ...{ pump: 34, exchanger: 42, valve: 26, onoff: 26, safety: -18, fan: -28, compressor: 40 },
};

const small = ([symbol, tag, x, y]: Sheet["small"][number]) =>
  `<g>${smalls[symbol](x, y)}${textAt(tag, [x, y + labelDrop[symbol]], { size: 12, isBold: true })}</g>`;

const signals = ([, x, y, ...connections]: Sheet["instruments"][number]) =>
  connections.map(
    ([toX, toY]) =>
      `<path d="M${x} ${y} L${toX} ${toY}" stroke="#8257b8" stroke-width="1.3" stroke-dasharray="5 4"/>`,
  );

const letterStyle = { color: "#4f2f7d", isPlain: true } as const;

/** `23-FC-1012` has its letters above its number. */
function bubble([tag, x, y]: Sheet["instruments"][number]): string {
  const [, letters = "", number = ""] = tag.split("-");
  const isController = letters.endsWith("C");
  const line = isController ? `<path d="M${x - 19} ${y} H${x + 19}" stroke="#8257b8"/>` : "";
  return (
    `<g><title>${tag}</title><circle cx="${x}" cy="${y}" r="19" fill="#f7f2fc" stroke="#8257b8" ` +
    `stroke-width="1.6"/>${line}${textAt(letters, [x, y - 4], { size: 11, isBold: true, ...letterStyle })}` +
    `${textAt(number, [x, y + 11], { size: 11, ...letterStyle })}</g>`
  );
}

function titleBlock({ number, title }: Sheet): string {
  const [x, y] = [width - 432, height - 92];
  return (
    `<g><rect x="${x}" y="${y}" width="420" height="80" fill="#ffffff" stroke="${ink}"/>` +
    textAt("Northmoor Works", [x + 14, y + 24], { size: 13, anchor: "start", color: "#55646f" }) +
    textAt(title, [x + 14, y + 48], { size: 17, anchor: "start", isBold: true }) +
    textAt(`Piping and instrumentation diagram ${number}, revision 4`, [x + 14, y + 68], {
      ...{ size: 12, anchor: "start", color: "#55646f" },
    }) +
    "</g>"
  );
}
