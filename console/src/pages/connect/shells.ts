// Commands for the shells of Linux and macOS, and the same for PowerShell on Windows.

export type ShellName = "sh" | "powerShell";

export const shellLabels: Readonly<Record<ShellName, string>> = {
  sh: "Linux, macOS",
  powerShell: "Windows",
};

/** Of the machine with this browser. */
export const usualShell = (): ShellName => (navigator.userAgent.includes("Windows") ? "powerShell" : "sh");

/** One example for each shell. `label` names the copied one. */
export interface Command extends Readonly<Record<ShellName, string>> {
  readonly label: string;
}

interface RequestParts {
  readonly key: string;
  readonly url: string;
}

interface Shell {
  quoted(text: string): string;
  /** Sets a variable of the environment. */
  setting(name: string, value: string): string;
  /** The quoted text with the time in milliseconds between its parts. */
  aroundNow(before: string, after: string): string;
  /** A command over several lines. */
  inLines(...lines: readonly string[]): string;
  get(request: RequestParts): string;
  /** `body` is quoted. */
  post(request: RequestParts & { readonly body: string }): string;
}

const sh: Shell = {
  quoted: (text) => `'${text.replaceAll("'", `'\\''`)}'`,
  setting: (name, value) => `export ${name}=${sh.quoted(value)}`,
  aroundNow: (before, after) =>
    `"${[before, after].map((text) => text.replaceAll('"', '\\"')).join("$(date +%s)000")}"`,
  inLines: (...lines) => lines.join(" \\\n  "),
  get: ({ key, url }) => sh.inLines(`curl -H ${sh.quoted(`api-key: ${key}`)}`, sh.quoted(url)),
  post: ({ body, ...request }) =>
    sh.inLines(sh.get(request), "-H 'content-type: application/json'", `-d ${body}`),
};

const powerShell: Shell = {
  // Curly quotes are quotes, too.
  quoted: (text) => `'${text.replaceAll(/['\u2018-\u201b]/g, "$&$&")}'`,
  setting: (name, value) => `$env:${name} = ${powerShell.quoted(value)}`,
  aroundNow: (before, after) =>
    `(${powerShell.quoted(before)} + ` +
    `[DateTimeOffset]::UtcNow.ToUnixTimeMilliseconds() + ${powerShell.quoted(after)})`,
  inLines: (...lines) => lines.join(" `\n  "),
  get: ({ key, url }) =>
    powerShell.inLines(`curl.exe -H ${powerShell.quoted(`api-key: ${key}`)}`, powerShell.quoted(url)),
  // Version 5 removes the double quotes of an argument of curl.exe.
  post: ({ key, url, body }) =>
    powerShell.inLines(
      `Invoke-RestMethod -Method Post -Headers @{ 'api-key' = ${powerShell.quoted(key)} }`,
      `-Uri ${powerShell.quoted(url)}`,
      `-ContentType 'application/json' -Body ${body}`,
    ),
};

export const commandOf = (label: string, write: (shell: Shell) => string): Command => ({
  label,
  sh: write(sh),
  powerShell: write(powerShell),
});
