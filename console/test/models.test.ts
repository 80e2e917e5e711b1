// Tests the page of models in a real browser: hosting turned off, packages, versions, schedules, predictions.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Page } from "playwright-core";
import { hosting, modelHosting, waitForSeries } from "../../test/support/model-hosting.ts";
import { packageOf } from "../../test/support/source-package.ts";
import {
  assertAccessible,
  assertAccessibleInLooks,
  type ConsoleUnderTest,
  oppositeLooks,
  startConsole,
  untilTrue,
} from "./browser.ts";

describe("a server that hosts no models", () => {
  let console: ConsoleUnderTest;
  before(async () => {
    console = await startConsole();
  });
  after(() => console.close());

  it("says how to turn hosting on", async () => {
    const page = await console.open({ path: "/models" });
    await page.getByText("This server hosts no models").waitFor();
    await page.getByText("MILLRACE_MODELS=on enables it after a restart").waitFor();
    await assertAccessible(page);
    assert.equal(await page.getByRole("tab").count(), 0);
    await console.release(page);
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
    await page.getByRole("button", { name: "Log" }).click();
    const log = page.getByRole("region", { name: "Log" });
    await log.getByText("Traceback").waitFor();
    const failures = `document.querySelector("[aria-label=Log]").innerText.split("Traceback").length`;
    const before = await page.evaluate(failures);
    await page.getByRole("button", { name: "Predict" }).click();
    // The open log follows.
    await untilTrue(page, `${failures} > ${before}`);
    await console.release(page);
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
    await page.getByRole("dialog", { name: "Schedule watch" }).waitFor();
    assert.match(page.url(), /schedule=\d+/);
    await console.release(page);
  });

  it("shows the models of a group that one sees as, and no way to change them", async () => {
    const { v06 } = console.server.ask;
    const group = async (name: string, capabilities: readonly object[]) =>
      (await v06("POST /groups", { items: [{ name, capabilities }] })).items[0]!["id"];
    const all = { scope: { all: {} } };
    const reads = await group("model readers", [{ modelHostingAcl: { actions: ["READ", "WRITE"], ...all } }]);
    const others = await group("others", [{ assetsAcl: { actions: ["READ"], ...all } }]);
    const page = await console.open({ path: `/access?tab=groups&group=${reads}` });
    const changes = page.getByRole("button", { name: /^(New|Upload|Change|Make|Deploy|Stop)/ });
    const seeAs = async () => {
      await page.getByRole("button", { name: "See as this group" }).click();
      await page.getByRole("region", { name: "See as a group" }).waitFor();
      await page.goto(`${console.server.baseUrl}/models?model=${model}`);
    };
    await seeAs();
    const first = page.getByRole("region", { name: "Version first" });
    await first.getByText("active", { exact: true }).waitFor();
    assert.equal(await changes.count(), 0);
    const banner = page.getByRole("region", { name: "See as a group" });
    await page.goto(`${console.server.baseUrl}/models`);
    await banner.getByRole("button", { name: "End" }).click();
    await page.getByRole("button", { name: "New model" }).waitFor();
    await page.goto(`${console.server.baseUrl}/access?tab=groups&group=${others}`);
    await seeAs();
    await page.getByRole("main").waitFor();
    await page.waitForLoadState("networkidle");
    assert.equal(await page.getByText("quality").count(), 0, "a group without the right sees no model");
    await console.release(page);
  });

  it("has accessible pages that are not cut, light and dark, wide and narrow", async () => {
    const page = await console.open();
    for (const [path, text] of [
      ["/models", "quality"],
      ["/models?tab=schedules", "watch"],
      ["/models?tab=packages", "uploaded"],
      [`/models?model=${model}`, "Versions"],
    ] as const) {
      await page.goto(console.server.baseUrl + path);
      const seen = page.getByText(text, { exact: true }).first();
      await assertAccessibleInLooks(page, oppositeLooks, () => seen.waitFor());
    }
    await console.release(page);
  });
});

