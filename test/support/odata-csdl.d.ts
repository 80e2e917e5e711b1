// The types of the OASIS converter that tests use; the package has none.
declare module "odata-csdl" {
  /** A document in XML as the one in JSON. Throws on what is no CSDL. */
  export function xml2json(xml: string, options?: { readonly strict?: boolean }): Record<string, unknown>;
}
