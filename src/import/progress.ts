// How far an import is: a bar with rate and time left on a terminal, a plain line now and then elsewhere.
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

export class Progress {
  readonly #output: Output;
  readonly #totalBytes: number;
  readonly #nowMs: () => number;
  readonly #begun: Reached & { readonly atMs: number };
  #shownMs: number;

  constructor(output: Output, totalBytes: number, from: Reached, nowMs: () => number = Date.now) {
    this.#output = output;
    this.#totalBytes = totalBytes;
    this.#nowMs = nowMs;
    this.#begun = { ...from, atMs: nowMs() };
    this.#shownMs = nowMs();
  }

  /** Shows where it is, unless that was shown just now. */
  update(reached: Reached): void {
    const sinceMs = this.#nowMs() - this.#shownMs;
    if (sinceMs < (this.#output.isTTY ? barEveryMs : lineEveryMs)) return;
    this.#shownMs = this.#nowMs();
    const line = this.#describe(reached);
    this.#output.write(this.#output.isTTY ? `\r${this.#bar(reached)}${line}\u001b[K` : `${line}\n`);
  }

  /** Leaves the line of the bar, so that what follows starts on its own. */
  end(): void {
    if (this.#output.isTTY) this.#output.write("\r\u001b[K");
  }

  #describe(reached: Reached): string {
    const share = this.#totalBytes === 0 ? 1 : reached.bytes / this.#totalBytes;
    const seconds = Math.max(0.001, (this.#nowMs() - this.#begun.atMs) / 1000);
    const rate = (reached.points - this.#begun.points) / seconds;
    const bytesASecond = (reached.bytes - this.#begun.bytes) / seconds;
    const left = bytesASecond > 0 ? duration((this.#totalBytes - reached.bytes) / bytesASecond) : "?";
    const percent = `${Math.floor(share * 100)} %`.padStart(5);
    return `${percent}  ${count(reached.points)} points  ${count(rate)} points/s  ${left} left`;
  }

  #bar({ bytes }: Reached): string {
    const width = Math.min(30, (this.#output.columns || 80) - 55);
    if (width < 5) return "";
    const filled = Math.round((this.#totalBytes === 0 ? 1 : bytes / this.#totalBytes) * width);
    return `${"█".repeat(filled)}${"░".repeat(width - filled)} `;
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
