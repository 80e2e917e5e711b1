// The histogram of the durations of requests, as a metric for the registry.
//
// The histogram of `prom-client` checks, sorts and joins the labels of each value: 2 us of every request.

const name = "millrace_http_request_seconds";
/** Upper bounds of the buckets, in seconds. */
const bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120];

interface Labels {
  readonly method: string;
  readonly route: string;
  readonly status: number;
}

/** The requests with the same labels. */
export interface Durations {
  readonly labels: Labels;
  /** Requests per bucket, not cumulative. The last bucket has those above every bound. */
  readonly counts: Float64Array;
  sum: number;
}

/** One for each server. Its size is bounded: routes times methods times statuses. */
export class RequestDurations {
  readonly name = name;
  readonly help = "Requests by route and status, with the time until the response was sent or broken off";
  readonly type = "histogram";
  readonly aggregator = "sum";
  readonly #byLabels = new Map<string, Durations>();
  #others: readonly Durations[] = [];

  /** The requests that this thread has served. */
  get own(): readonly Durations[] {
    return [...this.#byLabels.values()];
  }

  /** Shows the requests that other threads have served together with those of this one. */
  showOthers(others: readonly Durations[]): void {
    this.#others = others;
  }

  add({ method, route, status }: Labels, elapsedMs: number): void {
    const seconds = elapsedMs / 1000;
    const durations = this.#of(method, route, status);
    let bucket = 0;
    while (bucket < bounds.length && seconds > bounds[bucket]!) bucket += 1;
    durations.counts[bucket]! += 1;
    durations.sum += seconds;
  }

  /** Called by the registry for each scrape. */
  async get() {
    const values = this.#all().flatMap(({ labels, counts, sum }) => {
      let count = 0;
      const buckets = Array.from(counts, (more, bucket) => {
        count += more;
        return sample("_bucket", { le: bounds[bucket] ?? "+Inf", ...labels }, count);
      });
      return [...buckets, sample("_sum", labels, sum), sample("_count", labels, count)];
    });
    const { help, type, aggregator } = this;
    return { name, help, type, aggregator, values };
  }

  #all(): readonly Durations[] {
    if (this.#others.length === 0) return this.own;
    const all = new RequestDurations();
    for (const { labels, counts, sum } of [...this.own, ...this.#others]) {
      const durations = all.#of(labels.method, labels.route, labels.status);
      for (const [bucket, more] of counts.entries()) durations.counts[bucket]! += more;
      durations.sum += sum;
    }
    return all.own;
  }

  #of(method: string, route: string, status: number): Durations {
    const key = `${status} ${method} ${route}`;
    const known = this.#byLabels.get(key);
    if (known) return known;
    const added = { labels: { method, route, status }, counts: new Float64Array(bounds.length + 1), sum: 0 };
    this.#byLabels.set(key, added);
    return added;
  }
}

const sample = (ending: string, labels: object, value: number) => ({
  metricName: `${name}${ending}`,
  labels,
  value,
});
