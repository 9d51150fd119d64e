/**
 * The outline of a page: visible text, scripts, links and media. Enough to tell a page from a wall or an empty shell,
 * without building a DOM. One pass in linear time for any input: a search that finds no end finishes the scan, as it would
 * in a browser.
 */
export interface PageOutline {
  title: string;
  /** Text that a reader would see, without repeated spaces. */
  text: string;
  textLength: number;
  /** What is shown when scripts are off. */
  noscript: string;
  /** Addresses of scripts, and of modules that the page announces. */
  scriptSources: string[];
  /** Inline scripts, truncated; see `scriptBytes`. */
  inlineScript: string;
  /** Characters of the page's own scripts; data blocks such as JSON-LD are left out. */
  scriptBytes: number;
  /** Addresses of frames. */
  frames: string[];
  /** Ids and classes of all elements. */
  names: Set<string>;
  links: number;
  /** Fields that a person fills in. */
  fields: number;
  /** Pictures, players, canvases, frames: a page can consist of them without a word of text. */
  media: number;
  /** Where a `<meta http-equiv=refresh>` sends the reader, as written. */
  refresh: string | null;
  /** Elements that frameworks fill. */
  mounts: Mount[];
  /** Empty content containers, such as `<ul>` or `#rows`. */
  emptyContainers: string[];
  /** The scan stopped early: with this much text or this many links it is a real page. */
  long: boolean;
}

interface Mount {
  /** Such as `#root` or `<app-root>`. */
  name: string;
  textLength: number;
  links: number;
  media: number;
}

/** Walls and empty shells never have more than this: the scan of most pages ends early. */
const LONG_TEXT = 2_000;
const MANY_LINKS = 15;
const KEPT_TEXT = 8_000;
const KEPT_SCRIPT = 256 * 1024;
const KEPT_LIST = 200;
const KEPT_NAMES = 2_000;

/** Elements whose content is not page text, with the pattern of their end tag. */
const OPAQUE: ReadonlyMap<string, RegExp> = new Map(
  ["script", "style", "title", "textarea", "noscript", "template", "svg", "select", "iframe", "object", "xmp"].map(
    (name) => [name, new RegExp(`</${name}(?=[\\s/>])`, "gi")],
  ),
);
const MEDIA: ReadonlySet<string> = new Set("img picture video audio canvas embed object frame iframe".split(" "));
const MOUNT_IDS: ReadonlySet<string> = new Set(
  (
    "root app __next __nuxt ___gatsby svelte react-root react-app app-root vue-app app-container q-app spa-root " +
    "ember-application application main-app"
  ).split(" "),
);
const MOUNT_ATTRIBUTES = ["data-reactroot", "data-v-app", "ng-app", "data-ng-app", "data-ember-extension"] as const;
const MOUNT_TAG = /^[\w-]+-(?:app|root)$/;
const NOT_FILLED_IN: ReadonlySet<string> = new Set(["hidden", "submit", "button", "image", "reset", "checkbox"]);
const SCRIPT_TYPE = /^$|javascript|ecmascript|^module$|^text\/babel$/;

interface Tag {
  name: string;
  attributes: Map<string, string>;
  /** Where the text goes on; -1: the tag has no end. */
  end: number;
}

interface OpenMount {
  mount: Mount;
  tag: string;
  depth: number;
  before: { textLength: number; links: number; media: number };
}

export function outlineOf(html: string): PageOutline {
  const page: PageOutline = {
    title: "",
    text: "",
    textLength: 0,
    noscript: "",
    scriptSources: [],
    inlineScript: "",
    scriptBytes: 0,
    frames: [],
    names: new Set(),
    links: 0,
    fields: 0,
    media: 0,
    refresh: null,
    mounts: [],
    emptyContainers: [],
    long: false,
  };
  const open: OpenMount[] = [];
  let at = 0;
  while (at < html.length && !page.long) {
    const next = html.indexOf("<", at);
    if (next > at || next < 0) addText(page, html.slice(at, next < 0 ? html.length : next));
    if (next < 0) break;
    at = afterMarkup(page, open, html, next);
    if (at < 0) break;
  }
  for (const mount of open) close(page, mount);
  return page;
}

