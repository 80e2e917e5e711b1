// A real browser for tests, pages for it to visit, and packages from npm to run in them.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire, isBuiltin } from "node:module";
import type { AddressInfo } from "node:net";
import { type Browser, chromium } from "playwright-core";

/** The system's Chromium without a window. */
export const launchBrowser = (args: readonly string[] = []): Promise<Browser> => launched("chromium", args);

/**
 * Chromium for tests of pages: the system's headless shell, if there is one. It is the same engine without
 * the browser around the pages, which takes a third of the processor time of such a test.
 */
export const launchTestBrowser = (): Promise<Browser> => launched("chromium-headless-shell chromium", []);

/** Launches the first of the commands that is there. */
function launched(commands: string, args: readonly string[]): Promise<Browser> {
  const find = `for one in ${commands}; do command -v $one && exit; done`;
  const executablePath = execFileSync("sh", ["-c", find]).toString().trim();
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", ...args] });
}

export interface Pages {
  readonly origin: string;
  close(): void;
}

/** One page under every path of an origin of its own; it runs `script`. */
export async function startPages(script = ""): Promise<Pages> {
  const server = createServer((request, response) => {
    const isScript = request.url?.startsWith("/script.js");
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.end(
      isScript ? script : `<!doctype html><title>a page</title><body><script src="/script.js"></script>`,
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/**
 * A script that defines the global `name` as the result of `require(packageName)`, with its dependencies.
 */
export function packed(packageName: string, name: string, instead: Readonly<Record<string, string>>): string {
  const modules = new Map<string, string>();
  const add = (wanted: string, from: string): string => {
    // Some packages give Node a module that loads the script beside it.
    const path = createRequire(from)
      .resolve(instead[wanted] ?? wanted)
      .replace(/require\.mjs$/, "index.js");
    if (modules.has(path)) return path;
    modules.set(path, "");
    // As bundlers do it, by the field `browser` of packages.
    if (isBuiltin(path) || path.endsWith("/util.inspect.js")) return path;
    const text = readFileSync(path, "utf8");
    const found = text.replaceAll(
      /\brequire\((['"])([^'"]+)\1\)/g,
      (_, _quote, one: string) => `require(${JSON.stringify(add(one, path))})`,
    );
    modules.set(path, found);
    return path;
  };
  const entry = add(packageName, import.meta.url);
  const strings = [...modules].map(
    ([path, text]) => `${JSON.stringify(path)}: (module, exports, require) => {${text}\n}`,
  );
  return `const ${name} = ((modules) => {
    const loaded = {};
    const require = (path) => {
      if (!loaded[path]) modules[path]((loaded[path] = { exports: {} }), loaded[path].exports, require);
      return loaded[path].exports;
    };
    return require(${JSON.stringify(entry)});
  })({${strings.join(",\n")}});\n`;
}
