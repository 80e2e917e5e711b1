// Records which methods of a published client have returned, so that a test file covers all of them.
import assert from "node:assert/strict";

/** The static methods of a class of the client, in its own order. */
export const methodsOf = (client: object): string[] =>
  Object.getOwnPropertyNames(client).filter((name) => typeof Reflect.get(client, name) === "function");

export interface RecordedClasses<Classes> {
  /** The same classes, whose calls are recorded. */
  readonly recorded: Classes;
  /**
   * For the last test of a file: each method has returned a result, except `elsewhere`. A refusal does not
   * count.
   */
  readonly assertAllReturned: (elsewhere?: readonly string[]) => void;
}

export function recordReturns<Classes extends Readonly<Record<string, object>>>(
  classes: Classes,
): RecordedClasses<Classes> {
  const returned = new Set<string>();
  const recorded = Object.entries(classes).map(([name, client]) => {
    const record = (method: string | symbol) => returned.add(`${name}.${String(method)}`);
    return [name, recordedClass(client, record)];
  });
  const all = Object.entries(classes).flatMap(([name, client]) =>
    methodsOf(client).map((method) => `${name}.${method}`),
  );
  return {
    recorded: Object.fromEntries(recorded) as Classes,
    assertAllReturned: (elsewhere = []) =>
      assert.deepEqual(
        all.filter((method) => !returned.has(method)),
        elsewhere,
      ),
  };
}

const recordedClass = (client: object, record: (method: string | symbol) => void): object =>
  new Proxy(client, {
    get(target, method) {
      const called: unknown = Reflect.get(target, method);
      if (typeof called !== "function") return called;
      return (...given: unknown[]) => {
        const result: unknown = called.apply(target, given);
        if (result instanceof Promise)
          return result.then((value) => {
            record(method);
            return value;
          });
        record(method);
        return result;
      };
    },
  });
