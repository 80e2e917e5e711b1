// Mouse movements at the rate of a USB mouse. Playwright takes 2 ms of processor time for each, which the
// page would lack on two cores; here a movement is one message to the browser.
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { Page } from "playwright-core";

/** Between two reports of a USB mouse. */
const reportMs = 8;
const leftButton = 1;
const shiftKey = 8;

interface Drag {
  readonly debugPort: number;
  readonly durationMs: number;
  /** Where the pointer is so many milliseconds after the start. */
  at(elapsedMs: number): { readonly x: number; readonly y: number };
}

/** Moves the mouse while its left button and Shift are down. It does not wait until the page has moved. */
export async function dragWithShift(page: Page, { debugPort, durationMs, at }: Drag): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { targetInfo } = await session.send("Target.getTargetInfo");
  const socket = new WebSocket(`ws://127.0.0.1:${debugPort}/devtools/page/${targetInfo.targetId}`);
  await once(socket, "open");
  const startedMs = performance.now();
  const pressed = { type: "mouseMoved", button: "left", buttons: leftButton, modifiers: shiftKey };
  for (let elapsedMs = 0; elapsedMs < durationMs; elapsedMs += reportMs) {
    const params = { ...pressed, ...at(elapsedMs) };
    socket.send(JSON.stringify({ id: elapsedMs, method: "Input.dispatchMouseEvent", params }));
    await pause(Math.max(0, startedMs + elapsedMs + reportMs - performance.now()));
  }
  socket.close();
}
