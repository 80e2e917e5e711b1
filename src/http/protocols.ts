// The protocols beside REST.
import { influxProtocol } from "./influx-routes.ts";
import { oauthProtocol } from "./oauth.ts";
import { odataProtocol } from "./odata-routes.ts";
import type { Protocol } from "./protocol.ts";

export const protocols: readonly Protocol[] = [odataProtocol, influxProtocol, oauthProtocol];
