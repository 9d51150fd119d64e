/** The frame of every page: navigation, search, connection, theme, help. */
import { type FormEvent, type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { type Connection, useConnection } from "../api/live.ts";
import { IconButton } from "../ui/Button.tsx";
import { NewButton } from "../ui/NewButton.tsx";
import { Icon, type IconName, Logo } from "../ui/Icon.tsx";
import { Toasts } from "../ui/overlay/Toast.tsx";
import { useRefusals } from "../ui/rights.ts";
import { Help } from "./Help.tsx";
import { SignedIn } from "./SignedIn.tsx";
import { useShortcuts } from "./keyboard.ts";
import { isHere, NAV } from "./nav.ts";
import { setTheme, type Theme, THEMES, useThemeChoice } from "./theme.ts";
import "./shell.css";

export function Shell({ children, onLogOut }: { children: ReactNode; onLogOut: (() => void) | null }) {
  const [path] = useLocation();
  const [drawer, setDrawer] = useState(false);
  const [help, setHelp] = useState(false);
  const search = useRef<HTMLInputElement>(null);
  const connection = useConnection();
  useShortcuts({ onSearch: () => search.current?.focus(), onHelp: () => setHelp(true) });
  // After navigation the page starts at its top, and keyboard and screen-reader focus move there.
  const main = useRef<HTMLElement>(null);
  const from = useRef(path);
  useEffect(() => {
    setDrawer(false);
    window.scrollTo(0, 0);
    if (from.current === path) return;
    from.current = path;
    if (main.current?.contains(document.activeElement) !== true) main.current?.focus({ preventScroll: true });
  }, [path]);
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="topbar">
        <IconButton label="Open navigation" icon="menu" onClick={() => setDrawer(true)} aria-expanded={drawer} />
        <Link href="/" className="brand">
          <Logo />
          Orbweaver
        </Link>
        <NewButton kind="primary" size="small">
          New
        </NewButton>
      </header>
      <Sidebar
        open={drawer}
        onClose={() => setDrawer(false)}
        path={path}
        search={search}
        connection={connection}
        onHelp={() => setHelp(true)}
        onLogOut={onLogOut}
      />
      <div className="page-column">
        {connection === "lost" ? (
          <div className="banner" role="status">
            <Icon name="warning" />
            Connection lost, reconnecting. This page may be outdated.
          </div>
        ) : null}
        <main id="main" className="page" tabIndex={-1} ref={main}>
          {children}
        </main>
      </div>
      <Help open={help} onClose={() => setHelp(false)} />
      <Toasts />
    </div>
  );
}

function Sidebar({
  open,
  onClose,
  path,
  search,
  connection,
  onHelp,
  onLogOut,
}: {
  open: boolean;
  onClose: () => void;
  path: string;
  search: RefObject<HTMLInputElement | null>;
  connection: Connection;
  onHelp: () => void;
  onLogOut: (() => void) | null;
}) {
  const box = useRef<HTMLDivElement>(null);
  const refusalOf = useRefusals();
  useEffect(() => {
    if (!open) return;
    box.current?.querySelector<HTMLElement>("a")?.focus();
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape") onClose();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [open, onClose]);
  return (
    <>
      {open ? <button type="button" className="drawer-scrim" aria-label="Close navigation" onClick={onClose} /> : null}
      <div className={open ? "sidebar sidebar-open" : "sidebar"} ref={box}>
        <div className="sidebar-top">
          <Link href="/" className="brand">
            <Logo />
            Orbweaver
          </Link>
        </div>
        <NewButton kind="primary" className="sidebar-new" title="New (n)">
          New
        </NewButton>
        <SearchBox field={search} />
        <nav aria-label="Main">
          <ul>
            {NAV.filter(({ needs }) => refusalOf(needs) === null).map(({ href, name, icon }) => (
              <li key={href}>
                <Link
                  href={href}
                  className={isHere(href, path) ? "nav-entry nav-here" : "nav-entry"}
                  aria-current={isHere(href, path) ? "page" : undefined}
                >
                  <Icon name={icon} />
                  {name}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <SignedIn onLogOut={onLogOut} />
        <div className="sidebar-foot">
          <ConnectionSign connection={connection} />
          <div className="row">
            <ThemeButton />
            <IconButton label="Keyboard shortcuts (?)" icon="keyboard" size="small" onClick={onHelp} />
          </div>
        </div>
      </div>
    </>
  );
}

function SearchBox({ field }: { field: RefObject<HTMLInputElement | null> }) {
  const [path, go] = useLocation();
  const [search] = useSearchParams();
  const current = path === "/runs" ? (search.get("q") ?? "") : "";
  const [text, setText] = useState(current);
  useEffect(() => setText(current), [current]);
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    const query = text.trim();
    go(query === "" ? "/runs" : `/runs?q=${encodeURIComponent(query)}`);
  };
  return (
    <form role="search" className="search" onSubmit={onSubmit}>
      <Icon name="search" />
      <input
        ref={field}
        type="search"
        aria-label="Search runs"
        placeholder="Search runs"
        value={text}
        maxLength={200}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.blur();
        }}
      />
      <kbd aria-hidden="true">/</kbd>
    </form>
  );
}

const POLLED = "Reloads every 15 s";
const CONNECTION_WORDS: Record<Connection, string> = { connecting: "Connecting", open: "Live", lost: "Not connected" };

function ConnectionSign({ connection }: { connection: Connection }) {
  const isPolled = useRefusals()("streamLive") !== null;
  if (isPolled) return <span className="connection">{POLLED}</span>;
  return (
    <span className={`connection connection-${connection}`} title="Live updates of this page">
      <i />
      {CONNECTION_WORDS[connection]}
    </span>
  );
}

const THEME_ICONS: Record<Theme, IconName> = { system: "screen", light: "sun", dark: "moon" };

function ThemeButton() {
  const theme = useThemeChoice();
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "system";
  return (
    <IconButton
      label={`Theme: ${theme}. Change to ${next}`}
      icon={THEME_ICONS[theme]}
      size="small"
      onClick={() => setTheme(next)}
    />
  );
}
