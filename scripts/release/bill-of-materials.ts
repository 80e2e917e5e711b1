// The software bill of materials of a release, in the format CycloneDX.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { nameOf, productionPackages } from "./lock-file.ts";
import { npm } from "./npm.ts";

interface Bill {
  readonly serialNumber?: string;
  readonly metadata: { readonly timestamp: string };
  readonly components: readonly { readonly "bom-ref": string }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

/** The packages of the server and those of the console, and their dependencies. */
export function billOfMaterials(root: string, time: number): string {
  const whole = JSON.parse(npm(root, "sbom", "--sbom-format=cyclonedx", "--package-lock-only")) as Bill;
  const contained = new Set([...ofServer(root), ...ofConsole(root)]);
  const { serialNumber, ...bill } = whole;
  const own = bill.dependencies[0]?.ref;
  const isContained = (ref: string) => contained.has(ref) || ref === own;
  const released: Bill = {
    ...bill,
    metadata: { ...bill.metadata, timestamp: new Date(time * 1000).toISOString() },
    components: bill.components.filter((one) => contained.has(one["bom-ref"])),
    dependencies: bill.dependencies
      .filter(({ ref }) => isContained(ref))
      .map((one) => ({ ...one, dependsOn: one.dependsOn?.filter(isContained) ?? [] })),
  };
  return `${JSON.stringify(released, null, 2)}\n`;
}

const ofServer = (root: string) =>
  productionPackages(root).map(([folder, { version }]) => `${nameOf(folder)}@${version}`);

/** From the titles that the build of the console writes: `## uplot - 1.6.32 (MIT)`. */
const ofConsole = (root: string) =>
  [...readFileSync(join(root, "console/dist/licenses.md"), "utf8").matchAll(/^## (\S+) - (\S+) \(/gm)].map(
    ([, name, version]) => `${name}@${version}`,
  );
