// Instantiates modules of WebAssembly. Node has it; its types do not.
import { setFlagsFromString } from "node:v8";

declare const WebAssembly: {
  readonly Module: new (binary: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

/** The memory that a module exports. Its buffer is another one after it has grown. */
export interface WebAssemblyMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** Of the memory of a module. */
export const memoryPageBytes = 2 ** 16;

/**
 * Bytes of a function's code that run before V8 compiles the function again, as fast code, in another thread.
 * One block or one step of rows has more. With V8's 13 million, the first 20 responses of a process are
 * written by code that takes three times as long.
 */
const tieringBudget = 20_000;

/** Has V8 optimise loops of WebAssembly from their first use on. Call it before the server starts. */
export function optimiseLoopsEarly(): void {
  setFlagsFromString(`--wasm-tiering-budget=${tieringBudget}`);
}

/** The exports of a new instance of a module in base64. */
export function instantiated<Exports>(binary: string): Exports {
  const compiled = new WebAssembly.Module(Buffer.from(binary, "base64"));
  return new WebAssembly.Instance(compiled).exports as Exports;
}
