// The schema of a value that is one of several.
import { Type } from "typebox";

export const oneOf = <const Words extends readonly (string | number)[]>(words: Words, description: string) =>
  Type.Unsafe<Words[number]>({ enum: [...words], description });
