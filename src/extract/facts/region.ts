/** The target country of a page. */
import { getPublicSuffix } from "tldts";

/** Country-code TLDs that are used worldwide. */
const WORLDWIDE: ReadonlySet<string> = new Set(
  "ai am cc co dj fm gg gl io is it la ly me ms nu sh so st tk to tv vc ws eu su cx".split(" "),
);
/** Worldwide ones that many domestic sites use: they count together with the language. */
const WITH_LANGUAGE: Readonly<Record<string, string>> = { is: "is", it: "it" };

/** By languages and URL: empty when undetermined, several when contradictory. */
export function regionsOf(languages: readonly (string | null)[], url: string | null): string[] {
  const tags = languages.filter((tag) => tag !== null);
  const spoken = tags[0] === undefined ? null : primary(tags[0]);
  const named = tags.filter((tag) => primary(tag) === spoken).map(regionIn);
  // The page's `lang` takes precedence over `og:locale`.
  const first = named.find((region) => region !== null) ?? null;
  return [...new Set([first, countryOf(url, spoken)].filter((region) => region !== null))];
}

function primary(tag: string): string {
  return tag.split("-")[0]?.toLowerCase() ?? "";
}

function regionIn(tag: string): string | null {
  return (
    tag
      .split("-")
      .slice(1)
      .find((part) => /^[a-z]{2}$/i.test(part))
      ?.toUpperCase() ?? null
  );
}

function countryOf(url: string | null, spoken: string | null): string | null {
  const suffix = url === null ? null : getPublicSuffix(url);
  const parts = suffix?.split(".") ?? [];
  const ending = parts.at(-1) ?? "";
  if (!/^[a-z]{2}$/.test(ending)) return null;
  // `com.co` is Colombian, `co` is used worldwide.
  if (parts.length < 2 && WORLDWIDE.has(ending) && (spoken === null || WITH_LANGUAGE[ending] !== spoken)) return null;
  return ending === "uk" ? "GB" : ending.toUpperCase();
}
