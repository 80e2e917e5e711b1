// Generates an asset tree with realistic names: seeded, of any number of units.
import { randomFrom } from "./generate.ts";

/** A new asset: its parent is in the same request or exists already. */
export interface PlantAsset {
  readonly refId: string;
  readonly name: string;
  readonly description: string;
  readonly parentRefId?: string;
  readonly parentName?: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Assets of a unit, its own node included: one request creates as many. */
export const assetsPerUnit = 1_000;
const unitsPerArea = 10;
const systemsPerUnit = 9;
const machinesPerSystem = 10;

/** Every asset below one of these is in one subtree of 10,000. */
export const areaName = (area: number) => `Area ${String(area + 1).padStart(3, "0")}`;

/** The number of each kind in a hundred machines: one word is in most names, others are rare. */
const machines = [
  { word: "Pump", code: "P", share: 60 },
  { word: "Valve", code: "V", share: 20 },
  { word: "Heat exchanger", code: "HE", share: 10 },
  { word: "Compressor", code: "C", share: 9 },
  { word: "Flare stack", code: "FS", share: 1 },
] as const;

const parts = ["motor", "bearing", "coupling", "seal", "casing", "sensor", "cable", "breaker", "gearbox"];
const makers = ["Alpha", "Borealis", "Cetus", "Draco", "Eridanus"];

/** The root and the areas: the first request. */
export function plantTop(units: number): PlantAsset[] {
  const root = { refId: "plant", name: "Plant", description: "The whole plant", metadata: {} };
  const areas = Array.from({ length: Math.ceil(units / unitsPerArea) }, (_, area) => ({
    refId: `a${area}`,
    name: areaName(area),
    description: `Process area ${area + 1}`,
    parentRefId: "plant",
    metadata: {},
  }));
  return [root, ...areas];
}

/** A unit of `assetsPerUnit` assets: systems, their machines, the parts of these. */
export function plantUnit(unit: number, seed: number): PlantAsset[] {
  const random = randomFrom(seed * 1_000_003 + unit);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const items: PlantAsset[] = [];
  const add = (item: Omit<PlantAsset, "refId" | "metadata">): string => {
    const refId = `${items.length}`;
    const serial = Math.floor(random() * 1e9);
    items.push({ refId, ...item, metadata: { maker: pick(makers), serial: `SN${serial}` } });
    return refId;
  };
  const place = String(unit + 10);
  const top = add({
    name: `Unit ${place}`,
    description: `Process unit ${place}`,
    parentName: areaName(Math.floor(unit / unitsPerArea)),
  });
  for (let system = 1; system <= systemsPerUnit; system++) {
    const system_ = `${place}-${system}`;
    const below = add({
      name: `System ${system_}`,
      description: `System of unit ${place}`,
      parentRefId: top,
    });
    for (let machine = 1; machine <= machinesPerSystem; machine++) {
      const { word, code } = machineOf(random());
      const tag = `${system_}-${code}-${100 + machine}`;
      const name = random() < 0.5 ? `${word} ${tag}` : `${tag} ${word.toLowerCase()}`;
      const description = `${word} with ${pick(parts)} by ${pick(makers)}, system ${system_}`;
      const parent = add({ name, description, parentRefId: below });
      for (const part of parts)
        add({
          name: `${tag} ${word.toLowerCase()} ${part}`,
          description: `Spare ${part} by ${pick(makers)}`,
          parentRefId: parent,
        });
    }
  }
  while (items.length < assetsPerUnit)
    add({ name: `Cabinet ${place}-${items.length}`, description: "Electrical cabinet", parentRefId: top });
  return items;
}

function machineOf(share: number): (typeof machines)[number] {
  let until = 0;
  for (const machine of machines) {
    until += machine.share / 100;
    if (share < until) return machine;
  }
  return machines[0];
}
