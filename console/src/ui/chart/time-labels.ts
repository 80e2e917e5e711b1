// Labels of a time axis in a time zone: the time of day, with the date where it changes.
const secondMs = 1_000;
const minuteMs = 60_000;
const dayMs = 86_400_000;
const monthMs = 28 * dayMs;

const formatter = (timeZone: string, options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat("en-GB", { timeZone, hourCycle: "h23", ...options });

/** Makes the labels of ticks, which are `stepMs` apart. */
export function timeLabels(timeZone: string): (ticks: readonly number[], stepMs: number) => string[] {
  const date = formatter(timeZone, { day: "numeric", month: "short" });
  const year = formatter(timeZone, { year: "numeric" });
  const month = formatter(timeZone, { month: "short" });
  const minutes = formatter(timeZone, { hour: "2-digit", minute: "2-digit" });
  const seconds = formatter(timeZone, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  const millis = formatter(timeZone, {
    ...{ hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 },
  });
  return (ticks, stepMs) => {
    const [upper, lower] =
      stepMs >= monthMs
        ? [month, year]
        : stepMs >= dayMs
          ? [date, year]
          : [stepMs >= minuteMs ? minutes : stepMs >= secondMs ? seconds : millis, date];
    let previous = "";
    return ticks.map((tick) => {
      const second = lower.format(tick);
      const isNew = second !== previous;
      previous = second;
      return isNew ? `${upper.format(tick)}\n${second}` : upper.format(tick);
    });
  };
}
