// Says that the server cannot be reached, for as long as that is so.
import { Alert } from "@mantine/core";
import { Unplug } from "lucide-react";
import { useIsOnline } from "../api/connection.ts";

export function ConnectionNotice() {
  if (useIsOnline()) return null;
  return (
    <Alert color="orange" role="alert" mb="sm" icon={<Unplug size={18} aria-hidden />} title="No connection">
      The server cannot be reached. The pages show what was loaded last, and continue when it is back.
    </Alert>
  );
}