/** Reads the markup at a `<` and returns the index after it; -1: no end. */
function afterMarkup(page: PageOutline, open: OpenMount[], html: string, at: number): number {
  const following = html.charCodeAt(at + 1);
  if (following === 0x21 /* ! */ || following === 0x3f /* ? */) {
    if (!html.startsWith("<!--", at)) return after(html, ">", at);
    // `<!-->` and `<!--->` are comments too.
    const short = html.startsWith(">", at + 4) ? at + 5 : html.startsWith("->", at + 4) ? at + 6 : -1;
    return short > 0 ? short : after(html, "-->", at + 4);
  }
  if (following === 0x2f /* / */) {
    if (!isLetter(html.charCodeAt(at + 2))) return after(html, ">", at);
    const tag = readTag(html, at + 2);
    if (tag.end >= 0) countDepth(page, open, tag.name, -1);
    return tag.end;
  }
  if (!isLetter(following)) {
    addText(page, "<");
    return at + 1;
  }
  const tag = readTag(html, at + 1);
  if (tag.end < 0) return -1;
  note(page, open, tag);
  noteEmptyContainer(page, html, tag);
  const ending = OPAQUE.get(tag.name);
  if (ending === undefined) return tag.end;
  ending.lastIndex = tag.end;
  const found = ending.exec(html);
  noteContent(page, tag, html.slice(tag.end, found === null ? html.length : found.index));
  return found === null ? -1 : after(html, ">", found.index);
}

function after(html: string, what: string, from: number): number {
  const found = html.indexOf(what, from);
  return found < 0 ? -1 : found + what.length;
}

function isLetter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a);
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d && code !== 0x0b);
}

function readTag(html: string, start: number): Tag {
  const attributes = new Map<string, string>();
  let at = start;
  const skipTo = (stop: (code: number) => boolean): string => {
    const from = at;
    while (at < html.length && !stop(html.charCodeAt(at))) at += 1;
    return html.slice(from, at);
  };
  const name = skipTo((code) => isSpace(code) || code === 0x2f || code === 0x3e)
    .slice(0, 64)
    .toLowerCase();
  for (;;) {
    skipTo((code) => !isSpace(code) && code !== 0x2f);
    if (at >= html.length) return { name, attributes, end: -1 };
    if (html[at] === ">") return { name, attributes, end: at + 1 };
    const from = at;
    at += 1;
    skipTo((code) => isSpace(code) || code === 0x2f || code === 0x3e || code === 0x3d);
    const key = html.slice(from, Math.min(at, from + 64)).toLowerCase();
    skipTo((code) => !isSpace(code));
    let value = "";
    if (html[at] === "=") {
      at += 1;
      skipTo((code) => !isSpace(code));
      const quote = html[at];
      if (quote === '"' || quote === "'") {
        const end = html.indexOf(quote, at + 1);
        if (end < 0) return { name, attributes, end: -1 };
        value = html.slice(at + 1, end);
        at = end + 1;
      } else {
        value = skipTo((code) => isSpace(code) || code === 0x3e);
      }
    }
    if (attributes.size < 32 && !attributes.has(key)) attributes.set(key, value.slice(0, 2_048));
  }
}

function note(page: PageOutline, open: OpenMount[], tag: Tag): void {
  const { name, attributes } = tag;
  const words = `${attributes.get("id") ?? ""} ${attributes.get("class") ?? ""}`.toLowerCase().split(/\s/);
  for (const word of words) if (word !== "" && page.names.size < KEPT_NAMES) page.names.add(word);
  if (name === "a" && attributes.has("href")) page.links += 1;
  if (page.links > MANY_LINKS) page.long = true;
  if (MEDIA.has(name)) page.media += 1;
  if (name === "textarea" || name === "select") page.fields += 1;
  if (name === "input" && !NOT_FILLED_IN.has((attributes.get("type") ?? "text").toLowerCase())) page.fields += 1;
  if (name === "iframe" || name === "frame") keep(page.frames, attributes.get("src"));
  if (name === "link" && attributes.get("rel")?.toLowerCase() === "modulepreload") {
    keep(page.scriptSources, attributes.get("href"));
  }
  if (name === "meta" && attributes.get("http-equiv")?.toLowerCase() === "refresh") {
    page.refresh ??= decode(attributes.get("content") ?? "");
  }
  countDepth(page, open, name, 1);
  const mount = mountName(tag);
  // Bounded, so that a page of nothing but `<div id=root>` takes linear time.
  if (mount !== null && page.mounts.length < 8) {
    const entry: Mount = { name: mount, textLength: 0, links: 0, media: 0 };
    page.mounts.push(entry);
    const before = { textLength: page.textLength, links: page.links, media: page.media };
    open.push({ mount: entry, tag: name, depth: 1, before });
  }
}

