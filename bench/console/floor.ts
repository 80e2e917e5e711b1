// How many frames the browser shows here at most: pages with as little work in a frame as possible.
import { type ConsoleAt, type ConsoleRow, closePage, inside, ms, openPage } from "./page.ts";

/** Frames of a page, without and with a canvas as large as the chart that copies a wider one. */
export async function measureFloor(at: ConsoleAt): Promise<ConsoleRow[]> {
  const page = await openPage(at, "/health", { viewport: { width: 1920, height: 1080 } });
  const rows: ConsoleRow[] = [];
  for (const [what, script] of Object.entries(floors)) {
    const lengths = await inside<readonly number[]>(page, framesOf(script));
    const seconds = lengths.reduce((sum, one) => sum + one, 0) / 1000;
    const figure = `${(lengths.length / seconds).toFixed(1)} frames/s, longest ${ms(Math.max(...lengths))}`;
    rows.push({ what: `the most that this browser shows here: ${what}`, figure });
  }
  await closePage(page);
  return rows;
}

const floors = {
  "an empty page": "() => {}",
  "a page that copies one canvas of 1,600 x 600 pixels": `(() => {
    const [wide, shown] = [2_400, 1_600].map((width) =>
      Object.assign(document.createElement("canvas"), { width, height: 600 }).getContext("2d"));
    document.body.replaceChildren(shown.canvas);
    for (let at = 0; at < 2_400; at += 3) wide.fillRect(at, at % 500, 2, 100);
    let frame = 0;
    return () => {
      shown.clearRect(0, 0, 1_600, 600);
      shown.drawImage(wide.canvas, Math.round(100 * Math.sin(frame++ / 20)) - 400, 0);
    };
  })()`,
};

const floorMs = 3_000;

const framesOf = (script: string): string => `(async () => {
  const draw = ${script};
  const lengths = [];
  const firstMs = await new Promise(requestAnimationFrame);
  for (let lastMs = firstMs; lastMs - firstMs < ${floorMs}; ) {
    draw();
    const nextMs = await new Promise(requestAnimationFrame);
    lengths.push(nextMs - lastMs);
    lastMs = nextMs;
  }
  return lengths;
})()`;
