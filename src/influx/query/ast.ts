// The syntax tree of InfluxQL, as far as it is served.

export type Operator = "+" | "-" | "*" | "/" | "%";
export type ComparisonOperator = "=" | "!=" | "<" | "<=" | ">" | ">=";

/** An element of the select list, or a side of a comparison. */
export type QueryExpression =
  | { readonly kind: "reference"; readonly name: string; readonly type?: string }
  | { readonly kind: "number"; readonly value: number; readonly integer?: bigint }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "boolean"; readonly value: boolean }
  | { readonly kind: "duration"; readonly nanoseconds: bigint }
  | { readonly kind: "regex"; readonly source: string }
  | { readonly kind: "wildcard"; readonly type?: string }
  | Call
  | {
      readonly kind: "binary";
      readonly operator: Operator;
      readonly left: QueryExpression;
      readonly right: QueryExpression;
    };

export interface Call {
  readonly kind: "call";
  readonly name: string;
  readonly parameters: readonly QueryExpression[];
}

export type WhereCondition =
  | { readonly kind: "and" | "or"; readonly parts: readonly WhereCondition[] }
  | {
      readonly kind: "compare";
      readonly name: string;
      readonly type?: string;
      readonly is: ComparisonOperator;
      readonly value: QueryExpression;
    }
  | {
      readonly kind: "match";
      readonly name: string;
      readonly type?: string;
      readonly source: string;
      readonly isNegated: boolean;
    }
  | { readonly kind: "constant"; readonly value: boolean };

/** The time range in nanoseconds, the end exclusive. */
export interface NanosecondRange {
  readonly start: bigint | undefined;
  readonly end: bigint | undefined;
}

/** A name, or a regular expression that names match. */
export type NamePattern = { readonly name: string } | { readonly source: string };

/** A WHERE clause: its range of time, and the condition on tags and fields. */
export interface Where {
  readonly time: NanosecondRange;
  readonly condition: WhereCondition;
}

export interface Window {
  readonly limit: number | undefined;
  readonly offset: number;
}

export interface SelectColumn {
  readonly expression: QueryExpression;
  readonly alias: string | undefined;
}

export type Dimension =
  | { readonly kind: "tag"; readonly pattern: NamePattern }
  | { readonly kind: "every tag" };

export interface TimeGrouping {
  readonly lengthMs: number;
  readonly offsetMs: number;
}

export type Fill = "null" | "none" | "previous" | "linear" | { readonly value: number };

export interface Select {
  readonly kind: "select";
  readonly columns: readonly SelectColumn[];
  readonly from: readonly NamePattern[];
  readonly where: Where;
  readonly time: TimeGrouping | undefined;
  readonly dimensions: readonly Dimension[];
  readonly fill: Fill;
  readonly isDescending: boolean;
  readonly rows: Window;
  readonly series: Window;
  readonly timeZone: string;
}

export type ShowSubject =
  | "databases"
  | "measurements"
  | "retention policies"
  | "tag keys"
  | "tag values"
  | "field keys"
  | "series";

export interface Show {
  readonly kind: "show";
  readonly subject: ShowSubject;
  readonly from: readonly NamePattern[];
  /** The keys of SHOW TAG VALUES. */
  readonly keys: { readonly patterns: readonly NamePattern[]; readonly isNegated: boolean } | undefined;
  readonly where: Where;
  readonly rows: Window;
}

/** A statement that is refused when it is its turn. */
export interface RefusedStatement {
  readonly kind: "refused";
  readonly problem: string;
}

export type QueryStatement = Select | Show | RefusedStatement;
