// The projects that people can log in to, and their providers, as the catalog has them now or had them just
// before.
import type { OutboundFetch } from "../lib/outbound-fetch.ts";
import type { System } from "../lib/system.ts";
import type { Provider } from "./provider.ts";
import { ProviderConnection } from "./provider-connection.ts";
import type { Rights } from "./rights.ts";

export interface LoginProject {
  readonly id: number;
  readonly urlName: string;
  readonly provider: Provider | undefined;
}

export class LoginDirectory {
  readonly #load: () => Promise<readonly LoginProject[]>;
  readonly #rights: Pick<Rights, "rightsVersion" | "isFresh">;
  readonly #system: System;
  readonly #providers: ConstructorParameters<typeof ProviderConnection>[1];
  #projects: Promise<readonly LoginProject[]> = Promise.resolve([]);
  #loadedMs = Number.NEGATIVE_INFINITY;
  /** Of the projects; no number equals it before they are loaded. */
  #rightsVersion = Number.NaN;
  #connections = new Map<string, ProviderConnection>();

  /** `load` reads all projects; `onProblem` receives the reason when a request to a provider fails. */
  constructor(parts: {
    load: () => Promise<readonly LoginProject[]>;
    rights: Pick<Rights, "rightsVersion" | "isFresh">;
    system: System;
    fetch: OutboundFetch;
    onProblem: (problem: unknown) => void;
  }) {
    this.#load = parts.load;
    this.#rights = parts.rights;
    this.#system = parts.system;
    this.#providers = parts;
  }

  /** Every project, by id; changes by other processes count within `keyCacheMsMax`. */
  projects(): Promise<readonly LoginProject[]> {
    const { rightsVersion } = this.#rights;
    if (rightsVersion === this.#rightsVersion && this.#rights.isFresh(this.#loadedMs)) return this.#projects;
    this.#loadedMs = this.#system.monotonicMs();
    this.#rightsVersion = rightsVersion;
    this.#projects = this.#load();
    this.#projects.then(
      (projects) => this.#forgetOthers(projects),
      () => {
        this.#rightsVersion = Number.NaN; // The next call loads them again.
      },
    );
    return this.#projects;
  }

  async projectNamed(urlName: string): Promise<LoginProject | undefined> {
    return (await this.projects()).find((one) => one.urlName === urlName);
  }

  /** The connection to a provider; the projects that have the provider share it. */
  connectionTo({ issuer }: Provider): ProviderConnection {
    const known = this.#connections.get(issuer);
    if (known) return known;
    const made = new ProviderConnection(issuer, this.#providers);
    this.#connections.set(issuer, made);
    return made;
  }

  #forgetOthers(projects: readonly LoginProject[]): void {
    const used = new Set(projects.map(({ provider }) => provider?.issuer));
    for (const issuer of this.#connections.keys()) if (!used.has(issuer)) this.#connections.delete(issuer);
  }
}
