// Instantiates modules of WebAssembly. Node has it; its types do not.
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

/** The exports of a new instance of a module in base64. */
export function instantiated<Exports>(binary: string): Exports {
  const compiled = new WebAssembly.Module(Buffer.from(binary, "base64"));
  return new WebAssembly.Instance(compiled).exports as Exports;
}
