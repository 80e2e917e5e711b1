// Serves the vocabularies that `$metadata` references, reduced to the terms in use.
//
// Some clients fetch references with the credentials of the request, so no reference leads to another host.
import { invariant } from "../lib/invariant.ts";
import { element } from "./csdl-xml.ts";

interface VocabularyTerm {
  readonly name: string;
  readonly type: string;
}

const terms: Readonly<Record<string, readonly VocabularyTerm[]>> = {
  "Org.OData.Core.V1": [
    { name: "AutoExpand", type: "Org.OData.Core.V1.Tag" },
    { name: "OptionalParameter", type: "Edm.ComplexType" },
  ],
  "Org.OData.Capabilities.V1": [
    { name: "BatchSupported", type: "Edm.Boolean" },
    { name: "BatchSupport", type: "Edm.ComplexType" },
    { name: "AsynchronousRequestsSupported", type: "Edm.Boolean" },
    { name: "CrossJoinSupported", type: "Edm.Boolean" },
    { name: "KeyAsSegmentSupported", type: "Edm.Boolean" },
    { name: "FilterFunctions", type: "Collection(Edm.String)" },
    { name: "SupportedFormats", type: "Collection(Edm.String)" },
    { name: "SkipSupported", type: "Edm.Boolean" },
    { name: "SortRestrictions", type: "Edm.ComplexType" },
    { name: "CountRestrictions", type: "Edm.ComplexType" },
    { name: "FilterRestrictions", type: "Edm.ComplexType" },
    { name: "ExpandRestrictions", type: "Edm.ComplexType" },
    { name: "InsertRestrictions", type: "Edm.ComplexType" },
    { name: "UpdateRestrictions", type: "Edm.ComplexType" },
    { name: "DeleteRestrictions", type: "Edm.ComplexType" },
  ],
};

/** The names of the documents: `Org.OData.Core.V1.xml`. */
export const vocabularyFiles: readonly string[] = Object.keys(terms).map((name) => `${name}.xml`);

/** The document with this name. */
export function vocabulary(file: string): string {
  const name = file.replace(/\.xml$/, "");
  const declared = terms[name];
  invariant(declared !== undefined, `${file} is a vocabulary`);
  const isTag = declared.some(({ type }) => type.endsWith(".Tag"));
  const schema = element("Schema", { xmlns: "http://docs.oasis-open.org/odata/ns/edm", Namespace: name }, [
    ...(isTag ? [element("TypeDefinition", { Name: "Tag", UnderlyingType: "Edm.Boolean" })] : []),
    ...declared.map((term) => element("Term", { Name: term.name, Type: term.type })),
  ]);
  const edmx = { "xmlns:edmx": "http://docs.oasis-open.org/odata/ns/edmx", Version: "4.0" };
  const whole = element("edmx:Edmx", edmx, [element("edmx:DataServices", {}, [schema])]);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${whole}\n`;
}
