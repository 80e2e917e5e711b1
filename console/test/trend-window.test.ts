// Tests in a real browser how the window of a trend moves: zoom, pan, the keyboard, and what they load.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Request } from "playwright-core";
import { type ConsoleUnderTest, untilTrue } from "./browser.ts";
import {
  cells,
  chart,
  dayMs,
  days,
  gap,
  iso,
  minuteMs,
  range,
  row,
  startMs,
  startTrendConsole,
  status,
  whole,
} from "./trend-series.ts";

let console: ConsoleUnderTest;
before(async () => {
  console = await startTrendConsole();
});
after(() => console.close());

/** The mean height of the colour of the first line, in each column of pixels of the plot area. */
const linePixels = `(() => {
  const canvas = document.querySelector("[role=application] canvas");
  const over = document.querySelector("[role=application] .u-over").getBoundingClientRect();
  const { left, top } = canvas.getBoundingClientRect();
  const { width, height } = over;
  const { data } = canvas.getContext("2d").getImageData(over.left - left, over.top - top, width, height);
  return Array.from({ length: Math.floor(width) }, (_, x) => {
    let [sum, count] = [0, 0];
    for (let y = 0; y < height; y++) {
      const [red, green, blue] = data.subarray(4 * (y * Math.floor(width) + x));
      if (red < 60 && green > 80 && blue > 90) [sum, count] = [sum + y, count + 1];
    }
    return count === 0 ? 0 : sum / count;
  });
})()`;
/** Or a second, as a browser on a busy machine may draw none for a while. */
const twoFrames = `new Promise((resolve) => {
  requestAnimationFrame(() => requestAnimationFrame(resolve));
  setTimeout(resolve, 1_000);
})`;

