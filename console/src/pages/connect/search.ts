// The search parameters of the connect page and of the API explorer.

export const tools = [
  "powerbi",
  "excel",
  "grafana",
  "python",
  "javascript",
  "curl",
  "odata",
  "csv",
  "connector",
] as const;
export type Tool = (typeof tools)[number];

export interface ConnectSearch {
  /** Power BI when absent. */
  readonly tool?: Tool;
}

export function connectSearch(search: Record<string, unknown>): ConnectSearch {
  const tool = tools.find((one) => one === search["tool"]);
  return tool === undefined ? {} : { tool };
}
