// A link in text to another page of the console.
import { Anchor, type AnchorProps } from "@mantine/core";
import { createLink } from "@tanstack/react-router";
import type { Ref } from "react";

interface TextLinkProps extends AnchorProps {
  readonly ref?: Ref<HTMLAnchorElement>;
  readonly title?: string;
}

export const TextLink = createLink(({ ref, ...props }: TextLinkProps) => (
  <Anchor size="sm" {...props} ref={ref} />
));
