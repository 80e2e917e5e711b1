// Runs in the pages that the benchmark measures: it notes when a person acted, and when the result was drawn.
globalThis.bench = (() => {
  // Taken before a simulated clock replaces them.
  const { performance, requestAnimationFrame, setTimeout } = globalThis;
  const now = performance.now.bind(performance);
  const frame = requestAnimationFrame.bind(globalThis);
  const pause = (ms) => new Promise((resolve) => setTimeout.call(globalThis, resolve, ms));
  const quietMs = 300;
  const longestMs = 60_000;
  /** Of a simulated clock: long enough for a frame and for timers without a delay. */
  const frameMs = 20;
  let actedMs = 0;
  let shownMs = 0;
  let draws = 0;
  const requests = { pending: 0, ended: 0 };

  for (const type of ["pointerup", "click", "keydown"])
    addEventListener(type, (event) => (actedMs = event.timeStamp), { capture: true });

  const fetched = globalThis.fetch;
  globalThis.fetch = async (...given) => {
    requests.pending += 1;
    try {
      return await fetched.apply(globalThis, given);
    } finally {
      requests.pending -= 1;
      requests.ended += 1;
    }
  };

  /** The canvas of the trend, without that of the navigator. */
  const isChart = ({ canvas }) => canvas.isConnected && canvas.closest("[role=application]") !== null;
  const canvasMethods = CanvasRenderingContext2D.prototype;
  const wrap = (name, before) => {
    const original = canvasMethods[name];
    canvasMethods[name] = function (...given) {
      before(this, given);
      return original.apply(this, given);
    };
  };
  wrap("stroke", (context) => {
    if (!isChart(context)) return;
    draws += 1;
    frame(() => pause(0).then(() => (shownMs = now())));
  });

  const failLate = (startedMs, what) => {
    if (now() - startedMs > longestMs) throw new Error(`${what} is not shown after ${longestMs} ms`);
  };
  const afterFrame = () => new Promise((resolve) => frame(() => pause(0).then(resolve)));

  return {
    requests,
    acted: () => actedMs,
    /** Shows another address of the console, as its links do. */
    jump(url) {
      actedMs = now();
      draws = 0;
      history.pushState({}, "", url);
    },
    /** Before a gesture: draws from now on count. */
    begin() {
      draws = 0;
    },
    /** From the act to the frame with the last change of the chart, in ms. */
    async untilDrawn() {
      const startedMs = now();
      for (let quietSinceMs = startedMs, seen = -1; ; await pause(5)) {
        failLate(startedMs, "the picture");
        const isLoading = document.querySelector("[role=status]")?.textContent.includes("loading…") ?? true;
        if (draws !== seen || requests.pending > 0 || isLoading || draws === 0) quietSinceMs = now();
        seen = draws;
        if (now() - quietSinceMs > quietMs) return { ms: shownMs - actedMs, requests: requests.ended };
      }
    },
    /** From the act, or with "load" from the start of loading the page, until the condition holds and is drawn. */
    async until(condition, from = "act") {
      const holds = new Function(`return ${condition}`);
      const startedMs = now();
      while (!holds()) {
        failLate(startedMs, condition);
        await new Promise((resolve) => frame(resolve));
      }
      await afterFrame();
      return now() - (from === "load" ? 0 : actedMs);
    },
    /** The lengths of the frames of the next `ms` milliseconds, and in how many the chart was drawn. */
    async frames(ms) {
      const lengths = [];
      let drawn = 0;
      let seen = draws;
      const firstMs = await new Promise((resolve) => frame(resolve));
      for (let lastMs = firstMs; lastMs - firstMs < ms; ) {
        const nextMs = await new Promise((resolve) => frame(resolve));
        lengths.push(nextMs - lastMs);
        lastMs = nextMs;
        if (draws > seen) drawn += 1;
        seen = draws;
      }
      return { lengths, drawn };
    },
    /**
     * Notes the ends of all lines that are drawn from now on, in pixels of the chart. They are drawn on another
     * canvas, which is copied to the chart.
     */
    notePath() {
      const paths = new WeakMap();
      const longest = new WeakMap();
      for (const name of ["moveTo", "lineTo"]) wrap(name, ({ canvas }, at) => paths.get(canvas)?.push(...at));
      wrap("beginPath", ({ canvas }) => paths.set(canvas, []));
      wrap("stroke", ({ canvas }) => {
        const path = paths.get(canvas) ?? [];
        if (path.length > (longest.get(canvas)?.length ?? 0)) longest.set(canvas, path);
      });
      wrap("drawImage", (context, [source, left, top]) => {
        const path = longest.get(source) ?? [];
        if (isChart(context) && path.length > (globalThis.bench.longestPath?.length ?? 0))
          globalThis.bench.longestPath = path.map((at, index) => at + (index % 2 === 0 ? left : top));
      });
    },
    /**
     * Moves a simulated clock forward in steps. Timers that are due in a step run once. Each step waits for its
     * responses, and shows them in a frame.
     */
    async passSteps(steps, stepMs) {
      const clock = globalThis.__pwClock.controller;
      for (let step = 0; step < steps; step++) {
        await clock.fastForward(stepMs - frameMs);
        const startedMs = now();
        do {
          failLate(startedMs, "a response");
          await pause(0);
        } while (requests.pending > 0);
        await clock.runFor(frameMs);
      }
    },
  };
})();
