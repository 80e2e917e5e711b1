// Leads to the sign-in after the end of the session, and from there back to the page.
import { useRouter } from "@tanstack/react-router";
import { useEffect, useState } from "react";

export function SessionEnded() {
  const router = useRouter();
  const [returnTo] = useState(() => router.latestLocation.href);
  useEffect(() => {
    const search = { returnTo, reason: "ended" } as const;
    // The page is gone, so its unsaved changes must not hold the person here.
    void router.navigate({ to: "/sign-in", search, replace: true, ignoreBlocker: true });
  }, [router, returnTo]);
  return null;
}
