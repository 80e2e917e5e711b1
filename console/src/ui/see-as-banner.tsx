// Shows on every page that the records are those which a member of a group sees, and ends that by one click.
import { Button, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Eye } from "lucide-react";
import { seeAs } from "../session/see-as.ts";
import { useSession } from "../session/session.ts";
import classes from "./see-as-banner.module.css";

/** The height that the banner adds to the header. */
export const seeAsBannerHeight = 44;

export function SeeAsBanner() {
  const { seenAs } = useSession();
  const queryClient = useQueryClient();
  const end = useMutation({ mutationFn: () => seeAs(queryClient, undefined) });
  if (!seenAs) return null;
  return (
    <section className={classes["banner"]} aria-label="See as a group">
      <Eye size={18} aria-hidden />
      <Text size="sm" className={classes["text"]} truncate>
        You see as a member of <strong>{seenAs.name}</strong>
        <Text span inherit visibleFrom="sm">
          {" "}
          would: its data only, and without changing anything.
        </Text>
      </Text>
      <Button size="compact-sm" color="dark.8" loading={end.isPending} onClick={() => end.mutate()}>
        End
      </Button>
    </section>
  );
}
