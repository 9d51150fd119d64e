import type { AnchorHTMLAttributes, ButtonHTMLAttributes, ReactNode } from "react";
import { Link } from "wouter";
import type { OperationName } from "../api/client.ts";
import { Icon, type IconName } from "./Icon.tsx";
import { useRefusal } from "./rights.ts";
import "./icon.css";
import "./button.css";

interface Look {
  /** `primary` once per view; `danger` for irreversible actions. */
  kind?: "primary" | "plain" | "quiet" | "danger";
  size?: "small" | "normal";
  icon?: IconName;
  /** An action is running: disabled meanwhile. */
  busy?: boolean;
  /** The call that it makes: disabled with the reason if the caller may not make it. */
  needs?: OperationName;
}

const classOf = ({ kind = "plain", size = "normal" }: Look, more = "") =>
  `button button-${kind} button-${size} ${more}`.trim();

const inner = (icon: IconName | undefined, busy: boolean | undefined, children: ReactNode) => (
  <>
    {busy === true ? <Icon name="spin" spin /> : icon === undefined ? null : <Icon name={icon} />}
    {children}
  </>
);

export function Button({
  kind,
  size,
  icon,
  busy,
  needs,
  className,
  disabled,
  children,
  title,
  ...rest
}: Look & ButtonHTMLAttributes<HTMLButtonElement>) {
  const refusal = useRefusal(needs);
  return (
    <button
      type="button"
      className={classOf({ ...(kind && { kind }), ...(size && { size }) }, className)}
      disabled={disabled === true || busy === true || refusal !== null}
      aria-busy={busy === true || undefined}
      title={refusal ?? title}
      {...rest}
    >
      {inner(icon, busy, children)}
    </button>
  );
}

/** Icon only: `label` is its tooltip and accessible name. */
export function IconButton({
  label,
  icon,
  kind = "quiet",
  size,
  className,
  ...rest
}: Omit<Look, "icon" | "needs"> & { label: string; icon: IconName } & ButtonHTMLAttributes<HTMLButtonElement>) {
  return (
    <button
      type="button"
      className={classOf({ kind, ...(size && { size }) }, `button-icon ${className ?? ""}`)}
      aria-label={label}
      title={label}
      {...rest}
    >
      <Icon name={icon} />
    </button>
  );
}

/** A link styled as a button; `download` and full URLs leave the dashboard. */
export function LinkButton({
  href,
  kind,
  size,
  icon,
  needs,
  children,
  className,
  ...rest
}: Look & AnchorHTMLAttributes<HTMLAnchorElement> & { href: string }) {
  const look = classOf({ ...(kind && { kind }), ...(size && { size }) }, className);
  const refusal = useRefusal(needs);
  if (refusal !== null)
    return (
      <button type="button" className={look} disabled title={refusal} aria-label={rest["aria-label"]}>
        {inner(icon, false, children)}
      </button>
    );
  const leaves = rest.download !== undefined || rest.target !== undefined || !href.startsWith("/");
  return leaves ? (
    <a href={href} className={look} {...rest}>
      {inner(icon, false, children)}
    </a>
  ) : (
    <Link href={href} className={look} {...rest}>
      {inner(icon, false, children)}
    </Link>
  );
}
