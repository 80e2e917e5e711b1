// `npm run kernels`: compiles each source here to WebAssembly, and writes it as a module of TypeScript, so
// that it is where the other modules are, and a start needs no compiler. Its test fails when one is out of
// date.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The module that is made of each source. */
const targets = {
  "inserts.ts": "src/resources/datapoints/inserts/insert-kernel-binary.ts",
  "kernels.ts": "src/storage/kernels-binary.ts",
  "lines.ts": "src/influx/line-kernel-binary.ts",
  "rows.ts": "src/lib/number-rows-binary.ts",
} as const;
export type KernelSource = keyof typeof targets;
/** The modules that sources import or export. */
const parts = ["blocks", "digits"];

const compiler = join(import.meta.dirname, "node_modules/assemblyscript/bin/asc.js");
const options = ["-O3", "--noAssert", "--runtime", "stub", "--enable", "simd"];
const lineLength = 108;

const pathOf = (source: string): string => join(import.meta.dirname, source);

/** Of a source, and of the parts that it imports. */
export function sourceHash(source: KernelSource): string {
  const text = readFileSync(pathOf(source), "utf8");
  const imported = parts.filter((part) => text.includes(`from "./${part}"`));
  const hash = createHash("sha256").update(text);
  for (const part of imported) hash.update(readFileSync(pathOf(`${part}.ts`), "utf8"));
  return hash.digest("hex");
}

if (import.meta.main) {
  const folder = mkdtempSync(join(tmpdir(), "millrace-kernels-"));
  try {
    const binary = join(folder, "kernels.wasm");
    for (const source of Object.keys(targets) as KernelSource[]) {
      execFileSync(process.execPath, [compiler, pathOf(source), ...options, "-o", binary], {
        stdio: "inherit",
      });
      const target = join(import.meta.dirname, "../..", targets[source]);
      writeFileSync(target, moduleOf(source, readFileSync(binary)));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function moduleOf(source: KernelSource, binary: Buffer): string {
  const lines = binary.toString("base64").match(new RegExp(`.{1,${lineLength}}`, "g")) ?? [];
  return [
    "// Made by `npm run kernels`.",
    "",
    `/** The SHA-256 of scripts/kernels/${source}, of which this was made. */`,
    `export const kernelsSource = "${sourceHash(source)}";`,
    "",
    "/** In base64. */",
    "export const kernelsBinary = `",
    ...lines,
    "`;",
    "",
  ].join("\n");
}