describe("the window of a trend", () => {
  it("zooms by a drag, and the browser's back button restores the view", async () => {
    const page = await console.open({ path: `/trend?series=flow&series=pressure&${whole}` });
    await status(page, /averages with min and max/);
    const before = page.url();
    const box = (await chart(page).boundingBox())!;
    const middle = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * 0.4, middle);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.41, middle, { steps: 4 });
    await page.mouse.up();
    await status(page, "Raw points: every point drawn");
    assert.notEqual(page.url(), before);
    await page.goBack();
    await status(page, /averages with min and max/);
    assert.equal(page.url(), before);
    await page.goForward();
    await status(page, "Raw points: every point drawn");
    await console.release(page);
  });

  it("requests points without buckets first, where loaded buckets count few points", async () => {
    const page = await console.open({ path: `/trend?series=flow&${whole}` });
    await status(page, /averages with min and max/);
    const read: string[] = [];
    page.on("request", (request) => {
      const { searchParams } = new URL(request.url());
      const lengthMs = Number(searchParams.get("end")) - Number(searchParams.get("start"));
      const isOfWindow = searchParams.has("limit") && lengthMs < 2 * dayMs;
      if (isOfWindow) read.push(searchParams.get("granularity") ?? "points");
    });
    const box = (await chart(page).boundingBox())!;
    const middle = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * 0.4, middle);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.44, middle, { steps: 4 });
    await page.mouse.up();
    await status(page, "Raw points: every point drawn");
    assert.deepEqual(read, ["points"]);
    await console.release(page);
  });

  it("requests points without buckets first at another time, where the series is as dense", async () => {
    const page = await console.open({ path: "/trend" });
    await page.getByText("Choose what to look at").waitFor();
    const lengthOf = (url: string | URL) => {
      const { searchParams } = new URL(url);
      return Number(searchParams.get("end")) - Number(searchParams.get("start"));
    };
    // The navigator of the first window would have that of the second one, too.
    const held = Promise.withResolvers<void>();
    await page.route(
      (url) => lengthOf(url) > 10 * dayMs,
      (route) => held.promise.then(() => route.continue()),
    );
    const jump = (window: string) =>
      page.evaluate(`history.pushState({}, "", ${JSON.stringify(`/trend?series=flow&${window}`)})`);
    await jump(range(startMs, startMs + 5 * dayMs));
    await status(page, /averages with min and max/);
    const read: string[] = [];
    page.on("request", (request) => {
      const { searchParams } = new URL(request.url());
      const isOfWindow = searchParams.has("limit") && lengthOf(request.url()) < 2 * dayMs;
      if (isOfWindow) read.push(searchParams.get("granularity") ?? "points");
    });
    await jump(range(startMs + 15 * dayMs, startMs + 15.5 * dayMs));
    await row(page, "flow").getByRole("cell", { name: "720" }).waitFor();
    assert.deepEqual(read, ["points"]);
    held.resolve();
    await console.release(page);
  });

  it("keeps the times that are typed while it is live", async () => {
    const page = await console.open({ path: "/trend?series=flow&start=15m-ago&live=true" });
    await row(page, "flow").waitFor();
    await page.getByRole("button", { name: /^Time range/ }).click();
    const from = page.getByRole("textbox", { name: "From" });
    await from.fill("2026-03-05T06:00:00");
    // A live window moves each second.
    await page.waitForTimeout(2_500);
    assert.match(await from.inputValue(), /^2026-03-05T06:00/);
    await page.getByRole("textbox", { name: "To" }).fill("2026-03-05T18:00:00");
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.waitForURL(({ searchParams }) => {
      const [start, end] = ["start", "end"].map((name) => Date.parse(searchParams.get(name)!));
      return end! - start! === dayMs / 2 && !searchParams.has("live");
    });
    await console.release(page);
  });

  it("reads the navigator again while it is live", async () => {
    const page = await console.open({ path: "/transformations" });
    await page.clock.install();
    const ofNavigator = () =>
      page.waitForResponse((response) => {
        const { searchParams } = new URL(response.url());
        const lengthMs = Number(searchParams.get("end")) - Number(searchParams.get("start"));
        return lengthMs >= dayMs && !searchParams.has("granularity");
      });
    const first = ofNavigator();
    await page.goto(`${console.server.baseUrl}/trend?series=valve&start=15m-ago&live=true`);
    await (await first).finished();
    await row(page, "valve").getByText("raw points").waitFor();
    const written = { timestamp: Date.now() - 120_000, value: 1 };
    await console.server.ask.v06("POST /timeseries/data/valve", { items: [written] });
    await page.waitForTimeout(1_000);
    const again = ofNavigator();
    await page.clock.fastForward(61_000);
    assert.match(await (await again).text(), new RegExp(`${written.timestamp}`));
    await console.discard(page);
  });

  it("pans with Shift and the wheel, and zooms a value axis alone", async () => {
    const page = await console.open({
      path: `/trend?series=flow&${range(startMs + dayMs, startMs + 2 * dayMs)}`,
    });
    await row(page, "flow").waitFor();
    const box = (await chart(page).boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.keyboard.down("Shift");
    await page.mouse.wheel(0, 300);
    await page.keyboard.up("Shift");
    await page.waitForURL((url) => new URL(url).searchParams.get("start") !== iso(startMs + dayMs));
    const moved = new URL(page.url()).searchParams;
    assert.equal(Date.parse(moved.get("end")!) - Date.parse(moved.get("start")!), dayMs);
    await page.mouse.move(box.x + 25, box.y + box.height / 2);
    await page.mouse.wheel(0, -300);
    await page.waitForURL(/y=m3/);
    await page.getByRole("button", { name: "Fit the value axes" }).click();
    await page.waitForURL((url) => !url.searchParams.has("y"));
    await console.release(page);
  });

  it("keeps the window after a click with Shift, also when the one before was panned", async () => {
    const page = await console.open({
      path: `/trend?series=flow&${range(startMs + dayMs, startMs + 2 * dayMs)}`,
    });
    await row(page, "flow").waitFor();
    const box = (await chart(page).boundingBox())!;
    const before = page.url();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.keyboard.down("Shift");
    await page.mouse.wheel(0, 300);
    await page.waitForURL((url) => url.href !== before);
    await page.goBack();
    await page.waitForURL(before);
    await page.mouse.down();
    await page.mouse.up();
    await page.keyboard.up("Shift");
    await page.mouse.wheel(0, 300);
    await page.waitForURL(({ searchParams }) => {
      const [from, to] = ["start", "end"].map((name) => Date.parse(searchParams.get(name)!));
      return to! - from! > dayMs;
    });
    await page.goBack();
    assert.equal(page.url(), before, "the click made no step");
    await console.release(page);
  });

  it("copies the lines while they are panned, and draws the same picture at the end", async () => {
    const y = `y=${encodeURIComponent("m3/h:40:70")}`;
    const path = `/trend?series=flow&${y}&${range(startMs + 4 * dayMs, startMs + 6 * dayMs)}`;
    const page = await console.open({ path });
    await status(page, "Raw points: every point drawn");
    await page.evaluate(`(() => {
      const methods = CanvasRenderingContext2D.prototype;
      const { lineTo } = methods;
      globalThis.ends = 0;
      methods.lineTo = function (...at) { globalThis.ends += 1; return lineTo.apply(this, at); };
    })()`);
    const ends = () => page.evaluate("globalThis.ends") as Promise<number>;
    const box = (await chart(page).boundingBox())!;
    const at = { x: Math.round(box.x + box.width / 2), y: box.y + box.height / 2 };
    await page.keyboard.down("Shift");
    await page.mouse.move(at.x, at.y);
    await page.mouse.down();
    for (let by = 1; by <= 20; by++) {
      await page.mouse.move(at.x + by, at.y);
      await page.evaluate(twoFrames);
    }
    const panned = (await page.evaluate(linePixels)) as readonly number[];
    const whilePanned = await ends();
    await page.mouse.up();
    await page.keyboard.up("Shift");
    await page.waitForURL((url) => url.searchParams.get("start") !== iso(startMs + 4 * dayMs));
    const endsSince = async () => (await ends()) - whilePanned;
    for (const endMs = performance.now() + 60_000; (await endsSince()) <= 1_000; ) {
      assert.ok(performance.now() < endMs, `the lines are drawn again at the end: ${await endsSince()}`);
      await page.evaluate(twoFrames);
    }
    const atEnd = await endsSince();
    assert.ok(whilePanned < atEnd / 2, `${whilePanned} line ends in 20 frames, ${atEnd} at the end`);
    const settled = (await page.evaluate(linePixels)) as readonly number[];
    const others = settled.filter((pixels, column) => Math.abs(pixels - panned[column]!) > 2).length;
    assert.ok(settled.reduce((sum, pixels) => sum + pixels, 0) > 1_000, "there is a line");
    assert.ok(others < settled.length / 100, `${others} of ${settled.length} columns differ`);
    await console.release(page);
  });

  it("draws what comes into view while it is panned far, at its place", async () => {
    const y = `y=${encodeURIComponent("m3/h:40:70")}`;
    const path = `/trend?series=flow&${y}&${range(startMs + 4 * dayMs, startMs + 6 * dayMs)}`;
    const page = await console.open({ path });
    await status(page, "Raw points: every point drawn");
    const box = (await chart(page).boundingBox())!;
    const at = { x: Math.round(box.x + box.width * 0.9), y: box.y + box.height / 2 };
    await page.keyboard.down("Shift");
    await page.mouse.move(at.x, at.y);
    await page.mouse.down();
    const start = () => new URL(page.url()).searchParams.get("start");
    const before = start();
    for (const share of [0.2, 0.5, 0.3, 0.8]) {
      await page.mouse.move(at.x - Math.round(box.width * share), at.y, { steps: 12 });
      // The data of the part that comes into view is loaded on the way.
      for (const endMs = performance.now() + 60_000; ; await page.evaluate(twoFrames)) {
        const tops = (await page.evaluate(linePixels)) as readonly number[];
        const blank = tops.flatMap((top, column) => (top === 0 ? [column] : []));
        if (blank.length < tops.length / 100) break;
        assert.ok(performance.now() < endMs, `columns of pixels are blank: ${blank}`);
      }
    }
    const panned = (await page.evaluate(linePixels)) as readonly number[];
    assert.equal(start(), before, "the movement has not ended");
    await page.mouse.up();
    await page.keyboard.up("Shift");
    await page.waitForURL(() => start() !== before);
    // The page draws the new window some frames after its address has changed.
    for (const endMs = performance.now() + 60_000; ; ) {
      await page.evaluate(twoFrames);
      const settled = (await page.evaluate(linePixels)) as readonly number[];
      // A panned line is up to half a pixel beside the settled one, so its steep parts differ.
      const others = settled.filter((top, column) => Math.abs(top - panned[column]!) > 5).length;
      if (others < settled.length / 15) break;
      assert.ok(performance.now() < endMs, `${others} of ${settled.length} columns differ`);
    }
    await console.release(page);
  });

  it("keeps its lines and its height while the data of another window is loading", async () => {
    const y = `y=${encodeURIComponent("m3/h:40:70")}`;
    const page = await console.open({ path: `/trend?series=flow&${y}&${whole}` });
    await status(page, /averages with min and max/);
    const held = Promise.withResolvers<void>();
    await page.route("**/timeseries/**", (route) => held.promise.then(() => route.continue()));
    const widths = Array.from({ length: 12 }, (_, index) => 1400 - 60 * index);
    const heights: number[] = [];
    const seeHeights = async () => {
      for (const width of widths) {
        await page.setViewportSize({ width, height: 720 });
        await page.evaluate(twoFrames);
        heights.push((await chart(page).boundingBox())!.height);
      }
    };
    await seeHeights();
    await page.setViewportSize({ width: 1280, height: 720 });
    await chart(page).focus();
    await page.keyboard.press("+");
    await page.waitForURL((url) => url.searchParams.get("start") !== iso(startMs));
    await status(page, /loading/);
    await page.evaluate(twoFrames);
    const tops = (await page.evaluate(linePixels)) as readonly number[];
    assert.ok(tops.filter((top) => top > 0).length > tops.length / 2, "the line is drawn while it loads");
    await seeHeights();
    assert.deepEqual(heights.slice(widths.length), heights.slice(0, widths.length));
    held.resolve();
    await page.getByRole("status").getByText("loading").waitFor({ state: "detached" });
    await console.release(page);
  });

  it("loads only the buckets that it does not have when it is panned", async () => {
    const read: (readonly [startMs: number, endMs: number])[] = [];
    const page = await console.open({ path: "/trend" });
    page.on("request", (request) => {
      const { searchParams } = new URL(request.url());
      if (searchParams.get("granularity") !== "5m") return;
      read.push([Number(searchParams.get("start")), Number(searchParams.get("end"))]);
    });
    const window = range(gap.startMs - 5 * dayMs, gap.startMs - dayMs);
    await page.goto(`${console.server.baseUrl}/trend?series=flow&${window}`);
    await status(page, "5 min averages");
    await chart(page).focus();
    const pan = async (keys: string, count: number, start: string) => {
      for (let step = 0; step < count; step++) await page.keyboard.press(keys);
      await page.waitForURL((url) => url.searchParams.get("start") === start);
      await page.getByRole("status").getByText("loading").waitFor({ state: "detached" });
    };
    for (let step = 1; step <= 4; step++)
      await pan("Shift+ArrowRight", 1, iso(gap.startMs + (-5 + 0.8 * step) * dayMs));
    for (let step = 1; step <= 8; step++)
      await pan("Shift+ArrowLeft", 1, iso(gap.startMs + (-1.8 - 0.8 * step) * dayMs));
    await page.waitForTimeout(300);
    const sorted = read.toSorted(([one], [other]) => one - other);
    assert.ok(sorted.length > 2, "the movement left what was loaded");
    for (const [index, [start]] of sorted.slice(1).entries())
      assert.ok(
        start >= sorted[index]![1],
        `loaded twice: ${sorted.map((one) => one.map(iso).join(" to "))}`,
      );
    const figures = await cells(page, "flow");
    await page.reload();
    await status(page, "5 min averages");
    assert.deepEqual(await cells(page, "flow"), figures);
    await console.release(page);
  });

  it("requests the data of another window before it renders the window", async () => {
    const page = await console.open({ path: `/trend?series=flow&${range(startMs, startMs + dayMs)}` });
    await status(page, "Raw points: every point drawn");
    const other = `/trend?series=flow&${range(startMs + 4 * dayMs, startMs + 8 * dayMs)}`;
    const events = await page.evaluate(`new Promise((resolve) => {
      const events = [];
      const { fetch } = globalThis;
      globalThis.fetch = (request, ...options) => {
        if (/timeseries.\\d+.data/.test(request.url)) events.push("requested");
        return fetch(request, ...options);
      };
      const methods = CanvasRenderingContext2D.prototype;
      const { stroke } = methods;
      methods.stroke = function (...path) {
        if (this.canvas.closest("[role=application]")) {
          Object.assign(globalThis, { fetch });
          Object.assign(methods, { stroke });
          resolve([...events, "drawn"]);
        }
        return stroke.apply(this, path);
      };
      history.pushState({}, "", ${JSON.stringify(other)});
    })`);
    assert.deepEqual(events, ["requested", "drawn"]);
    await status(page, "5 min averages");
    await console.release(page);
  });

  it("requests the data of series that are opened before it renders their chart", async () => {
    const page = await console.open({ path: "/trend" });
    await page.getByText("Choose what to look at").waitFor();
    const other = `/trend?series=flow&${range(startMs + 4 * dayMs, startMs + 8 * dayMs)}`;
    const hasChart = await page.evaluate(`new Promise((resolve) => {
      const { fetch } = globalThis;
      globalThis.fetch = (request, ...options) => {
        if (/timeseries.\\d+.data/.test(request.url))
          resolve(document.querySelector("[role=application]") !== null);
        return fetch(request, ...options);
      };
      history.pushState({}, "", ${JSON.stringify(other)});
    })`);
    assert.equal(hasChart, false);
    await status(page, "5 min averages");
    await console.release(page);
  });

  it("reads buckets of several series together, and each alone when one is refused", async () => {
    const { ask } = console.server;
    const [gone] = (await ask.v06("POST /timeseries", { items: [{ name: "gone" }] })).items;
    const page = await console.open({
      path: `/trend?series=flow&series=gone&${range(startMs, startMs + 4 * dayMs)}`,
    });
    await row(page, "flow").getByText("5 min averages").waitFor();
    /** A response for the navigator may still come from before. */
    const zoomOut = async (status: number) => {
      const read = page.waitForResponse(
        (response) => /\/timeseries\/dataquery$/.test(response.url()) && response.status() === status,
      );
      await page.getByRole("button", { name: "Zoom out" }).click();
      return read;
    };
    const together = await zoomOut(200);
    assert.equal(together.request().postDataJSON().items.length, 2);
    await row(page, "flow").getByText("10 min averages").waitFor();
    await row(page, "gone").getByText("raw points").waitFor();
    await ask.v06("POST /timeseries/delete", { items: [gone!["id"]] });
    await zoomOut(404);
    await row(page, "flow").getByText("30 min averages").waitFor();
    await row(page, "gone").getByText("not up to date").waitFor();
    await console.release(page);
  });

  it("draws a picture once, although the navigator gets its data later", async () => {
    const { ask } = console.server;
    await ask.v06("POST /timeseries", { items: [{ name: "rough" }] });
    // Its buckets count fewer points than the distance of most of them tells.
    const datapoints = Array.from({ length: (days * dayMs) / minuteMs }, (_, i) => i)
      .filter((i) => i % 20 !== 0)
      .map((i) => ({ timestamp: startMs + i * minuteMs, value: i % 97 }));
    await ask.v06("POST /timeseries/data/rough", { items: datapoints });
    const page = await console.open({ path: `/trend?series=rough&${range(startMs, startMs + dayMs)}` });
    await status(page, "Raw points: every point drawn");
    const navigatorMs = 2 * dayMs;
    const held = Promise.withResolvers<void>();
    const isOfNavigator = (url: URL) => {
      const [from, to] = ["start", "end"].map((name) => Number(url.searchParams.get(name)));
      return url.pathname.includes("/timeseries/") && to! - from! > navigatorMs;
    };
    await page.route(isOfNavigator, (route) => held.promise.then(() => route.continue()));
    await page.evaluate(`(() => {
      const methods = CanvasRenderingContext2D.prototype;
      const { stroke } = methods;
      globalThis.lines = 0;
      methods.stroke = function (...path) {
        if (this.canvas.closest("[role=application]")) globalThis.lines += 1;
        return stroke.apply(this, path);
      };
    })()`);
    const open = new Set<Request>();
    page.on("request", (request) => open.add(request));
    for (const end of ["requestfinished", "requestfailed"] as const)
      page.on(end as "requestfinished", (request) => open.delete(request));
    let isHeld = true;
    /** The lines that are drawn once nothing else is requested and ten pictures are the same. */
    const linesAtRest = async () => {
      let [lines, same] = [0, 0];
      for (const until = Date.now() + 60_000; same < 10; ) {
        assert.ok(Date.now() < until, `${lines} lines, ${[...open].map((one) => one.url()).join(", ")}`);
        await page.evaluate(twoFrames);
        const now = (await page.evaluate("globalThis.lines")) as number;
        const isAtRest = [...open].every((request) => isHeld && isOfNavigator(new URL(request.url())));
        same = isAtRest && now === lines && now > 0 ? same + 1 : 0;
        lines = now;
      }
      return lines;
    };
    await chart(page).focus();
    const ofNavigator = page.waitForResponse((response) => isOfNavigator(new URL(response.url())));
    await page.keyboard.press("+");
    await page.waitForURL(/start=2026-03-01T06/);
    // The lines are drawn before the data of the navigator.
    const drawn = await linesAtRest();
    held.resolve();
    isHeld = false;
    await ofNavigator;
    assert.equal(await linesAtRest(), drawn);
    await console.release(page);
  });

  it("has the same results of a formula wherever it begins, in the CSV too", async () => {
    const formulas = ["top=[flow|max|15m]", "both=abs([flow|max|2m]) + [flow|min]"];
    const calc = formulas.map((one) => `calc=${encodeURIComponent(one)}`).join("&");
    const from = startMs + 2 * dayMs + 50 * minuteMs;
    const page = await console.open({ path: `/trend?${calc}&${range(from, from + 4 * dayMs)}` });
    await row(page, "top").getByText("raw points").waitFor();
    await row(page, "both").getByText("from 2 min aggregates").waitFor();
    const download = async (item: string) => {
      const coming = page.waitForEvent("download");
      await page.getByRole("button", { name: "CSV" }).click();
      await page.getByRole("menuitem", { name: item }).click();
      const text = (await (await (await coming).createReadStream()).toArray()).join("");
      return text.trimEnd().split("\n").slice(1);
    };
    /** The drawn results in the lines of the other file. */
    const drawn = async () => {
      const rows = (await download("What is drawn")).map((line) => line.split(","));
      return ["top", "both"].flatMap((name, at) =>
        rows.flatMap(([timestamp, time, ...values]) =>
          values[at] === "" ? [] : [[name, timestamp, time, values[at]].join(",")],
        ),
      );
    };
    const results = await drawn();
    const timeOf = (line: string) => Number(line.split(",")[1]);
    const ofTop = results.filter((line) => line.startsWith("top,"));
    assert.equal(ofTop.length, 4 * 24 * 4);
    assert.ok(ofTop.every((line) => timeOf(line) % (15 * minuteMs) === 0));
    assert.deepEqual(await download("Every point of the window"), results);
    await chart(page).focus();
    await page.keyboard.press("Shift+ArrowRight");
    await page.waitForURL((url) => url.searchParams.get("start") !== iso(from));
    await page.getByRole("status").getByText("loading").waitFor({ state: "detached" });
    const panned = await drawn();
    const firstMs = Math.min(...panned.map(timeOf));
    const common = results.filter((line) => timeOf(line) >= firstMs);
    assert.ok(common.length > 100, `${common.length} results are in both windows`);
    assert.deepEqual(
      common.filter((line) => !panned.includes(line)),
      [],
    );
    await console.release(page);
  });

  it("is used by keyboard: arrows move the cursor and zoom the values, plus and minus zoom", async () => {
    const page = await console.open({
      path: `/trend?series=valve&series=phase&${range(startMs, startMs + dayMs)}`,
    });
    await row(page, "valve").waitFor();
    await status(page, "Raw points: every point drawn");
    // The strings alone are raw points, too: those of the valve may come while the cursor moves.
    await page.getByRole("status").getByText("loading").waitFor({ state: "detached" });
    await chart(page).focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.getByRole("columnheader", { name: "2026-03-01 13:00:00" }).waitFor();
    assert.equal((await cells(page, "valve"))[0], "1");
    assert.equal((await cells(page, "phase"))[0], "HOLD");
    await page.keyboard.press("ArrowLeft");
    await page.getByRole("columnheader", { name: "2026-03-01 12:00:00" }).waitFor();
    assert.equal((await cells(page, "phase"))[0], "HEAT");
    await page.keyboard.press("+");
    await page.waitForURL(/start=2026-03-01T06/);
    await page.keyboard.press("-");
    await page.waitForURL(/start=2026-03-01T00/);
    await page.keyboard.press("ArrowUp");
    await page.waitForURL(/y=/);
    await page.keyboard.press("0");
    await page.waitForURL((url) => !url.searchParams.has("y"));
    await page.getByRole("button", { name: "Remove phase" }).press("Enter");
    await untilTrue(page, "document.activeElement?.ariaLabel === 'Remove valve'");
    await console.release(page);
  });
});
