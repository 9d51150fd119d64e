/** Icons, drawn on a 16 × 16 grid. Decorative only; text carries the meaning. */
const PATHS = {
  overview: "M2.5 8.5h3l2-5 2.5 9 1.5-4h2",
  runs: "M5 3.2v9.6l7.5-4.8z",
  workflows: "M3 2.5h4v3H3zM9 10.5h4v3H9zM5 5.5v3.5q0 3 4 3M9 2.5h4v3H9zM11 5.5v5",
  sites:
    "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM2 8h12M8 2c2 1.7 2.7 3.7 2.7 6S10 12.3 8 14M8 2C6 3.7 5.3 5.7 5.3 8S6 12.3 8 14",
  proxies: "M2 5.5h9.5M9 3l2.5 2.5L9 8M14 10.5H4.5M7 8l-2.5 2.5L7 13",
  workers: "M3 3h10v4H3zM3 9h10v4H3zM5.5 5h.01M5.5 11h.01",
  queue: "M2.5 4h11M2.5 8h11M2.5 12h7",
  schedules: "M8 2.2a5.8 5.8 0 1 0 0 11.6A5.8 5.8 0 0 0 8 2.2zM8 5v3.2l2.2 1.5",
  settings: "M2.5 4.5h7M12.5 4.5h1M11 3v3M2.5 11.5h1M6.5 11.5h7M5 10v3",
  jobs: "M3 5.5h10v7H3zM6 5.5v-2h4v2M3 8.5h10",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.3 13.5 13.5",
  close: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  menu: "M2.5 4h11M2.5 8h11M2.5 12h11",
  check: "M3 8.5 6.5 12 13 4.5",
  copy: "M5.5 5.5h8v8h-8zM3.5 10.5h-1v-8h8v1",
  chevron: "M4 6l4 4 4-4",
  right: "M6 4l4 4-4 4",
  left: "M10 4 6 8l4 4",
  up: "M8 13V3M4 7l4-4 4 4",
  down: "M8 3v10M4 9l4 4 4-4",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9",
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5z",
  fit: "M2 5.5V2h3.5M10.5 2H14v3.5M14 10.5V14h-3.5M5.5 14H2v-3.5",
  screen: "M2 3h12v8H2zM6 13.5h4M8 11v2.5",
  warning: "M8 2.5 14 13H2zM8 6.5v3M8 11.3v.01",
  info: "M8 2.2a5.8 5.8 0 1 0 0 11.6A5.8 5.8 0 0 0 8 2.2zM8 7.3v3.4M8 5.2v.01",
  retry: "M13 8a5 5 0 1 1-1.6-3.7M13 2.5v3h-3",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  stop: "M4 4h8v8H4z",
  trash: "M3 4.5h10M6 4.5v-2h4v2M4.5 4.5l.6 9h5.8l.6-9",
  download: "M8 2.5v7.5M5 7l3 3 3-3M3 13.5h10",
  external: "M9 3h4v4M13 3 7.5 8.5M11 9.5V13H3V5h3.5",
  link: "M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2-2a2.6 2.6 0 0 0-3.7-3.7l-.8.8M9.2 6.8a2.6 2.6 0 0 0-3.7 0l-2 2a2.6 2.6 0 0 0 3.7 3.7l.8-.8",
  columns: "M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10",
  filter: "M2.5 4h11M4.5 8h7M6.5 12h3",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  edit: "M3 13l.6-2.9L11 2.7l2.3 2.3-7.4 7.4z",
  logout: "M6 3H3v10h3M9.5 5l3 3-3 3M12.5 8H6.5",
  keyboard: "M1.5 4h13v8h-13zM4 6.5h.01M6.7 6.5h.01M9.3 6.5h.01M12 6.5h.01M4.5 9.5h7",
  person: "M8 2.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM3 13.5c.5-3 2.3-4.5 5-4.5s4.5 1.5 5 4.5",
  bolt: "M9 1.8 3.5 9H7.5l-.8 5.2L12.5 7H8.5z",
  clock: "M8 2.2a5.8 5.8 0 1 0 0 11.6A5.8 5.8 0 0 0 8 2.2zM8 5v3.2l2.2 1.5",
  cross: "M4.5 4.5l7 7M11.5 4.5l-7 7",
  slash: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM4.2 11.8l7.6-7.6",
  ring: "M8 2.8a5.2 5.2 0 1 0 0 10.4A5.2 5.2 0 0 0 8 2.8z",
  spin: "M8 2.5A5.5 5.5 0 1 1 2.5 8",
  half: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM8 2.5v11M10 4.5v7M12 6v4",
  dot: "M8 6.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3z",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16, spin = false }: { name: IconName; size?: number; spin?: boolean }) {
  return (
    <svg
      className={spin ? "icon icon-spin" : "icon"}
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === "more" ? 2 : 1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The product's logo: an orb web. */
export function Logo({ size = 22 }: { size?: number }) {
  return (
    <svg
      className="logo"
      width={size}
      height={size}
      viewBox="0 0 32 32"
      fill="none"
      stroke="currentColor"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path strokeWidth="1.6" opacity=".5" d="M16 2v28M2 16h28M6.1 6.1l19.8 19.8M25.9 6.1 6.1 25.9" />
      <path strokeWidth="2.2" d="M16 9.5 20.6 11.4 22.5 16l-1.9 4.6-4.6 1.9-4.6-1.9L9.5 16l1.9-4.6z" />
      <path strokeWidth="2.2" d="M16 3.5 24.8 7.2 28.5 16l-3.7 8.8L16 28.5l-8.8-3.7L3.5 16l3.7-8.8z" />
      <circle cx="16" cy="16" r="2.6" fill="currentColor" stroke="none" />
    </svg>
  );
}
