// Refusals of the OData interface. Part of the catalogue of `src/errors.ts`.
//
// The names are part of that interface: `filter-syntax` is `FilterSyntax` in `error.details[0].code`.
import { entry } from "./entry.ts";

export const odataFailures = {
  "filter-required": entry<{ set: string }>({
    status: 400,
    when: "An entity set that requires a filter is read without one.",
    message: ({ set }) => `${set} requires $filter on at least one property`,
  }),
  "filter-syntax": entry<{ problem: string; at: number }>({
    status: 400,
    when: "An expression cannot be read; `at` counts its decoded characters from 0.",
    message: ({ problem, at }) => `Syntax error at character ${at}: ${problem}`,
  }),
  "filter-type": entry<{ problem: string; at: number }>({
    status: 400,
    when: "A property is compared with a value of another type.",
    message: ({ problem, at }) => `Type mismatch at character ${at}: ${problem}`,
  }),
  "filter-too-large": entry<{ what: string; limit: number }>({
    status: 400,
    when: "An expression is longer, deeper or has more parts than the limit.",
    message: ({ what, limit }) => `The expression has more ${what} than ${limit}`,
  }),
  "property-not-filterable": entry<{ property: string; set: string }>({
    status: 400,
    when: "A filter uses a property that its entity set does not filter by.",
    message: ({ property, set }) => `Property '${property}' of ${set} cannot be used in $filter`,
  }),
  "filter-expression-not-allowed": entry<{ property: string; set: string }>({
    status: 400,
    when: "A property that accepts only a single value is used in another way than `eq` and `and`.",
    message: ({ property, set }) => `Property '${property}' of ${set} accepts only a single eq value`,
  }),
  "filter-feature-not-supported": entry<{ feature: string; at?: number }>({
    status: 501,
    when: "A filter uses a part of OData that is not served.",
    message: ({ feature, at }) =>
      `${feature}${at === undefined ? "" : ` (character ${at})`} is not supported`,
  }),
  "query-option-not-supported": entry<{ option: string }>({
    status: 501,
    when: "A request uses a system query option that is not served, or not in this place.",
    message: ({ option }) => `The query option ${option} is not supported`,
  }),
  "query-option-invalid": entry<{ option: string; problem: string }>({
    status: 400,
    when: "A system query option has a value that cannot be read.",
    message: ({ option, problem }) => `Invalid ${option}: ${problem}`,
  }),
  "query-option-repeated": entry<{ option: string }>({
    status: 400,
    when: "A system query option is repeated.",
    message: ({ option }) => `The query option ${option} is repeated`,
  }),
  "not-expandable": entry<{ navigation: string; set: string }>({
    status: 400,
    when: "An expanded navigation can be read only by its path.",
    message: ({ navigation, set }) =>
      `${navigation} of ${set} cannot be expanded; read it by its path, such as ${set}('id')/${navigation}`,
  }),
  "resource-not-found": entry<{ problem: string }>({
    status: 404,
    when: "A path of the OData interface, or a record in it, does not exist.",
    message: ({ problem }) => problem,
  }),
  "key-invalid": entry<{ problem: string }>({
    status: 400,
    when: "The key of an entity, or an argument of a function, cannot be read.",
    message: ({ problem }) => problem,
  }),
  "feature-not-supported": entry<{ feature: string }>({
    status: 501,
    when: "A path uses a part of OData that is not served, such as `$batch`.",
    message: ({ feature }) => `${feature} is not supported`,
  }),
  "not-acceptable": entry<{ wanted: string }>({
    status: 406,
    when: "A response is requested in a format that the interface does not have.",
    message: ({ wanted }) => `There is no response as ${wanted}; request application/json`,
  }),
  "odata-version-unsupported": entry<{ header: string; value: string }>({
    status: 400,
    when: "A request is made for another version of OData than 4.",
    message: ({ header, value }) => `${header} is ${value}, but responses are OData 4.0`,
  }),
  "entity-exists": entry<{ what: string }>({
    status: 409,
    when: "The key of an inserted entity is taken.",
    message: ({ what }) => `There is a ${what} already`,
  }),
  "content-type-unsupported": entry<{ type: string }>({
    status: 415,
    when: "An entity is sent in another format than JSON.",
    message: ({ type }) => `Content-Type ${type} is not supported; send application/json`,
  }),
  "skip-token-invalid": entry<Record<string, never>>({
    status: 400,
    when: "A `$skiptoken` is forged, damaged, or belongs to another request.",
    message: () => "This $skiptoken does not belong to this request; use @odata.nextLink unchanged",
  }),
} as const;
