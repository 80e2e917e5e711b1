// Decides which addresses the server may call for a project: the public internet, and networks that the
// operator allows.
import { BlockList, isIP, isIPv6 } from "node:net";

export type AddressPolicy = (address: string) => boolean;

/** Allows global unicast addresses, and those in `networks`, such as `10.0.0.0/8` or `::1`. */
export function addressPolicy(networks: readonly string[]): AddressPolicy {
  const [allowed, special, globalUnicast] = [networks, specialNetworks, ["2000::/3"]].map(listOf);
  return (address) => {
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    if (allowed!.check(address, family)) return true;
    // Other IPv6 addresses are local, or carry an IPv4 address.
    if (family === "ipv6" && !globalUnicast!.check(address, family)) return false;
    return !special!.check(address, family);
  };
}

/** Whether an address is in one of the networks. */
export function networkCheck(networks: readonly string[]): AddressPolicy {
  const list = listOf(networks);
  return (address) => list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}

/**
 * Networks whose addresses may not be hosts of the public internet (RFC 6890 and its registries).
 */
const specialNetworks = [
  "0.0.0.0/8", // this host
  "10.0.0.0/8", // private
  "100.64.0.0/10", // carrier-grade NAT, and the metadata service of a cloud
  "127.0.0.0/8", // loopback
  "168.63.129.16", // the platform service of Azure
  "169.254.0.0/16", // link-local, and the metadata service of most clouds
  "172.16.0.0/12", // private
  "192.0.0.0/24", // protocol assignments, and the metadata service of a cloud
  "192.0.2.0/24", // documentation
  "192.88.99.0/24", // relays of 6to4
  "192.168.0.0/16", // private
  "198.18.0.0/15", // benchmarks
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, and broadcast
  "2001::/23", // protocol assignments, Teredo among them
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4, which carries an IPv4 address
  "3fff::/20", // documentation
];

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    list.addSubnet(address, bits === undefined ? (family === "ipv6" ? 128 : 32) : Number(bits), family);
  }
  return list;
}

/** Whether the text is an address, or a network such as `10.0.0.0/8`. */
export function isNetwork(value: string): boolean {
  const [address = "", bits = "0", ...more] = value.split("/");
  const bitsMax = { 0: -1, 4: 32, 6: 128 }[isIP(address) as 0 | 4 | 6];
  return /^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax && more.length === 0;
}
