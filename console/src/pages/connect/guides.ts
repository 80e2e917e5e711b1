// Steps and programs that connect a tool to this server, with its address, project and a series of it.
import { baseUrl } from "../../api/base.ts";
import type { Tool } from "./search.ts";
import { type Command, commandOf } from "./shells.ts";

export interface GuideContext {
  readonly project: string;
  /** A time series of the project; a placeholder in a project without any. */
  readonly series: string;
  /** A new key, or the placeholder `mr_...`. */
  readonly key: string;
  /** The asset that a new key of a connector is limited to. */
  readonly asset?: number;
}

export type GuideStep =
  | { readonly text: string }
  /** `label` names the copied example; `language` is shown beside it. */
  | { readonly label: string; readonly language: string; readonly code: string }
  | Command;

export interface Guide {
  readonly label: string;
  /** With its article, where the label is no name. */
  readonly keyFor?: string;
  readonly steps: (context: GuideContext) => readonly GuideStep[];
}

/** The series that examples write to: an example must not change the measurements of a plant. */
const ownSeries = "example";
const writeText =
  `creates the series “${ownSeries}” and writes a value to it. ` +
  "The account of the key needs the right to change time series:";

const restUrl = (project: string): string => `${baseUrl()}/api/0.6/projects/${encodeURIComponent(project)}`;

const odataUrl = (project: string): string => `${baseUrl()}/odata/v1/projects/${encodeURIComponent(project)}`;

/** A string of JavaScript and of Python: JSON is a subset of both. */
const codeText = (text: string): string => JSON.stringify(text);

const addressStep = (project: string): GuideStep => ({
  ...{ label: "Address", language: "address", code: odataUrl(project) },
});

export const guides: Readonly<Record<Tool, Guide>> = {
  powerbi: { label: "Power BI", steps: powerBi },
  excel: { label: "Excel", steps: excel },
  grafana: { label: "Grafana", steps: grafana },
  python: { label: "Python", steps: python },
  javascript: { label: "JavaScript", steps: javaScript },
  curl: { label: "curl", steps: curl },
  odata: { label: "OData", steps: odata },
  csv: { label: "CSV files", keyFor: "the import of CSV files", steps: csv },
  connector: { label: "Connector", keyFor: "a connector", steps: connector },
};

function powerBi({ project, series, key }: GuideContext): GuideStep[] {
  return [
    { text: "In Power BI Desktop, choose Get data, then OData feed, and enter this address:" },
    addressStep(project),
    {
      text:
        "In the login window choose Basic. The user name is any word, such as key; the password " +
        "is the API key:",
    },
    { label: "Password", language: "key", code: key },
    {
      text:
        "Pick the tables, choose Transform data, and filter at least one column, because the " +
        "server refuses a whole large table. Then Close & Apply.",
    },
    { text: "For values of time series, paste this query into the advanced editor:" },
    {
      ...{ label: "Query", language: "Power Query M" },
      code: `let
    Plant = OData.Feed("${odataUrl(project)}", null, [Implementation = "2.0"]),
    Hourly = Plant{[Name = "TimeseriesAggregate"]}[Data],
    Start = DateTimeZone.UtcNow() - #duration(7, 0, 0, 0),
    Rows = Hourly("${series.replaceAll('"', '""')}", "1h", Start, null)
in
    Table.SelectColumns(Rows, {"TimeStamp", "TimeseriesId", "Average", "Max"})`,
    },
  ];
}

function excel({ project, key }: GuideContext): GuideStep[] {
  return [
    {
      text:
        "In Excel, choose Data, Get Data, From Other Sources, From OData Feed, and enter this " + "address:",
    },
    addressStep(project),
    {
      text:
        "In the login window choose Basic. The user name is any word, such as key; the password " +
        "is the API key:",
    },
    { label: "Password", language: "key", code: key },
    {
      text:
        "Pick the tables, choose Transform Data, filter at least one column, and load. The older " +
        "From OData Data Feed reads OData version 3 and does not work.",
    },
    { text: "To enter another key later: Data, Get Data, Data Source Settings, Edit Permissions." },
  ];
}

