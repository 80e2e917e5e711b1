// The progress of an import: a bar with rate and time left on a terminal, a line at intervals elsewhere.
export interface Output {
  write(text: string): void;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

interface Reached {
  readonly bytes: number;
  readonly points: number;
}

const barEveryMs = 100;
const lineEveryMs = 5_000;

/** One line that is written over and over on a terminal, and now and then elsewhere. */
export class StatusLine {
  readonly #output: Output;
  readonly #nowMs: () => number;
  #shownMs: number;

  constructor(output: Output, nowMs: () => number = () => performance.now()) {
    this.#output = output;
    this.#nowMs = nowMs;
    this.#shownMs = nowMs();
  }

  /** Shows where it is, unless that was shown just now; `share` of everything, from 0 to 1, as a bar. */
  show(status: () => { readonly share: number; readonly text: string }): void {
    const { isTTY } = this.#output;
    if (this.#nowMs() - this.#shownMs < (isTTY ? barEveryMs : lineEveryMs)) return;
    this.#shownMs = this.#nowMs();
    const { share, text } = status();
    const line = `${Math.floor(share * 100)} %`.padStart(5) + text;
    this.#output.write(isTTY ? `\r${this.#bar(share)}${line}\u001b[K` : `${line}\n`);
  }

  /** Leaves the line of the bar, so that later output starts on a new line. */
  end(): void {
    if (this.#output.isTTY) this.#output.write("\r\u001b[K");
  }

  #bar(share: number): string {
    const width = Math.min(30, (this.#output.columns || 80) - 55);
    if (width < 5) return "";
    const filled = Math.round(share * width);
    return `${"█".repeat(filled)}${"░".repeat(width - filled)} `;
  }
}

/** The progress through the bytes of a file, with rate and time left. */
export class Progress {
  readonly #line: StatusLine;
  readonly #totalBytes: number;
  readonly #unit: string;
  readonly #nowMs: () => number;
  readonly #begun: Reached & { readonly atMs: number };

  constructor(
    output: Output,
    totalBytes: number,
    { unit = "points", ...from }: Reached & { readonly unit?: string },
    nowMs: () => number = () => performance.now(),
  ) {
    this.#line = new StatusLine(output, nowMs);
    this.#totalBytes = totalBytes;
    this.#unit = unit;
    this.#nowMs = nowMs;
    this.#begun = { ...from, atMs: nowMs() };
  }

  update(reached: Reached): void {
    this.#line.show(() => this.#statusOf(reached));
  }

  end(): void {
    this.#line.end();
  }

  #statusOf(reached: Reached) {
    const share = this.#totalBytes === 0 ? 1 : reached.bytes / this.#totalBytes;
    const seconds = Math.max(0.001, (this.#nowMs() - this.#begun.atMs) / 1000);
    const rate = (reached.points - this.#begun.points) / seconds;
    const bytesASecond = (reached.bytes - this.#begun.bytes) / seconds;
    const left = bytesASecond > 0 ? duration((this.#totalBytes - reached.bytes) / bytesASecond) : "?";
    const unit = this.#unit;
    return { share, text: `  ${count(reached.points)} ${unit}  ${count(rate)} ${unit}/s  ${left} left` };
  }
}

/** `1 234 567`, with spaces between thousands. */
export const count = (value: number): string =>
  Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, " ");

/** `42 s`, `3 min 20 s`, `2 h 5 min`. */
export function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  return minutes < 60
    ? `${minutes} min ${whole % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
