// The types of oidc-provider that tests use; the package has none.
declare module "oidc-provider" {
  import type { IncomingMessage, ServerResponse } from "node:http";
  export class Provider {
    constructor(issuer: string, configuration: Readonly<Record<string, unknown>>);
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
    on(event: string, listener: (...details: never[]) => void): this;
    readonly Grant: new (of: {
      readonly clientId: string;
      readonly accountId: string;
    }) => { addOIDCScope(scope: string): void; save(): Promise<string> };
  }
}
