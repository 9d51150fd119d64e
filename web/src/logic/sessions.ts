/** Which stored sessions fit which pages, and their labels. */
interface Choice {
  value: string;
  name: string;
}

interface Named {
  id: string;
  name: string | null;
  origin: string;
  health: { status: string } | null;
}

/** The origin of a typed URL; null: not a URL yet. */
export function originOf(typed: string): string | null {
  const url = URL.parse(typed.trim());
  return url === null || !/^https?:$/.test(url.protocol) ? null : url.origin;
}

const sessionTitle = ({ name, origin, id }: Named): string => name ?? `${origin} (${id.slice(0, 8)})`;

/**
 * Sessions of the origins of these pages; all, while no page is named. The selected one stays in the list: a user who
 * changes the URL sees that it no longer fits.
 */
export function sessionChoices(sessions: readonly Named[], urls: readonly string[], chosen: string): Choice[] {
  const origins = new Set(urls.flatMap((url) => originOf(url) ?? []));
  const fits = ({ origin }: Named) => origins.size === 0 || origins.has(origin);
  const shown = sessions.filter((session) => fits(session) || session.id === chosen);
  const isGone = chosen !== "" && !sessions.some(({ id }) => id === chosen);
  return [
    { value: "", name: "No session" },
    ...shown.map((session) => ({
      value: session.id,
      name: `${sessionTitle(session)}${noteOf(session, fits(session))}`,
    })),
    ...(isGone ? [{ value: chosen, name: `${chosen} (deleted)` }] : []),
  ];
}

function noteOf({ origin, health }: Named, fits: boolean): string {
  if (!fits) return ` (only for ${origin})`;
  return health?.status === "rejected" ? " (expired)" : "";
}

/** The origin to send; users may paste a whole URL. */
export function originTyped(typed: string): string {
  const text = typed.trim();
  return originOf(text) ?? originOf(`https://${text}`) ?? text;
}

/** What helps a run that met a sign-in page: its session, another one of its site, or a new one. */
export function signInHelp(
  { id, url }: { id: string; url: string | null },
  sessions: readonly Named[],
  used: string | null,
): { href: string; words: string } {
  const see = (session: Named, what: string) => ({
    href: `/settings?tab=sessions&session=${session.id}`,
    words: `Session ${sessionTitle(session)} ${what}: show it`,
  });
  const own = sessions.find((session) => session.id === used);
  if (own !== undefined) return see(own, "was rejected");
  const origin = originOf(url ?? "");
  const fitting = sessions.filter((session) => session.origin === origin);
  const usable = fitting.find(({ health }) => health?.status !== "rejected");
  if (usable !== undefined)
    return {
      href: `/new?from=${id}&session=${usable.id}`,
      words: `Run again with session ${sessionTitle(usable)}`,
    };
  return fitting[0] === undefined
    ? { href: addSessionAt(url), words: "Add a session to sign in" }
    : see(fitting[0], "has expired");
}

/** The link for adding a session for a page that requires signing in. */
function addSessionAt(url: string | null): string {
  return `/settings?tab=sessions${url === null ? "" : `&page=${encodeURIComponent(url)}`}`;
}
