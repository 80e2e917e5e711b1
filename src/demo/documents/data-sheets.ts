// Data sheets of equipment as PDF: the rating as a table, and for a pump its curve.
import type { AssetDescription, PumpRow } from "../description.ts";
import { headAt } from "../simulation/parts.ts";
import { type PdfColor, PdfPage } from "./pdf.ts";

const blue: PdfColor = [0.16, 0.42, 0.65];
const gray: PdfColor = [0.45, 0.5, 0.55];
const pale: PdfColor = [0.94, 0.96, 0.98];
const white: PdfColor = [1, 1, 1];

type Row = readonly [name: string, value: string];

const units: Readonly<Record<string, string>> = {
  ...{ flow: "m3/h", head: "m", power: "kW", volume: "m3", area: "m2", fouling: "m2 K/W" },
  ...{ current: "A", speed: "rpm", diameter: "m", capacity: "t/h" },
};

export function dataSheet(
  { name, description, details }: AssetDescription,
  pump?: PumpRow,
): Uint8Array<ArrayBuffer> {
  const page = new PdfPage();
  page.area([0, 0], 595, 92, blue);
  page.text("Northmoor Works", [48, 36], { size: 11, color: white });
  page.text(`Data sheet ${name}`, [48, 66], { size: 24, isBold: true, color: white });
  page.text(description, [48, 122], { size: 14, isBold: true });
  const rated = Object.entries(details).map(([key, value]): Row => {
    const unit = units[key];
    return [key, unit === undefined || /[a-z]/i.test(value) ? value : `${value} ${unit}`];
  });
  const bottom = table(page, [...rated, ...(pump ? pumpRows : [])], 148);
  if (pump) curve(page, pump, bottom + 40);
  page.text("Revision 2. Issued for operation.", [48, 806], { size: 9, color: gray });
  return page.bytes(`Data sheet ${name}`);
}

const pumpRows: readonly Row[] = [
  ["design pressure", "16 bar"],
  ["design temperature", "-20 to 120 °C"],
  ["casing", "AISI 316L"],
  ["shaft", "single acting cartridge, plan 11"],
  ["coupling", "spacer, 140 mm"],
];

/** Returns where the table ends. */
function table(page: PdfPage, rows: readonly Row[], top: number): number {
  for (const [at, [name, value]] of rows.entries()) {
    const y = top + at * 22;
    if (at % 2 === 0) page.area([48, y - 15], 499, 22, pale);
    page.text(name, [58, y], { size: 11, color: gray });
    page.text(value, [240, y], { size: 11 });
  }
  return top + rows.length * 22;
}

const chart = { left: 90, width: 420, height: 220 } as const;

function curve(page: PdfPage, { flow, head }: PumpRow, top: number): void {
  const { left, width, height } = chart;
  const [most, highest] = [flow * 1.3, head * 1.3];
  const x = (value: number) => left + (value / most) * width;
  const y = (value: number) => top + height - (value / highest) * height;
  page.text("Head in m over flow in m3/h", [48, top - 14], { size: 12, isBold: true });
  for (let part = 0; part <= 5; part++) {
    const [atFlow, atHead] = [(most * part) / 5, (highest * part) / 5];
    page.line(
      [
        [x(atFlow), top],
        [x(atFlow), top + height],
      ],
      { width: 0.5, color: [0.85, 0.88, 0.9] },
    );
    page.line(
      [
        [left, y(atHead)],
        [left + width, y(atHead)],
      ],
      { width: 0.5, color: [0.85, 0.88, 0.9] },
    );
    page.text(numberText(atFlow), [x(atFlow) - 8, top + height + 16], { size: 9, color: gray });
    page.text(numberText(atHead), [left - 32, y(atHead) + 3], { size: 9, color: gray });
  }
  const points = Array.from({ length: 27 }, (_, at) => {
    const load = (at / 26) * 1.3;
    return [x(load * flow), y(headAt(head, load))] as const;
  });
  page.line(points, { width: 1.8, color: blue });
  page.area([x(flow) - 3, y(head) - 3], 6, 6, blue);
  page.text("rated", [x(flow) + 7, y(head) - 6], { size: 9, color: blue });
}

const numberText = (value: number) => String(Math.round(value * 10) / 10);
