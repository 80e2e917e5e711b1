// The present time, which moves while a page is open.
import { useEffect, useState } from "react";

/** The present time in ms since 1970, renewed every `everyMs`. */
export function useNow(everyMs: number): number {
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return nowMs;
}
