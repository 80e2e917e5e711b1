// A real browser with the built console of a real server, for tests of its pages.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { AxeResults } from "axe-core";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { launchTestBrowser } from "../../test/support/browser.ts";
import { freePort } from "../../test/support/free-port.ts";
import {
  type ServerOptions,
  startTestServer,
  type TestServer,
  withFront,
} from "../../test/support/server.ts";

/** The folder of the build that `npm ci` and `npm run build` make. */
const consoleFolder = fileURLToPath(new URL("../dist", import.meta.url));

export interface ConsoleUnderTest {
  readonly server: TestServer;
  /** A browser window that is signed in with the key; the administrator's when absent. */
  open(options?: OpenOptions): Promise<Page>;
  /**
   * Gives a window back for the next `open`, without the routes and listeners of the test. The scripts and
   * styles in its memory save most of the processor time of a first page.
   */
  release(page: Page): Promise<void>;
  /** Closes a window whose clock or time zone the test has set: `release` cannot put them back. */
  discard(page: Page): Promise<void>;
  close(): Promise<void>;
}

interface OpenOptions {
  /** The page to open: `/series?query=pump`. */
  readonly path?: string;
  /** The API key to sign in with; null for a window without a session. */
  readonly key?: string | null;
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly colorScheme?: "light" | "dark";
  readonly permissions?: readonly string[];
}

/** Only a fault lasts as long: a busy machine can take many seconds for one page. */
const waitMs = 120_000;
const usualViewport = { width: 1280, height: 720 };

/** The events of a page that tests listen to. */
const eventsOfTests = ["request", "requestfinished", "requestfailed", "response", "dialog"] as const;

/** Each page reports errors of its scripts as a failure of the test, by `close`. */
export async function startConsole(options: ServerOptions = {}): Promise<ConsoleUnderTest> {
  const windows = await sharedWindows();
  const port = windows.freePorts.pop() ?? (await freePort());
  const server = await startTestServer({ ...withFront, ...options, consoleFolder, port });
  const opened = new Set<Page>();
  return {
    server,
    async open({ path = "/", key = server.key, viewport, colorScheme, permissions = [] } = {}) {
      const page = windows.free.pop() ?? (await newWindow(windows));
      opened.add(page);
      page.setDefaultTimeout(waitMs);
      await page.setViewportSize(viewport ?? usualViewport);
      await page.emulateMedia({ colorScheme: colorScheme ?? "light" });
      await page.context().grantPermissions([...permissions]);
      if (key !== null) await signIn(page.context(), server, key);
      await page.goto(server.baseUrl + path);
      return page;
    },
    async release(page) {
      for (const event of eventsOfTests) page.removeAllListeners(event);
      // A request that a test still holds is continued here, and by the test a second time.
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await page.context().unrouteAll({ behavior: "ignoreErrors" });
      // Of the same origin, without scripts: the console writes to its storage when it is left.
      await page.goto(`${server.baseUrl}/health`);
      await page.evaluate("localStorage.clear(); sessionStorage.clear()");
      await page.mouse.move(0, 0);
      await page.context().clearCookies();
      await page.context().clearPermissions();
      opened.delete(page);
      windows.free.push(page);
    },
    async discard(page) {
      opened.delete(page);
      await page.context().close();
    },
    async close() {
      for (const page of opened) await page.context().close();
      await server.close();
      windows.freePorts.push(port);
      leave(windows);
      assert.deepEqual(windows.problems.splice(0), [], "the scripts of the pages threw errors");
    },
  };
}

/** The browser of this process. A console at the port of an earlier one finds its scripts in the windows. */
interface Windows {
  readonly browser: Browser;
  readonly free: Page[];
  readonly freePorts: number[];
  readonly problems: string[];
  /** Of consoles that are open. */
  users: number;
}

/** The next test file of the process starts its console within this time. */
const idleMsMax = 3_000;
let shared: Promise<Windows> | undefined;
let idle: NodeJS.Timeout | undefined;