/** Containers of lists, tables and main content; an empty `<div>` may be anything. */
const CONTAINERS: ReadonlyMap<string, RegExp> = new Map(
  ["main", "ul", "ol", "table", "tbody"].map((name) => [name, new RegExp(`\\s*</${name}\\s*>`, "iy")]),
);

function noteEmptyContainer(page: PageOutline, html: string, { name, attributes, end }: Tag): void {
  const closed = CONTAINERS.get(name);
  if (closed === undefined || page.emptyContainers.length === 8) return;
  closed.lastIndex = end;
  const id = attributes.get("id");
  if (closed.test(html)) page.emptyContainers.push(id === undefined ? `<${name}>` : `#${id.slice(0, 64)}`);
}

function mountName({ name, attributes }: Tag): string | null {
  const id = attributes.get("id")?.toLowerCase();
  if (id !== undefined && MOUNT_IDS.has(id)) return `#${id}`;
  const attribute = MOUNT_ATTRIBUTES.find((one) => attributes.has(one));
  if (attribute !== undefined) return `[${attribute}]`;
  return MOUNT_TAG.test(name) ? `<${name}>` : null;
}

function countDepth(page: PageOutline, open: OpenMount[], tag: string, step: 1 | -1): void {
  for (let index = open.length - 1; index >= 0; index -= 1) {
    const one = open[index];
    if (one === undefined || one.tag !== tag) continue;
    one.depth += step;
    if (one.depth > 0) continue;
    close(page, one);
    open.splice(index, 1);
  }
}

function close(page: PageOutline, { mount, before }: OpenMount): void {
  mount.textLength = page.textLength - before.textLength;
  mount.links = page.links - before.links;
  mount.media = page.media - before.media;
}

function noteContent(page: PageOutline, tag: Tag, content: string): void {
  if (tag.name === "title" && page.title === "") page.title = tidy(content.slice(0, 1_000));
  if (tag.name === "noscript" && page.noscript.length < KEPT_TEXT) {
    // The pattern stops at the next `<`, so that a row of them costs no more than its length.
    page.noscript = `${page.noscript} ${tidy(content.slice(0, 20_000).replace(/<[^<>]*>/g, " "))}`
      .slice(0, KEPT_TEXT)
      .trim();
  }
  if (tag.name !== "script") return;
  keep(page.scriptSources, tag.attributes.get("src"));
  if (!SCRIPT_TYPE.test((tag.attributes.get("type") ?? "").trim().toLowerCase())) return;
  page.scriptBytes += content.trim().length;
  if (page.inlineScript.length < KEPT_SCRIPT) page.inlineScript += `\n${content.slice(0, KEPT_SCRIPT)}`;
}

function keep(list: string[], address: string | undefined): void {
  if (address !== undefined && address.trim() !== "" && list.length < KEPT_LIST) list.push(decode(address.trim()));
}

function addText(page: PageOutline, raw: string): void {
  const text = tidy(raw);
  if (text === "") return;
  page.textLength += text.length + (page.textLength === 0 ? 0 : 1);
  if (page.text.length < KEPT_TEXT) page.text = `${page.text} ${text.slice(0, KEPT_TEXT)}`.trimStart();
  if (page.textLength > LONG_TEXT) page.long = true;
}

function tidy(text: string): string {
  return decode(text)
    .replace(/[\s\u200b-\u200d\u2060]+/g, " ")
    .trim();
}

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  hellip: "…",
  rsquo: "’",
  middot: "·",
};

/** Decodes the few character references that walls use; others may stay for counting and comparing. */
function decode(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return NAMED[String(name).toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