function grafana({ project, series, key }: GuideContext): GuideStep[] {
  const url = `${baseUrl()}/influx/${encodeURIComponent(project)}`;
  const name = series.replaceAll(/['\\]/g, "\\$&");
  return [
    { text: "In Grafana, add a data source InfluxDB with the query language InfluxQL and this address:" },
    { label: "Address", language: "address", code: url },
    {
      text:
        "The database is the project. The user is any word, such as grafana; the password is the " +
        "API key:",
    },
    { label: "Password", language: "key", code: key },
    { text: "Choose the measurement points in the builder of queries, or paste this query:" },
    {
      ...{ label: "Query", language: "InfluxQL" },
      code: `SELECT mean("value") FROM "points" WHERE "name" = '${name}' AND $timeFilter
GROUP BY time($__interval) fill(null)`,
    },
    { text: "This query lists the series of an asset for a variable of a dashboard:" },
    {
      ...{ label: "Variable", language: "InfluxQL" },
      code: `SHOW TAG VALUES FROM "points" WITH KEY = "name" WHERE "asset" =~ /^$asset$/`,
    },
  ];
}

function python({ project, series, key }: GuideContext): GuideStep[] {
  const head = `import json, time, urllib.parse, urllib.request

API = ${codeText(restUrl(project))}
KEY = ${codeText(key)}

def call(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"api-key": KEY, "content-type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(API + path, data, headers)) as response:
        return json.load(response).get("data")
`;
  return [
    {
      text:
        "The standard library of Python 3 is enough. This program prints the hourly averages of " +
        "the last day:",
    },
    {
      ...{ label: "Read values", language: "Python" },
      code: `${head}
SERIES = urllib.parse.quote(${codeText(series)}, safe="")
path = f"/timeseries/data/{SERIES}?start=1d-ago&aggregates=average&granularity=1h"
for point in call(path)["items"][0]["datapoints"]:
    print(time.ctime(point["timestamp"] / 1000), point.get("average"))`,
    },
    { text: `This one ${writeText}` },
    {
      ...{ label: "Write a value", language: "Python" },
      code: `${head}
if not call("/timeseries?name=${ownSeries}")["items"]:
    call("/timeseries", {"items": [{"name": "${ownSeries}"}]})
point = {"timestamp": int(time.time() * 1000), "value": 42.0}
call("/timeseries/data/${ownSeries}", {"items": [point]})`,
    },
  ];
}

function javaScript({ project, series, key }: GuideContext): GuideStep[] {
  const head = `const api = ${codeText(restUrl(project))};
const key = ${codeText(key)};

async function call(path, body) {
  const response = await fetch(api + path, {
    method: body ? "POST" : "GET",
    headers: { "api-key": key, "content-type": "application/json" },
    body: body && JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()).data;
}
`;
  return [
    {
      text:
        "Node.js 18 or later needs no package. This program prints the hourly averages of the " + "last day:",
    },
    {
      ...{ label: "Read values", language: "JavaScript" },
      code: `${head}
const series = encodeURIComponent(${codeText(series)});
const path = \`/timeseries/data/\${series}?start=1d-ago&aggregates=average&granularity=1h\`;
const { items } = await call(path);
for (const { timestamp, average } of items[0].datapoints)
  console.log(new Date(timestamp).toISOString(), average);`,
    },
    { text: `This one ${writeText}` },
    {
      ...{ label: "Write a value", language: "JavaScript" },
      code: `${head}
if ((await call("/timeseries?name=${ownSeries}")).items.length === 0)
  await call("/timeseries", { items: [{ name: "${ownSeries}" }] });
await call("/timeseries/data/${ownSeries}", { items: [{ timestamp: Date.now(), value: 42.0 }] });`,
    },
    {
      text:
        "Save it with the ending .mjs and run it with node. Never put a key into a web page: its " +
        "visitors could read it.",
    },
  ];
}

function curl({ project, series, key }: GuideContext): GuideStep[] {
  const api = restUrl(project);
  const data = `${api}/timeseries/data/${encodeURIComponent(series)}`;
  const hourly = "start=1d-ago&aggregates=average&granularity=1h";
  return [
    { text: "The first ten time series:" },
    commandOf("List time series", (shell) => shell.get({ key, url: `${api}/timeseries?limit=10` })),
    { text: "The hourly averages of the last day:" },
    commandOf("Read values", (shell) => shell.get({ key, url: `${data}?${hourly}` })),
    {
      text:
        `Create a series “${ownSeries}” once, then write values to it. The account of the key needs the ` +
        "right to change time series:",
    },
    commandOf("Create a series", (shell) => {
      const body = shell.quoted(`{"items":[{"name":"${ownSeries}"}]}`);
      return shell.post({ key, url: `${api}/timeseries`, body });
    }),
    commandOf("Write a value", (shell) => {
      const body = shell.aroundNow('{"items":[{"timestamp":', ',"value":42.0}]}');
      return shell.post({ key, url: `${api}/timeseries/data/${ownSeries}`, body });
    }),
  ];
}

function odata({ project, series, key }: GuideContext): GuideStep[] {
  const filter = encodeURIComponent(`Name eq '${series.replaceAll("'", "''")}'`);
  const root = odataUrl(project);
  const start = "2026-01-01T00:00:00Z";
  const aggregate =
    `TimeseriesAggregate(Tags='${encodeURIComponent(series.replaceAll("'", "''"))}',` +
    `Granularity='1d',Start=${start},End=null)`;
  return [
    { text: "Any client of OData version 4 reads the project as tables from this address:" },
    addressStep(project),
    {
      text:
        "It signs in with Basic, where the password is the API key, or with the header api-key. " +
        "The description of all tables:",
    },
    commandOf("Metadata", (shell) => shell.get({ key, url: `${root}/$metadata` })),
    { text: "One time series, and its daily aggregates:" },
    commandOf("One row", (shell) =>
      shell.get({ key, url: `${root}/Timeseries?$filter=${filter}&$select=Id,Name,Unit` }),
    ),
    commandOf("Aggregates", (shell) => shell.get({ key, url: `${root}/${aggregate}` })),
  ];
}

function csv({ key }: GuideContext): GuideStep[] {
  return [
    {
      text:
        "The file has a header line, a column of times, and a column for each series, such as " +
        "timestamp,TI-101,FI-102. The key needs the right to change time series.",
    },
    {
      text:
        "Run these commands on the machine that has the file, in the folder of Millrace. The first " +
        "import checks the whole file and writes nothing. The second one creates missing series.",
    },
    commandOf("Import a file", (shell) =>
      [
        shell.setting("MILLRACE_SERVER", baseUrl()),
        shell.setting("MILLRACE_KEY", key),
        "npx millrace import csv plant.csv --dry-run",
        "npx millrace import csv plant.csv",
      ].join("\n"),
    ),
    { text: "For a file with semicolons, decimal commas and local times, say so:" },
    commandOf("A file of Excel", (shell) =>
      shell.inLines(
        "npx millrace import csv plant.csv --decimal-comma",
        `--time-format ${shell.quoted("dd.MM.yyyy HH:mm")} --time-zone ${shell.quoted(localZone())}`,
      ),
    ),
    {
      text:
        "npx millrace import csv --help lists all options, docs/import.md describes them. Events and raw " +
        "tables have an upload of CSV files on their pages here.",
    },
  ];
}

const localZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Each type of source has its own keys below `source`; the rest of the file is the same for all. */
function connector({ key, asset }: GuideContext): GuideStep[] {
  return [
    {
      text:
        "A connector is a program that reads a system of the plant and writes here. A new key from above " +
        "may read and write time series and events of one asset and all below it, and report the state " +
        "of the connector.",
    },
    {
      text:
        "The group of the key needs more rights in two cases: writing of assets for createAssets, and " +
        "writing of raw tables for rows. Add them on the page Access.",
    },
    { text: "Save this file as plant.yaml, and describe the source in it (docs/connectors.md):" },
    {
      ...{ label: "plant.yaml", language: "YAML" },
      code: `version: 1
name: plant
source:
  type: mqtt
  url: mqtt://127.0.0.1:1883
  read:
    - { topic: "plant/+/temperature", format: value, series: "{2}.temperature", unit: degC }
destination:
  server: ${baseUrl()}
  key: \${MILLRACE_KEY}
  asset: ${asset ?? "1  # the id of the asset of its key"}
`,
    },
    {
      text: "Set the key as a variable of the environment, check both connections, and start it:",
    },
    commandOf("Start the connector", (shell) =>
      [
        shell.setting("MILLRACE_KEY", key),
        "npx millrace connect plant.yaml check",
        "npx millrace connect plant.yaml",
      ].join("\n"),
    ),
  ];
}
