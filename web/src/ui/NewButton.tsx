import type { ComponentProps } from "react";
import { useMayStart } from "../api/caller.ts";
import { LinkButton } from "./Button.tsx";

/** Leads to the page that starts something, for those who may. */
export function NewButton({
  href = "/new",
  ...rest
}: Omit<ComponentProps<typeof LinkButton>, "href" | "icon"> & { href?: string }) {
  return useMayStart() ? <LinkButton href={href} icon="plus" {...rest} /> : null;
}
