/** What pages of one site have in common: a place that changes on its own on some pages does so on all of them. */
import { MAX_ENTRIES, type Observed, type VolatileLine, type VolatileProfile, type VolatileRegion } from "./profile.ts";
import { steadyWords } from "./templates.ts";

/** Of a job. */
export interface SharedProfile {
  regions: { place: VolatileRegion; pages: string[] }[];
  lines: { place: VolatileLine; pages: string[] }[];
}

/** So many pages must have shown it, each by itself. */
const PAGES = 3;
/** Fewer steady words may stand on any page. */
const STEADY_WORDS = 3;

const NONE: SharedProfile = { regions: [], lines: [] };

const regionKey = ({ key, item }: VolatileRegion) => JSON.stringify([key, item]);
const lineKey = ({ words }: VolatileLine) => JSON.stringify(words);

/** The profile of a page, with what other pages of the job have shown. */
export function withShared(profile: VolatileProfile, shared: SharedProfile | null): VolatileProfile {
  if (shared === null) return profile;
  const { regions = [], lines } = profile;
  const more = <T>(
    known: readonly T[],
    list: readonly { place: T; pages: string[] }[],
    keyOf: (one: T) => string,
  ): T[] =>
    list.flatMap(({ place, pages }) =>
      pages.length < PAGES || known.some((one) => keyOf(one) === keyOf(place)) ? [] : [place],
    );
  return {
    ...profile,
    regions: [...more(regions, shared.regions, regionKey), ...regions].slice(-MAX_ENTRIES),
    lines: [...more(lines, shared.lines, lineKey), ...lines].slice(-MAX_ENTRIES),
  };
}

/** Notes what a page has shown. `page`: its address. */
export function learnShared(shared: SharedProfile | null, page: string, profile: VolatileProfile): SharedProfile {
  const known = shared ?? NONE;
  const regions = (profile.regions ?? []).filter(({ marked, off }) => marked === true && off !== true);
  const lines = profile.lines.filter((line) => line.off !== true && steadyWords(line) >= STEADY_WORDS);
  return {
    regions: noted(known.regions, page, regions, regionKey),
    lines: noted(known.lines, page, lines, lineKey),
  };
}

function noted<T extends Observed>(
  known: readonly { place: T; pages: string[] }[],
  page: string,
  places: readonly T[],
  keyOf: (one: T) => string,
): { place: T; pages: string[] }[] {
  const all = new Map(known.map((one) => [keyOf(one.place), one]));
  for (const place of places) {
    const key = keyOf(place);
    const pages: readonly string[] = all.get(key)?.pages ?? [];
    if (place.pending === true || pages.length >= PAGES || pages.includes(page)) continue;
    all.delete(key);
    all.set(key, { place: bare(place), pages: [...pages, page] });
  }
  return [...all.values()].slice(-MAX_ENTRIES);
}

/** Without what is known of one page alone. */
function bare<T extends Observed>(place: T): T {
  const copy = { ...place };
  delete copy.last;
  delete copy.steady;
  return copy;
}
