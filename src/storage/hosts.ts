// The hosts of a backend: requests go to the preferred one, and to the others when it fails.

export class Hosts<Host> {
  readonly #hosts: readonly Host[];
  #preferred = 0;

  constructor(hosts: readonly Host[]) {
    this.#hosts = hosts;
  }

  /** All hosts, the preferred one first. */
  inOrder(): readonly Host[] {
    return [...this.#hosts.slice(this.#preferred), ...this.#hosts.slice(0, this.#preferred)];
  }

  /**
   * Prefers the next host, if this one is preferred: of many requests that fail on it at the same time, only
   * the first changes the preference.
   */
  failed(host: Host): void {
    if (this.#hosts[this.#preferred] !== host) return;
    this.#preferred = (this.#preferred + 1) % this.#hosts.length;
  }
}
