import type { ComponentProps } from "react";
import { LinkButton } from "./Button.tsx";
import { useRefusal } from "./rights.ts";

/** Leads to the page that starts something, for those who may. */
export function NewButton({
  href = "/new",
  ...rest
}: Omit<ComponentProps<typeof LinkButton>, "href" | "icon"> & { href?: string }) {
  return useRefusal("startCrawl") === null ? <LinkButton href={href} icon="plus" {...rest} /> : null;
}
