// `npm run kernels`: compiles kernels.ts to WebAssembly, and writes it as a module of TypeScript, so that it
// is where the other modules are, and a start needs no compiler. Its test fails when it is out of date.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const source = join(import.meta.dirname, "kernels.ts");
const target = join(import.meta.dirname, "../../src/storage/embedded-points/codec/kernels-binary.ts");
const compiler = join(import.meta.dirname, "node_modules/assemblyscript/bin/asc.js");
const options = ["-O3", "--noAssert", "--runtime", "stub", "--enable", "simd"];
const lineLength = 108;

/** Of the source of the kernels. */
export const sourceHash = (): string => createHash("sha256").update(readFileSync(source)).digest("hex");

if (import.meta.main) {
  const folder = mkdtempSync(join(tmpdir(), "millrace-kernels-"));
  try {
    const binary = join(folder, "kernels.wasm");
    execFileSync(process.execPath, [compiler, source, ...options, "-o", binary], { stdio: "inherit" });
    writeFileSync(target, moduleOf(readFileSync(binary)));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function moduleOf(binary: Buffer): string {
  const lines = binary.toString("base64").match(new RegExp(`.{1,${lineLength}}`, "g")) ?? [];
  return [
    "// Made by `npm run kernels`.",
    "",
    "/** The SHA-256 of scripts/kernels/kernels.ts, of which this was made. */",
    `export const kernelsSource = "${sourceHash()}";`,
    "",
    "/** In base64. */",
    "export const kernelsBinary = `",
    ...lines,
    "`;",
    "",
  ].join("\n");
}
