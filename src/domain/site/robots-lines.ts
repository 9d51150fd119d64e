/**
 * The lines of a robots.txt. Common mistakes are tolerated: misplaced byte order marks, the misspellings that Google's
 * parser accepts too, and a missing colon.
 */

type Directive = "user-agent" | "allow" | "disallow" | "crawl-delay" | "sitemap";

/** A crawler must read 500 KiB at least. */
const READ_BYTES = 512 * 1024;
/** One more than is read, to detect truncation. */
export const ROBOTS_BYTES = READ_BYTES + 1;

/** In lower case, with `-` for spaces and underscores. */
const SPELLINGS: Readonly<Record<Directive, string>> = {
  "user-agent": "user-agent user-agents useragent",
  allow: "allow",
  disallow: "disallow dissallow dissalow disalow diasllow disallaw disalllow disallows dis-allow",
  "crawl-delay": "crawl-delay crawldelay",
  sitemap: "sitemap sitemaps site-map",
};

const DIRECTIVES: ReadonlyMap<string, Directive> = new Map(
  Object.entries(SPELLINGS).flatMap(([directive, spellings]) =>
    spellings.split(" ").map((spelling) => [spelling, directive as Directive]),
  ),
);

export function* robotsLines(source: string | Uint8Array): Generator<readonly [key: Directive, value: string]> {
  const text = typeof source === "string" ? source : robotsText(source.subarray(0, ROBOTS_BYTES));
  const isCut = text.length > READ_BYTES || (typeof source !== "string" && source.length > READ_BYTES);
  // The last line of a truncated file may be half a rule, which would match more than the whole one.
  const end = isCut ? Math.max(text.lastIndexOf("\n", READ_BYTES), text.lastIndexOf("\r", READ_BYTES)) : text.length;
  for (const raw of text.slice(0, Math.max(0, end)).split(/\r\n|\r|\n/)) {
    const hash = raw.indexOf("#");
    const line = parseLine((hash < 0 ? raw : raw.slice(0, hash)).trim());
    if (line !== null) yield line;
  }
}

export function robotsText(bytes: Uint8Array): string {
  return new TextDecoder(encodingOf(bytes)).decode(bytes);
}

function encodingOf([first, second]: Uint8Array): string {
  // A mark, or the other half of the first letter.
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return "utf-16le";
  return (first === 0xfe && second === 0xff) || (first === 0 && second !== 0) ? "utf-16be" : "utf-8";
}

/** What is left of a byte order mark that was cut, or encoded twice. */
const BROKEN_MARK = /^(?:\ufffd|\ufffe|\u200b|ï»¿|ï»|ï)+\s*/;

function parseLine(raw: string): readonly [key: Directive, value: string] | null {
  const line = raw.replace(BROKEN_MARK, "").replace("\uff1a", ":");
  const colon = line.indexOf(":");
  const key = colon < 0 ? undefined : directiveOf(line.slice(0, colon));
  if (key !== undefined)
    return [
      key,
      unquoted(
        line
          .slice(colon + 1)
          .replace(/^:/, "")
          .trim(),
      ),
    ];
  // Two words, and the first is a directive: the colon was forgotten. More of them are a sentence.
  const [, word, value] = /^(\S+)\s+(\S+)$/.exec(line) ?? [];
  const meant = word === undefined ? undefined : directiveOf(word);
  return meant === undefined ? null : [meant, value!];
}

/** `"/a"`, `<https://…>` */
function unquoted(value: string): string {
  return /^(?:"(.*)"|'(.*)'|<(.*)>)$/.exec(value)?.slice(1).join("").trim() ?? value;
}

function directiveOf(key: string): Directive | undefined {
  return DIRECTIVES.get(
    key
      .trim()
      .toLowerCase()
      .replace(/[\s_]+/g, "-"),
  );
}
