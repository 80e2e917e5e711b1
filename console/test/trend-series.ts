// Series of twenty days, and what tests of the trend look for in its page.
import type { Page } from "playwright-core";
import { type ConsoleUnderTest, startConsole } from "./browser.ts";

export const startMs = Date.UTC(2026, 2, 1);
export const minuteMs = 60_000;
export const dayMs = 86_400_000;
export const days = 20;
/** Points of the flow are missing for this time. */
export const gap = { startMs: startMs + 10 * dayMs, endMs: startMs + 10.5 * dayMs };

/** A server with a flow and a gap in it, a pressure, a valve of steps and a phase of strings. */
export async function startTrendConsole(): Promise<ConsoleUnderTest> {
  const console = await startConsole();
  const { ask } = console.server;
  const items = [
    { name: "flow", unit: "m3/h", description: "Feed of the column" },
    { name: "pressure", unit: "bar" },
    { name: "valve", isStep: true },
    { name: "phase", isString: true },
  ];
  await ask.v06("POST /timeseries", { items });
  const times = Array.from({ length: (days * dayMs) / minuteMs }, (_, i) => startMs + i * minuteMs);
  const isThere = (time: number) => time < gap.startMs || time >= gap.endMs;
  const datapoints = times.filter(isThere).map((timestamp, i) => ({ timestamp, value: 50 + (i % 97) / 10 }));
  await ask.v06("POST /timeseries/data/flow", { items: datapoints });
  const hourly = (value: (i: number) => number | string) =>
    Array.from({ length: days * 24 }, (_, i) => ({
      timestamp: startMs + i * 60 * minuteMs,
      value: value(i),
    }));
  await ask.v06("POST /timeseries/data/pressure", { items: hourly((i) => 2 + (i % 5)) });
  await ask.v06("POST /timeseries/data/valve", { items: hourly((i) => i % 2) });
  await ask.v06("POST /timeseries/data/phase", { items: hourly((i) => ["HEAT", "HOLD", "COOL"][i % 3]!) });
  return console;
}

export const iso = (timeMs: number) => new Date(timeMs).toISOString();
export const range = (fromMs: number, toMs: number) => `start=${iso(fromMs)}&end=${iso(toMs)}&zone=UTC`;
export const whole = range(startMs, startMs + days * dayMs);
export const row = (page: Page, name: string) => page.getByRole("row", { name });
export const chart = (page: Page) => page.getByRole("application", { name: /^Trend of/ });
export const status = (page: Page, text: string | RegExp) =>
  page.getByRole("status").getByText(text).waitFor();
export const cells = async (page: Page, name: string) =>
  (await row(page, name).getByRole("cell").allInnerTexts()).slice(1);
