// Tests the page of models in a real browser: hosting turned off, packages, versions, schedules, predictions.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { hosting, modelHosting } from "../../test/support/model-hosting.ts";
import { packageOf } from "../../test/support/source-package.ts";
import { assertAccessible, type ConsoleUnderTest, startConsole } from "./browser.ts";

describe("a server that hosts no models", () => {
  let console: ConsoleUnderTest;
  before(async () => {
    console = await startConsole();
  });
  after(() => console.close());

  it("says how to turn hosting on", async () => {
    const page = await console.open({ path: "/models" });
    await page.getByText("This server hosts no models").waitFor();
    await page.getByText("MILLRACE_MODELS=on", { exact: true }).waitFor();
    await assertAccessible(page);
    assert.equal(await page.getByRole("tab").count(), 0);
    await page.context().close();
  });
});

const code = `
class Model:
    @staticmethod
    def load(file_io):
        print("loaded")
        return Model()

    def predict(self, instance):
        if instance == "bad":
            raise ValueError("no such instance")
        return instance * 2
`;

describe("a server that hosts models", hosting, () => {
  let console: ConsoleUnderTest;
  let model: number;
  before(async () => {
    console = await startConsole({ hostsModels: true });
    ({ model } = await modelHosting(console.server).deployed(code));
    await newSchedule();
  });
  after(() => console.close());

  async function newSchedule(): Promise<void> {
    const { v06 } = console.server.ask;
    const series = await v06("POST /timeseries", { items: [{ name: "from" }, { name: "to" }] });
    const [from, to] = series.items.map(({ id }) => id);
    const dataSpec = {
      input: { timeSeries: { level: { id: from } } },
      output: { timeSeries: { score: { id: to, offset: 0 } } },
      ...{ stride: 600_000, windowSize: 600_000, start: Date.now() + 3_600_000, slack: 0 },
    };
    await modelHosting(console.server).sent("POST /schedules", {
      name: "watch",
      modelId: model,
      args: {},
      dataSpec,
    });
  }

  it("predicts, and shows why a prediction failed", async () => {
    const page = await console.open({ path: "/models" });
    await page.getByRole("row", { name: /^quality/ }).click();
    const instances = page.getByLabel("Instances, a JSON list");
    await instances.fill("[1, 2.5");
    assert.equal(await page.getByRole("button", { name: "Predict" }).isDisabled(), true);
    await instances.fill("[1, 2.5]");
    await page.getByRole("button", { name: "Predict" }).click();
    await page
      .getByRole("region", { name: "Predictions" })
      .getByText(/2,\s+5/)
      .waitFor();
    await instances.fill('["bad"]');
    await page.getByRole("button", { name: "Predict" }).click();
    await page.getByRole("alert").getByText("no such instance").waitFor();
    await page.context().close();
  });

  it("shows versions with their logs, and schedules with the next run, by a link", async () => {
    const page = await console.open({ path: `/models?model=${model}` });
    const version = page.getByRole("region", { name: "Version first" });
    await version.getByText("ready").waitFor();
    await version.getByText("active", { exact: true }).waitFor();
    await version.getByRole("button", { name: "Log" }).click();
    await page.getByRole("region", { name: "Log" }).waitFor();
    await assertAccessible(page);
    await page.goto(`${console.server.baseUrl}/models?tab=schedules`);
    await page.getByRole("row", { name: /^watch quality every 10 min none yet 20\d\d-/ }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Runs of watch" }).waitFor();
    assert.match(page.url(), /schedule=\d+/);
    await page.context().close();
  });

  it("takes an uploaded package", async () => {
    const page = await console.open({ path: "/models?tab=packages" });
    const archive = {
      name: "m-1.0.tar.gz",
      mimeType: "application/gzip",
      buffer: Buffer.from(await packageOf(code)),
    };
    await page.locator("input[type=file]").setInputFiles(archive);
    assert.equal(await page.getByLabel("Name of the Python package").inputValue(), "m");
    await page.getByRole("button", { name: "Upload", exact: true }).click();
    await page.getByRole("row", { name: /^m-1\.0\.tar\.gz m train, predict uploaded/ }).waitFor();
    await page.context().close();
  });

  it("has accessible pages that are not cut, light and dark, wide and narrow", async () => {
    for (const [colorScheme, width] of [
      ["light", 1440],
      ["dark", 360],
    ] as const)
      for (const [path, seen] of [
        ["/models", "quality"],
        ["/models?tab=schedules", "watch"],
        ["/models?tab=packages", "uploaded"],
      ] as const) {
        const page = await console.open({ path, colorScheme, viewport: { width, height: 740 } });
        await page.getByText(seen, { exact: true }).first().waitFor();
        await assertAccessible(page);
        const isCut = await page.evaluate("document.documentElement.scrollWidth > window.innerWidth");
        assert.equal(isCut, false, `${path} is wider than a window of ${width} px`);
        await page.context().close();
      }
  });
});
