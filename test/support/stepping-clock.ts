// Preloaded (`--import`) by a process whose clock a test sets back by an hour, by the signal SIGUSR2.
const RealDate = Date;
let offsetMs = 0;
process.on("SIGUSR2", () => {
  offsetMs -= 3_600_000;
});

globalThis.Date = class extends RealDate {
  constructor(...given: [] | [number]) {
    if (given.length === 0) super(RealDate.now() + offsetMs);
    else super(...given);
  }

  static override now(): number {
    return RealDate.now() + offsetMs;
  }
} as DateConstructor;
