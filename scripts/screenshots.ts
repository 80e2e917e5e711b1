// `npm run screenshots`: takes the pictures of docs/tour.md and the README. It starts the server with the
// demo plant in a temporary folder, and opens the real console in the system's Chromium.
//
// `npm run screenshots -- NAME...` takes some of the pictures.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { launchBrowser } from "../test/support/browser.ts";

interface Picture {
  /** The name of its file in docs/images/tour, without ".png". */
  readonly name: string;
  readonly scheme?: "dark";
  /** Brings the page to the state of the picture. */
  show(page: Page, plant: Plant): Promise<void>;
}

/** The server with the demo plant. */
interface Plant {
  readonly baseUrl: string;
  /** The id of the record with this name. */
  idOf(resource: "assets" | "timeseries" | "files", name: string): Promise<number>;
  idOfAccount(name: string): Promise<number>;
}

const size = { width: 1440, height: 860 };
const folder = join(import.meta.dirname, "../docs/images/tour");
const loadMs = 600_000;

const savedTrend =
  (title: string) =>
  async (page: Page, { baseUrl }: Plant) => {
    await page.goto(`${baseUrl}/trend`);
    await page.getByRole("button", { name: "Saved" }).click();
    await page.getByRole("menuitem", { name: title }).click();
    await page.getByText(/Points in view/).waitFor();
    const loading = page.getByRole("cell", { name: "loading", exact: true });
    await loading.first().waitFor({ state: "detached", timeout: loadMs });
  };

const pictures: readonly Picture[] = [
  {
    name: "01-start",
    async show(page, { baseUrl }) {
      await page.goto(`${baseUrl}/`);
      await page.getByRole("region", { name: "Recent events" }).getByRole("listitem").first().waitFor();
    },
  },
  { name: "02-batches", show: savedTrend("Batches of reactor 1") },
  {
    name: "03-pump-trip",
    async show(page, plant) {
      await savedTrend("Fault: feed pump trip")(page, plant);
      await page.waitForURL(/start=2/);
      const address = new URL(page.url());
      const [startMs, endMs] = ["start", "end"].map((name) => Date.parse(address.searchParams.get(name)!));
      const timeAt = (part: number) => new Date(startMs! + part * (endMs! - startMs!)).toISOString();
      for (const part of [0.3, 0.56]) address.searchParams.append("cursors", timeAt(part));
      await page.goto(address.href);
    },
  },
  { name: "04-bearing", scheme: "dark", show: savedTrend("Fault: bearing of the feed pump") },
  {
    name: "05-asset",
    async show(page, { baseUrl, idOf }) {
      await page.goto(`${baseUrl}/assets/${await idOf("assets", "23-R-1101")}`);
      await page.getByText("23-TT-1103").first().waitFor();
    },
  },
  {
    name: "06-events",
    async show(page, { baseUrl }) {
      await page.goto(`${baseUrl}/events`);
      await page.getByRole("img", { name: /^\d+ events/ }).waitFor();
    },
  },
  {
    name: "07-diagram",
    async show(page, { baseUrl, idOf }) {
      await page.goto(`${baseUrl}/files/${await idOf("files", "23-PID-001.svg")}`);
      await page.getByRole("img", { name: "23-PID-001.svg" }).waitFor();
    },
  },
  {
    name: "08-raw",
    async show(page, { baseUrl }) {
      await page.goto(`${baseUrl}/raw/erp/equipment`);
      await page.getByRole("row").nth(5).waitFor();
    },
  },
  {
    name: "09-access",
    async show(page, { baseUrl, idOf, idOfAccount }) {
      const record = await idOf("timeseries", "23-FT-1012");
      const account = await idOfAccount("operator-24");
      await page.goto(
        `${baseUrl}/access?tab=explain&account=${account}&resource=timeseries&record=${record}`,
      );
      await page.getByRole("alert").waitFor();
    },
  },
  {
    name: "10-connect",
    async show(page, { baseUrl }) {
      await page.goto(`${baseUrl}/connect`);
      await page.getByRole("heading", { name: "Connect", exact: true }).waitFor();
    },
  },
];

const chosen = process.argv.slice(2);
const data = mkdtempSync(join(tmpdir(), "millrace-screenshots-"));
const { server, link, plant } = await startPlant(data);
const browser = await launchBrowser();
try {
  const context = await browser.newContext({ viewport: size });
  const page = await context.newPage();
  await page.goto(link);
  await page.getByRole("heading", { name: "Start", exact: true }).waitFor();
  for (const picture of pictures) {
    if (chosen.length > 0 && !chosen.includes(picture.name)) continue;
    await page.emulateMedia({ colorScheme: picture.scheme ?? "light", reducedMotion: "reduce" });
    await picture.show(page, plant);
    await page.waitForLoadState("networkidle", { timeout: 5000 }).catch(() => undefined);
    await page.screenshot({ path: join(folder, `${picture.name}.png`) });
    console.log(`docs/images/tour/${picture.name}.png`);
  }
} finally {
  await browser.close();
  server.kill("SIGKILL");
  rmSync(data, { recursive: true, force: true });
}

interface StartedPlant {
  readonly server: ChildProcess;
  /** Signs in as administrator, once. */
  readonly link: string;
  readonly plant: Plant;
}

async function startPlant(cwd: string): Promise<StartedPlant> {
  const program = join(import.meta.dirname, "../src/main.ts");
  const server = spawn(process.execPath, [program, "serve", "--demo"], {
    cwd,
    env: {
      ...process.env,
      MILLRACE_PORT: "0",
      MILLRACE_DATA: join(cwd, "data"),
      MILLRACE_LOG_LEVEL: "error",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  const link = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`No link after ${loadMs} ms:\n${output}`)), loadMs);
    server.stdout.on("data", (chunk) => {
      output += chunk;
      const [found] = /http\S+\/sign-in#token=\S+/.exec(output) ?? [];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    });
  });
  const [, key = ""] = /project +default\n +API key +(mr_\S+)/.exec(output) ?? [];
  return { server, link, plant: plantAt(new URL(link).origin, key) };
}

function plantAt(baseUrl: string, key: string): Plant {
  const list = async (path: string) => {
    const response = await fetch(`${baseUrl}/api/0.6/projects/default/${path}`, {
      headers: { "api-key": key },
    });
    const { data } = (await response.json()) as { data: { items: Record<string, unknown>[] } };
    return data.items;
  };
  const idIn = async (path: string, member: string, name: string) => {
    const found = (await list(path)).find((item) => item[member] === name);
    if (found === undefined) throw new Error(`The demo plant has no ${name} in ${path}`);
    return found["id"] as number;
  };
  return {
    baseUrl,
    idOf: (resource, name) =>
      idIn(`${resource}?limit=1000`, resource === "files" ? "fileName" : "name", name),
    idOfAccount: (name) => idIn("users", "uniqueName", name),
  };
}
