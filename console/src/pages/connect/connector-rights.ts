// The rights of a connector that writes below one asset.
import type { Capability } from "../../api/generated.ts";

/** Raw tables belong to no asset, so they are not among these rights. */
export function connectorCapabilities(asset: number): Capability[] {
  const scope = { assetIdScope: { subtreeIds: [String(asset)] } };
  return [
    { timeSeriesAcl: { actions: ["READ", "WRITE"], scope } },
    { eventsAcl: { actions: ["READ", "WRITE"], scope } },
    { assetsAcl: { actions: ["READ"], scope } },
    { connectorsAcl: { actions: ["WRITE"], scope: { all: {} } } },
  ];
}