async function sharedWindows(): Promise<Windows> {
  clearTimeout(idle);
  shared ??= launchTestBrowser().then((browser) => ({
    ...{ browser, free: [], freePorts: [], problems: [], users: 0 },
  }));
  const windows = await shared;
  windows.users += 1;
  return windows;
}

/** Ends the browser when no console has used it for a time: an open one would keep the process. */
function leave(windows: Windows): void {
  windows.users -= 1;
  if (windows.users > 0) return;
  idle = setTimeout(() => {
    shared = undefined;
    void windows.browser.close();
  }, idleMsMax);
}

async function newWindow({ browser, problems }: Windows): Promise<Page> {
  const context = await browser.newContext({ reducedMotion: "reduce" });
  context.setDefaultTimeout(waitMs);
  const page = await context.newPage();
  page.on("pageerror", (problem) => problems.push(String(problem.stack ?? problem)));
  return page;
}

/** Signs in as the page does; the cookie is in the context from now on. */
async function signIn(context: BrowserContext, server: TestServer, apiKey: string): Promise<void> {
  const response = await context.request.post(`${server.baseUrl}/session`, {
    data: { apiKey },
    headers: { origin: server.baseUrl },
  });
  assert.equal(response.status(), 200, await response.text());
}

export interface Look {
  readonly colorScheme: "light" | "dark";
  readonly width: number;
}

/** Each color scheme and each width. Only colors depend on the scheme, and a check takes a second. */
export const oppositeLooks: readonly Look[] = [
  { colorScheme: "light", width: 1440 },
  { colorScheme: "dark", width: 360 },
];

/**
 * Fails when an open page has faults of accessibility or is wider than the window, in one of the looks. One
 * page for all looks: each load takes a second of processor time. `isSettled` waits for the content.
 */
export async function assertAccessibleInLooks(
  page: Page,
  looks: readonly Look[],
  isSettled: () => Promise<unknown>,
): Promise<void> {
  for (const { colorScheme, width } of looks) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 740 });
    await isSettled();
    await assertAccessible(page);
    const isCut = await page.evaluate("document.documentElement.scrollWidth > window.innerWidth");
    assert.equal(isCut, false, `${page.url()} is wider than a window of ${width} px`);
  }
}

/**
 * Waits until an expression is true in the page. Playwright evaluates another text than a function again at
 * each frame, and the policy of the page refuses that when it was not true at once.
 */
export const untilTrue = (page: Page, expression: string) => page.waitForFunction(`() => ${expression}`);

/** Fails when the selected tab stays beyond an edge of the window. The page moves it after a frame. */
export async function assertSelectedTabInSight(page: Page): Promise<void> {
  const { width } = page.viewportSize()!;
  for (const endMs = performance.now() + waitMs; ; ) {
    const { left, right } = (await page.evaluate(
      `document.querySelector("[role=tab][aria-selected=true]").getBoundingClientRect().toJSON()`,
    )) as { left: number; right: number };
    if (left >= 0 && right <= width) return;
    const where = `the tab is from ${left} to ${right} in a window of ${width} px`;
    assert.ok(performance.now() < endMs, where);
  }
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const transitionsEnd = `Promise.allSettled(
  document.getAnimations().filter((one) => one instanceof CSSTransition).map((one) => one.finished),
)`;

/** Fails when the page breaks a rule of WCAG 2.2 AA that axe can check. */
export async function assertAccessible(page: Page): Promise<void> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axeSource);
  // A color that is still changing has too little contrast.
  await page.evaluate(transitionsEnd);
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
  const results = (await page.evaluate(
    `axe.run({ runOnly: ${JSON.stringify(tags)}, resultTypes: ["violations"] })`,
  )) as AxeResults;
  const found = results.violations.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" | ")}`,
  );
  assert.deepEqual(found, []);
}
