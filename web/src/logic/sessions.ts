/** Which stored sessions go with which pages, and what is said of one. */
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

/** A page's address as people type it; null: it is none yet. */
export function originOf(typed: string): string | null {
  const url = URL.parse(typed.trim());
  return url === null || !/^https?:$/.test(url.protocol) ? null : url.origin;
}

const sessionTitle = ({ name, origin, id }: Named): string => name ?? `${origin} (${id.slice(0, 8)})`;

/**
 * Those of the origins of these pages; all, where no page is named yet. The one that is chosen stays in the list: whoever
 * changes the address sees that it does not fit any more.
 */
export function sessionChoices(sessions: readonly Named[], urls: readonly string[], chosen: string): Choice[] {
  const origins = new Set(urls.flatMap((url) => originOf(url) ?? []));
  const fits = ({ origin }: Named) => origins.size === 0 || origins.has(origin);
  const shown = sessions.filter((session) => fits(session) || session.id === chosen);
  const isGone = chosen !== "" && !sessions.some(({ id }) => id === chosen);
  return [
    { value: "", name: "None" },
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

/** What is sent of the form; the name of the origin may be a whole address, as people copy it. */
export function originTyped(typed: string): string {
  const text = typed.trim();
  return originOf(text) ?? originOf(`https://${text}`) ?? text;
}

/** What helps a run that met a sign-in: the session that it used, one that its site has, or a new one. */
export function signInHelp(
  { id, url }: { id: string; url: string | null },
  sessions: readonly Named[],
  used: string | null,
): { href: string; words: string } {
  const see = (session: Named, what: string) => ({
    href: `/settings?tab=sessions&session=${session.id}`,
    words: `The session ${sessionTitle(session)} ${what}: see it`,
  });
  const own = sessions.find((session) => session.id === used);
  if (own !== undefined) return see(own, "was not accepted");
  const origin = originOf(url ?? "");
  const fitting = sessions.filter((session) => session.origin === origin);
  const usable = fitting.find(({ health }) => health?.status !== "rejected");
  if (usable !== undefined)
    return {
      href: `/new?from=${id}&session=${usable.id}`,
      words: `Run again with the session ${sessionTitle(usable)}`,
    };
  return fitting[0] === undefined
    ? { href: addSessionAt(url), words: "Add a session to sign in" }
    : see(fitting[0], "has expired");
}

/** Where a session is added for a page that did not let us in. */
function addSessionAt(url: string | null): string {
  return `/settings?tab=sessions${url === null ? "" : `&page=${encodeURIComponent(url)}`}`;
}
