// Connections of front threads to the main thread (`src/front/`), which forward requests of clients.
import type { Socket } from "node:net";

/** No client has this address. */
const frontAddress = "front thread";

/** Call it for each connection that the main thread accepts from a front thread. */
export const markAsFront = (socket: Socket): Socket =>
  Object.defineProperty(socket, "remoteAddress", { value: frontAddress });

export const isFront = ({ remoteAddress }: Socket): boolean => remoteAddress === frontAddress;

/**
 * Whether an address of a chain of proxies, whose nearest one has the number 0, is that of a front thread.
 */
export const isFrontAddress = (address: string, hop: number): boolean =>
  hop === 0 && address === frontAddress;