const trained = `
${waitForSeries}

class Model:
    @staticmethod
    def train(file_io, factor):
        print("the factor is", factor)
        with file_io("factor.txt", "w") as file:
            file.write(str(factor))
        wait_for_series("end-of-the-training")
        print("trained")

    @staticmethod
    def load(file_io):
        model = Model()
        with file_io("factor.txt") as file:
            model.factor = float(file.read())
        return model

    def predict(self, instance):
        if isinstance(instance, dict):
            return {"timeSeries": {"score": [[instance["timeSeries"]["level"]["end"], self.factor]]}}
        return instance * self.factor
`;

describe("an empty server that hosts models", hosting, () => {
  let console: ConsoleUnderTest;
  let page: Page;
  before(async () => {
    console = await startConsole({ hostsModels: true });
    await console.server.ask.v06("POST /timeseries", { items: [{ name: "level" }, { name: "score" }] });
    page = await console.open({ path: "/models", viewport: { width: 1440, height: 1000 } });
  });
  after(() => console.close());

  const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
  const inDialog = (name: string) => page.getByRole("dialog", { name });
  const version = (name: string) => page.getByRole("region", { name: `Version ${name}` });
  const choose = async (label: string, option: string) => {
    await page.getByRole("combobox", { name: label, exact: true }).click();
    await page.getByRole("option", { name: option, exact: true }).click();
  };
  const item = async (name: string) => {
    await page.getByRole("menuitem", { name, exact: true }).click();
  };

  it("takes an uploaded package, and none that was refused", async () => {
    await page.getByText("There are no models yet").waitFor();
    await page.getByRole("tab", { name: "Source packages" }).click();
    await page.getByText("There are no source packages yet").waitFor();
    await press("Upload a package");
    const buffer = Buffer.from(await packageOf(trained));
    await page
      .locator("input[type=file]")
      .setInputFiles({ name: "m-1.0.tar.gz", mimeType: "application/gzip", buffer });
    const dialog = inDialog("Upload a source package");
    assert.equal(await dialog.getByLabel("Python package").inputValue(), "m");
    await dialog.getByLabel("Python package").fill("no package");
    await press("Upload");
    await dialog
      .getByRole("alert")
      .getByText(/packageName.*no package/)
      .waitFor();
    await dialog.getByLabel("Python package").fill("m");
    await press("Upload");
    await page.getByRole("row", { name: /^m-1\.0\.tar\.gz m train, predict 0\.1 uploaded/ }).waitFor();
    await dialog.waitFor({ state: "hidden" });
    assert.equal(await page.getByRole("row").count(), 2);
  });

  it("creates a model, trains a version with a log that follows, and makes it active", async () => {
    await page.getByRole("tab", { name: "Models", exact: true }).click();
    await press("New model");
    await page.getByLabel("Name", { exact: false }).fill("scaled");
    await press("Create the model");
    await inDialog("Model scaled").getByText("The model has no versions.").waitFor();
    await press("New version");
    const dialog = inDialog("New version of scaled");
    await dialog.getByLabel("Name").fill("v1");
    await choose("Source package", "m-1.0.tar.gz");
    await dialog.getByLabel("Arguments of the training, a JSON object").fill('{"factor": 3}');
    await press("Train the version");
    const log = version("v1").getByRole("region", { name: "Log" });
    await log.getByText("the factor is 3").waitFor();
    await version("v1").getByText("training", { exact: true }).waitFor();
    assert.doesNotMatch(await log.innerText(), /trained/, "the log follows while the code runs");
    await console.server.ask.v06("POST /timeseries", { items: [{ name: "end-of-the-training" }] });
    await version("v1").getByText("ready", { exact: true }).waitFor();
    await log.getByText("trained").waitFor();
    await version("v1").getByText("factor.txt", { exact: true }).waitFor();
    assert.match(page.url(), /model=\d+&modelVersion=\d+/);
    await press("Make active");
    await version("v1").getByText("active", { exact: true }).waitFor();
    await page.getByLabel("Instances, a JSON list").fill("[2]");
    await press("Predict");
    await page
      .getByRole("region", { name: "Predictions" })
      .getByText(/^\[\s+6/)
      .waitFor();
  });

  it("creates a version for uploaded artifacts, deploys and deletes it", async () => {
    await press("New version");
    const dialog = inDialog("New version of scaled");
    await dialog.getByLabel("Name").fill("v2");
    await choose("Source package", "m-1.0.tar.gz");
    await dialog.getByText("Upload artifacts", { exact: true }).click();
    await press("Create the version");
    await version("v2").getByText("awaiting manual deployment").waitFor();
    await version("v2")
      .locator("input[type=file]")
      .setInputFiles({ name: "factor.txt", mimeType: "text/plain", buffer: Buffer.from("5") });
    await version("v2").getByText("Artifacts: 1").waitFor();
    await version("v2").getByRole("button", { name: "Deploy", exact: true }).click();
    await version("v2").getByText("ready", { exact: true }).waitFor();
    await press("Change the version v2");
    await item("Delete…");
    const confirm = inDialog("Delete the version v2?");
    await confirm.getByText(/logs and 1 artifacts? \(1 B\) are deleted/).waitFor();
    await press("Delete the version");
    await version("v2").waitFor({ state: "detached" });
  });

  it("creates a schedule, shows a refusal and its runs, and stops it", async () => {
    await page.goto(`${console.server.baseUrl}/models?tab=schedules`);
    await press("New schedule");
    const dialog = inDialog("New schedule");
    await dialog.getByLabel("Name").fill("every minute");
    await choose("Model", "scaled");
    await dialog.getByLabel("Alias of input 1").fill("level");
    await choose("Series of input 1", "level");
    await dialog.getByLabel("Alias of output 1").fill("score");
    await choose("Series of output 1", "score");
    await dialog.getByLabel("Length of the window", { exact: true }).fill("0");
    await press("Create the schedule");
    await dialog
      .getByRole("alert")
      .getByText(/windowSize/)
      .waitFor();
    await dialog.getByLabel("Length of the window", { exact: true }).fill("10");
    await press("Create the schedule");
    const drawer = inDialog("Schedule every minute");
    await drawer.getByRole("row", { name: /succeeded 1/ }).waitFor();
    await drawer.getByRole("link", { name: "score", exact: true }).waitFor();
    await press("Stop…");
    await press("Stop the schedule");
    await drawer.getByText("none: stopped").waitFor();
  });

  it("shows readers no way to change anything", async () => {
    const { ask } = console.server;
    const one = async (path: string, sent: object) =>
      (await ask.v06(`POST /${path}`, { items: [sent] })).items[0]!;
    const capabilities = [{ modelHostingAcl: { actions: ["READ"], scope: { all: {} } } }];
    const group = await one("groups", { name: "readers", capabilities });
    const user = await one("users", { uniqueName: "reader", groups: [group["id"]] });
    const key = (await one("apikeys", { userId: user["id"] }))["value"] as string;
    const reader = await console.open({ path: "/models", key });
    await reader.getByRole("row", { name: /^scaled/ }).click();
    await reader.getByRole("region", { name: "Version v1" }).getByText("active", { exact: true }).waitFor();
    const writes = reader.getByRole("button", { name: /^(New|Upload|Change|Make|Deploy|Stop)/ });
    assert.equal(await writes.count(), 0);
    await console.release(reader);
  });

  it("deletes a model after it says what goes along", async () => {
    await page.goto(`${console.server.baseUrl}/models`);
    await page.getByRole("row", { name: /^scaled/ }).click();
    await press("Change the model scaled");
    await item("Delete…");
    const confirm = inDialog("Delete the model scaled?");
    await confirm.getByText(/1 version with artifacts and logs, and 1 schedule with runs/).waitFor();
    await press("Delete the model");
    await page.getByText("There are no models yet").waitFor();
    await page.getByRole("tab", { name: "Schedules" }).click();
    await page.getByText("There are no schedules yet").waitFor();
  });
});
