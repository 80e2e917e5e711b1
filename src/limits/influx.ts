// Limits of writes in line protocol.
import { limit } from "./limit.ts";

export const influxLimits = {
  influxKeyBytesMax: limit(
    65_535,
    "bytes",
    "Measurement and tags of a line as sent, and the key of a field: the limit of InfluxDB.",
  ),
  influxFieldsPerLineMax: limit(4_096, "fields", "Fields of a line. A line with more is refused."),
  influxTemplateLengthMax: limit(1_000, "characters", "The template of a series name or of an asset."),
  influxNamesBytesMax: limit(
    64 * 2 ** 20,
    "bytes",
    "Memory of cached names of series, by the bytes of their lines. When it is full, all are dropped.",
  ),
} as const;
