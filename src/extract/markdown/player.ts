/** Videos and audio: a link with the title from the page. */
import type { Element } from "../dom/nodes.ts";
import { squeeze } from "../dom/text.ts";

/** Known players: frames of other sites are mostly advertisements. */
const PLAYERS =
  /^https?:\/\/(?:[\w-]+\.)*(?:youtube(?:-nocookie)?\.com\/embed|youtu\.be|player\.vimeo\.com|dailymotion\.com\/embed|player\.twitch\.tv|embed\.ted\.com|w\.soundcloud\.com|open\.spotify\.com\/embed|embed\.podcasts\.apple\.com|fast\.wistia\.net|players\.brightcove\.net|rumble\.com\/embed|player\.bilibili\.com)\b/i;

interface Player {
  href: string;
  text: string;
}

export function playerAt(element: Element, resolve: (address: string) => string | null): Player | null {
  const { name } = element.tag;
  if (name === "iframe") {
    const href = addressOf(element, resolve);
    return href !== null && PLAYERS.test(href) ? { href, text: nameOf(element, "Video") } : null;
  }
  if (name !== "video" && name !== "audio") return null;
  let href = addressOf(element, resolve);
  for (let node = element.first; node !== null && href === null; node = node.next)
    if (node.kind === 1 && node.tag.name === "source") href = addressOf(node, resolve);
  return href === null ? null : { href, text: nameOf(element, name === "video" ? "Video" : "Audio") };
}

function addressOf(element: Element, resolve: (address: string) => string | null): string | null {
  for (const name of ["src", "data-src", "data-lazy-src"]) {
    const address = element.attr(name);
    const url = address === undefined || address.trim() === "" ? null : resolve(address);
    if (url !== null && /^https?:/.test(url)) return url;
  }
  return null;
}

function nameOf(element: Element, fallback: string): string {
  const name = squeeze(element.attr("title") ?? element.attr("aria-label") ?? "");
  return name === "" ? fallback : name;
}
