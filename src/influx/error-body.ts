// Writes refusals as clients of InfluxDB read them: `error` is for version 1, the others for version 2.
import type { Failure } from "../errors.ts";

const codes: Readonly<Record<number, string>> = {
  400: "invalid",
  401: "unauthorized",
  403: "forbidden",
  404: "not found",
  405: "method not allowed",
  413: "request too large",
  415: "unsupported media type",
  429: "too many requests",
  503: "unavailable",
};

export const errorBodyOf = ({ status, message }: Failure) => ({
  error: message,
  code: codes[status] ?? (status < 500 ? "invalid" : "internal error"),
  message,
});
