// The types of the OASIS converter that tests use; the package has none.
declare module "odata-csdl" {
  /** Converts a document in XML to the one in JSON. Throws for a document that is no CSDL. */
  export function xml2json(xml: string, options?: { readonly strict?: boolean }): Record<string, unknown>;
}
