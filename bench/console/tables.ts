// The figures of lists without end: the tree of a million assets, and a raw table of a million rows.
import type { Page } from "playwright-core";
import { randomFrom, seed } from "../generate.ts";
import { rawKey } from "../records.ts";
import { assetCount, type ConsoleScale } from "./data.ts";
import { type ConsoleAt, type ConsoleRow, closePage, inside, openPage, timesRow, until } from "./page.ts";

const mostMs = 300;

const rowsInTree = 'document.querySelectorAll("[role=treeitem]").length';

export async function measureTree(at: ConsoleAt, scale: ConsoleScale): Promise<ConsoleRow[]> {
  const tree = `tree of ${assetCount(scale).toLocaleString("en")} assets`;
  const page = await openPage(at, "/assets");
  await page.getByRole("treeitem").first().waitFor();
  const opened: number[] = [];
  for (let step = 0; step < scale.steps; step++) {
    await page.getByRole("link", { name: "Connect" }).click();
    await page.getByRole("treeitem").first().waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Assets" }).click();
    opened.push(await until(page, `${rowsInTree} > 0`));
  }
  const expanded = await expandedTimes(page, scale);
  const found = await jumpTimes(page, scale);
  await closePage(page);
  return [
    timesRow(`${tree}: open, by the navigation`, opened, mostMs),
    timesRow(`${tree}: expand a node`, expanded, mostMs),
    timesRow(`${tree}: jump to a search hit, until its row is selected in the tree`, found, mostMs),
  ];
}

/** Where all nodes in view are open or have no children, the next ones are below. */
const wheelPixels = 500;
const settleMs = 300;

/** Opens random nodes that were not open: areas, units, systems and machines. */
async function expandedTimes(page: Page, { steps }: ConsoleScale): Promise<number[]> {
  const random = randomFrom(seed);
  const times: number[] = [];
  while (times.length < steps) {
    const node = await inside<ClosedNode | undefined>(page, closedNode(random()));
    if (node === undefined) {
      await page.getByRole("tree").hover();
      await page.mouse.wheel(0, wheelPixels);
      await page.waitForTimeout(settleMs);
      continue;
    }
    await page.mouse.click(node.left, node.top);
    times.push(await until(page, childIsShown(node.id)));
  }
  return times;
}

interface ClosedNode {
  readonly id: string;
  /** The middle of its arrow. */
  readonly left: number;
  readonly top: number;
}

/** One of the closed nodes in view; undefined without one. */
const closedNode = (share: number): string => `(() => {
  const view = document.querySelector("[role=tree]").getBoundingClientRect();
  const closed = [...document.querySelectorAll("[role=treeitem][aria-expanded=false]")]
    .map((row) => ({ id: row.id, box: row.querySelector("[data-testid=toggle]").getBoundingClientRect() }))
    .filter(({ box }) => box.top >= view.top && box.bottom <= view.bottom - 40);
  if (closed.length === 0) return undefined;
  const { id, box } = closed[Math.floor(${share} * closed.length)];
  return { id, left: box.left + box.width / 2, top: box.top + box.height / 2 };
})()`;

/** The row after the node is its child, and not the note that children are loading. */
const childIsShown = (id: string): string => `(() => {
  const node = document.getElementById("${id}");
  const next = node?.nextElementSibling;
  return next?.ariaLevel > node?.ariaLevel && !next.textContent.includes("Loading");
})()`;

/** Searches for random machines, and opens one of the hits. */
async function jumpTimes(page: Page, { steps, units }: ConsoleScale): Promise<number[]> {
  const random = randomFrom(seed + 1);
  const whole = (count: number) => Math.floor(random() * count);
  const times: number[] = [];
  for (let step = 0; step < steps; step++) {
    const system = `${10 + whole(units)}-${1 + whole(9)}`;
    await page.getByLabel("Search assets").fill(system);
    const hits = page.getByRole("list", { name: "Assets found" }).getByRole("link");
    await hits
      .filter({ hasText: `${system}-` })
      .first()
      .waitFor();
    const hit = hits.filter({ hasText: `${system}-` }).nth(whole(10));
    const path = await hit.getAttribute("href");
    await hit.click();
    const selected = `document.querySelector("[role=treeitem][aria-selected=true]")?.id`;
    times.push(await until(page, `${selected} === "tree-${path!.split("/").at(-1)}"`));
  }
  return times;
}

export async function measureGrid(at: ConsoleAt, scale: ConsoleScale): Promise<ConsoleRow[]> {
  const random = randomFrom(seed);
  const page = await openPage(at, "/raw/bench/ordered");
  await page.getByRole("row").nth(2).waitFor();
  const times: number[] = [];
  for (let step = 0; step < scale.steps; step++) {
    const key = rawKey(Math.floor(random() * scale.rawRows));
    await page.getByLabel("Jump to a key").fill(key);
    await page.keyboard.press("Enter");
    const headers = `[...document.querySelectorAll("[role=rowheader]")]`;
    times.push(await until(page, `${headers}.some((cell) => cell.textContent === "${key}")`));
  }
  await closePage(page);
  const rows = scale.rawRows.toLocaleString("en");
  return [timesRow(`raw grid of ${rows} rows: scroll to any key`, times, mostMs)];
}
