// Draws the charts of bench/RESULTS.md: for each workload a bar a system, from the table beside the peers.
import { writeFileSync } from "node:fs";

const heading = "## All workloads, beside the peers";

interface Chart {
  readonly file: string;
  readonly title: string;
  /** How to read the bars. */
  readonly note: string;
  /** Rows of the table, by their first two cells, and their titles in the chart. */
  readonly rows: readonly (readonly [workload: string, what: string, title: string])[];
}

const charts: readonly Chart[] = [
  {
    file: "rates.svg",
    title: "Datapoints written a second",
    note: "Longer is faster. The median of the rounds, over HTTP, with four clients.",
    rows: [
      ["W1", "backfill", "backfill, 10,000 points of one series a request"],
      ["W2", "scan cycle", "plant scan, one point of 1,000 series a request"],
    ],
  },
  {
    file: "latencies.svg",
    title: "Time to a response",
    note: "Shorter is faster. Each group of bars has a scale of its own.",
    rows: [
      ["W4", "hourly average", "hourly average of 100,000 points"],
      ["W5", "frame", "50 series as one table of hourly averages"],
      ["W6", "10,000 raw", "10,000 raw points"],
      ["W6", "100,000 raw", "100,000 raw points"],
      ["W8", "latest value of one", "latest value of one series"],
      ["W8", "latest of 1,000", "latest values of 1,000 series, 99 of 100 requests"],
    ],
  },
];

/** Writes the charts of a document into a folder. */
export function writeCharts(document: string, folder: URL): void {
  for (const { file, svg } of chartsOf(document)) writeFileSync(new URL(file, folder), svg);
}

/** The charts as SVG, in the order of their files. Throws if the document lacks a row that a chart shows. */
export function chartsOf(document: string): readonly { readonly file: string; readonly svg: string }[] {
  const { systems, rows } = tableOf(document);
  return charts.map((chart) => {
    const groups = chart.rows.map(([workload, what, title]) => {
      const row = rows.find((cells) => cells[0] === workload && cells[1]?.startsWith(what));
      if (!row) throw new Error(`RESULTS.md has no row of ${workload} that begins with "${what}"`);
      const bars = systems.map((system, i) => ({ system, value: medianIn(row[i + 3] ?? "") }));
      return { title, unit: row[2] ?? "", bars };
    });
    return { file: chart.file, svg: draw(chart, groups) };
  });
}

/**
 * The names of the systems, and the rows of the table as cells: workload, description, unit, one for each
 * system.
 */
function tableOf(document: string): { systems: readonly string[]; rows: readonly (readonly string[])[] } {
  const section = document.split(/\n(?=## )/).find((one) => one.startsWith(`${heading}\n`)) ?? "";
  const lines = section.split("\n").filter((line) => line.startsWith("|"));
  const [head = [], , ...rows] = lines.map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return { systems: head.slice(3, -2), rows };
}

/** The median of a cell such as `4.40 M (4.15 M to 5.95 M)`; undefined for `-`. */
function medianIn(cell: string): number | undefined {
  const [, digits, factor] = /^([\d.]+)( [kM])?/.exec(cell) ?? [];
  if (digits === undefined) return undefined;
  return Number(digits) * (factor === " M" ? 1e6 : factor === " k" ? 1e3 : 1);
}

interface Group {
  readonly title: string;
  readonly unit: string;
  readonly bars: readonly { readonly system: string; readonly value: number | undefined }[];
}

const width = 760;
const barLeft = 136;
/** The longest bar; its label is after it. */
const barWidth = 480;
const barHeight = 16;
const barStep = 22;
const groupTop = 30;
const groupGap = 20;
const headHeight = 68;

const style = `
    .page { fill: #ffffff; } .head { font-weight: 600; fill: #16202e; } .text { fill: #46536a; }
    .ours { fill: #0f6b78; } .peer { fill: #b6c0ce; } .strong { fill: #0f6b78; font-weight: 600; }
    @media (prefers-color-scheme: dark) {
      .page { fill: #141a22; } .head { fill: #eef2f8; } .text { fill: #b3bfd1; }
      .ours { fill: #4cb3c1; } .peer { fill: #4a576a; } .strong { fill: #6fcbd7; }
    }`;

function draw({ title, note }: Chart, groups: readonly Group[]): string {
  let top = headHeight;
  const parts = groups.map((group) => {
    const part = drawGroup(group, top);
    top += groupTop + barStep * group.bars.length + groupGap;
    return part;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top}" \
font-family="system-ui, -apple-system, 'Segoe UI', sans-serif" font-size="13" \
role="img" aria-labelledby="t d">
  <title id="t">${title}</title>
  <desc id="d">${groups.map(descriptionOf).join(" ")}</desc>
  <style>${style}
  </style>
  <rect class="page" width="${width}" height="${top}" rx="8"/>
  <text class="head" x="20" y="32" font-size="18">${title}</text>
  <text class="text" x="20" y="54">${note}</text>
${parts.join("\n")}
</svg>
`;
}

function drawGroup({ title, unit, bars }: Group, top: number): string {
  const longest = Math.max(...bars.map(({ value }) => value ?? 0));
  const lines = bars.map(({ system, value }, i) => {
    const y = top + groupTop + barStep * i;
    const length = Math.max(1, ((value ?? 0) / longest) * barWidth);
    const kind = i === 0 ? "ours" : "peer";
    const labelled = value === undefined ? "not measured" : `${textOf(value)} ${unit}`;
    const size = `width="${length.toFixed(1)}" height="${barHeight}"`;
    const bar = `  <rect class="${kind}" x="${barLeft}" y="${y}" ${size} rx="2"/>`;
    const labelX = barLeft + (value === undefined ? 0 : length) + 8;
    const look = i === 0 ? "strong" : "text";
    return [
      `  <text class="${look}" x="${barLeft - 10}" y="${y + 12}" text-anchor="end">${system}</text>`,
      ...(value === undefined ? [] : [bar]),
      `  <text class="${look}" x="${labelX.toFixed(1)}" y="${y + 12}">${labelled}</text>`,
    ].join("\n");
  });
  return [`  <text class="head" x="20" y="${top + 18}">${title}</text>`, ...lines].join("\n");
}

const descriptionOf = ({ title, unit, bars }: Group): string =>
  `${title}, ${unit}: ${bars
    .map(({ system, value }) => `${system} ${value === undefined ? "not measured" : textOf(value)}`)
    .join(", ")}.`;

function textOf(value: number): string {
  if (value >= 1e6) return `${(value / 1e6).toFixed(2)} M`;
  if (value >= 1e4) return `${Math.round(value / 1e3)} k`;
  return value >= 100 ? Math.round(value).toLocaleString("en") : String(value);
}
