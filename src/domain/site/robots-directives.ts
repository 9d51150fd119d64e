/** What a page or its server asks of robots: `<meta name="robots">` and `X-Robots-Tag`. */
export interface RobotsDirectives {
  noindex: boolean;
  nofollow: boolean;
}

/** Directives that have a value, which is no directive: `max-image-preview: none` allows all but pictures. */
const WITH_VALUE: ReadonlySet<string> = new Set([
  "max-snippet",
  "max-image-preview",
  "max-video-preview",
  "unavailable_after",
]);
const OURS = "orbweaver";

/**
 * Directives are separated by commas. In a header a name with a colon begins those for one robot (`otherbot: nofollow`),
 * up to the next such name; several headers are one text here.
 */
export function readRobotsDirectives(text: string): RobotsDirectives {
  const found: RobotsDirectives = { noindex: false, nofollow: false };
  let isForUs = true;
  for (const part of text.toLowerCase().split(",")) {
    let directive = part.trim();
    const named = /^([a-z0-9_-]+)\s*:\s*(.*)$/.exec(directive);
    if (named !== null) {
      const [, name = "", rest = ""] = named;
      if (WITH_VALUE.has(name)) continue;
      isForUs = name === OURS;
      directive = rest;
    }
    if (!isForUs) continue;
    for (const word of directive.split(/\s+/)) {
      if (word === "noindex" || word === "none") found.noindex = true;
      if (word === "nofollow" || word === "none") found.nofollow = true;
    }
  }
  return found;
}
