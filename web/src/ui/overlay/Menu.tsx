import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import type { OperationName } from "../../api/client.ts";
import { Icon, type IconName } from "../Icon.tsx";
import { useRefusals } from "../rights.ts";
import "./menu.css";

interface MenuItem {
  name: string;
  icon?: IconName;
  danger?: boolean;
  disabled?: boolean;
  /** The call that it makes: disabled with the reason if the caller may not make it. */
  needs?: OperationName;
  /** Shown with a tick; stays open when selected: a multiple choice. */
  checked?: boolean;
  onChoose: () => void;
}

/** A menu button. Arrow keys move, Enter selects, Esc closes. */
export function Menu({
  label,
  trigger,
  items,
  align = "end",
  className = "button button-plain button-normal",
}: {
  label: string;
  trigger: ReactNode;
  items: readonly MenuItem[];
  align?: "start" | "end";
  className?: string;
}) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  const refusalOf = useRefusals();
  useEffect(() => {
    if (!open) return;
    const outside = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", outside);
    box.current?.querySelector<HTMLElement>("[role^=menuitem]:not(:disabled)")?.focus();
    return () => document.removeEventListener("pointerdown", outside);
  }, [open]);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!open) return;
    if (event.key === "Escape" || event.key === "Tab") {
      event.stopPropagation();
      if (event.key === "Escape") event.preventDefault();
      close();
      return;
    }
    const entries = [...(box.current?.querySelectorAll<HTMLElement>("[role^=menuitem]:not(:disabled)") ?? [])];
    const at = entries.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: entries.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    entries[(to + entries.length) % entries.length]?.focus();
  };
  return (
    <div className="menu" ref={box} onKeyDown={onKeyDown}>
      <button
        ref={button}
        type="button"
        className={className}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        aria-label={label}
        title={label}
        onClick={() => setOpen(!open)}
      >
        {trigger}
      </button>
      {open ? (
        <div className={`menu-list menu-${align}`} role="menu" id={id} aria-label={label}>
          {items.map(({ name, icon, danger, disabled, needs, checked, onChoose }) => (
            <button
              key={name}
              type="button"
              role={checked === undefined ? "menuitem" : "menuitemcheckbox"}
              aria-checked={checked}
              disabled={disabled === true || refusalOf(needs) !== null}
              title={refusalOf(needs) ?? undefined}
              className={danger === true ? "menu-item menu-danger" : "menu-item"}
              onClick={() => {
                if (checked === undefined) close();
                onChoose();
              }}
            >
              <span className="menu-sign">
                {checked === true ? <Icon name="check" /> : icon === undefined ? null : <Icon name={icon} />}
              </span>
              {name}
            </button>
          ))}
        </div>
      ) : null}
    </div>
  );
}
