/** Properties of elements by the HTML standard, as far as the parser needs them. */

export const VOID = 1;
/** Ends the search for an element that an end tag closes. */
export const SPECIAL = 2;
/** An element beyond one of these is not "in scope". */
export const SCOPE = 4;
/** Closed implicitly when its ancestor ends. */
export const IMPLIED_END = 8;
const FORMATTING = 16;
/** Ends svg and math content. */
export const BREAKOUT = 32;
/** Text only, up to the end tag; `&amp;` is decoded in RC_DATA only. */
export const RAW_TEXT = 64;
export const RC_DATA = 128;
export const HEAD_CONTENT = 256;
/** HTML integration points in svg and math. */
export const SVG_INTEGRATION = 512;
export const MATH_INTEGRATION = 1024;
/** Starts a new line of text. */
export const BLOCK = 2048;
/** Its content is not visible text, such as a script or a picture. */
export const NOT_TEXT = 4096;
/** Its content is no text of the page, except for a template's that is shown. */
export const SILENT = 8192;
/** A field of a form. */
export const CONTROL = 16_384;
/** Marks important text. */
export const STRONG = 32_768;

/** The "in body" rule of a tag. */
export type Rule =
  | "ordinary"
  | "html"
  | "head"
  | "body"
  | "frameset"
  | "frame"
  | "block"
  | "p"
  | "heading"
  | "pre"
  | "form"
  | "li"
  | "dd"
  | "plaintext"
  | "button"
  | "a"
  | "formatting"
  | "nobr"
  | "object"
  | "table"
  | "caption"
  | "colgroup"
  | "col"
  | "tbody"
  | "tr"
  | "td"
  | "void"
  | "hr"
  | "head-content"
  | "raw"
  | "template"
  | "option"
  | "select"
  | "ruby"
  | "foreign";

/** Elements for metadata, links and articles, collected during parsing to save a second walk. */
export type Bucket =
  | "link"
  | "meta"
  | "linkTag"
  | "title"
  | "base"
  | "script"
  | "time"
  | "heading"
  | "image"
  | "frame"
  | "noscript";

export class Tag {
  readonly name: string;
  readonly rule: Rule;
  readonly flags: number;
  readonly bucket: Bucket | null;

  constructor(name: string, rule: Rule, flags: number, bucket: Bucket | null) {
    this.name = name;
    this.rule = rule;
    this.flags = flags;
    this.bucket = bucket;
  }
}

const RULES: Record<Exclude<Rule, "ordinary">, string> = {
  html: "html",
  head: "head",
  body: "body",
  frameset: "frameset",
  frame: "frame",
  block:
    "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer header hgroup main menu nav ol search section summary ul",
  p: "p",
  heading: "h1 h2 h3 h4 h5 h6",
  pre: "pre listing",
  form: "form",
  li: "li",
  dd: "dd dt",
  plaintext: "plaintext",
  button: "button",
  a: "a",
  formatting: "b big code em font i s small strike strong tt u",
  nobr: "nobr",
  object: "applet marquee object",
  table: "table",
  caption: "caption",
  colgroup: "colgroup",
  col: "col",
  tbody: "tbody tfoot thead",
  tr: "tr",
  td: "td th",
  void: "area br embed img keygen wbr input param source track",
  hr: "hr",
  "head-content": "base basefont bgsound link meta title noframes style script",
  raw: "textarea xmp iframe noembed",
  template: "template",
  option: "option optgroup",
  select: "select",
  ruby: "rb rtc rp rt",
  foreign: "svg math",
};

const FLAGS: readonly [flag: number, names: string][] = [
  [VOID, "area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr"],
  [
    SPECIAL,
    "address applet area article aside base basefont bgsound blockquote body br button caption center col colgroup dd details dir div dl dt embed fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html iframe img input keygen li link listing main marquee menu meta nav noembed noframes noscript object ol p param plaintext pre script search section select source style summary table tbody td template textarea tfoot th thead title tr track ul wbr xmp",
  ],
  [SCOPE, "applet caption html table td th marquee object select template"],
  [IMPLIED_END, "dd dt li optgroup option p rb rp rt rtc"],
  [FORMATTING, "a b big code em font i nobr s small strike strong tt u"],
  [
    BREAKOUT,
    "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var",
  ],
  [RAW_TEXT, "style script xmp iframe noembed noframes"],
  [RC_DATA, "title textarea"],
  [HEAD_CONTENT, "base basefont bgsound link meta title noscript noframes style script template"],
  [SVG_INTEGRATION, "foreignobject desc title"],
  [MATH_INTEGRATION, "mi mo mn ms mtext annotation-xml"],
  [
    BLOCK,
    "address article aside blockquote br caption center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li main menu nav ol optgroup option p pre search section summary table tbody td tfoot th thead title tr ul",
  ],
  [
    SILENT,
    "script style noscript template svg math iframe object embed applet canvas audio video map head link meta input select textarea datalist frame frameset option",
  ],
  [CONTROL, "input select textarea"],
  [STRONG, "b strong em"],
  [
    NOT_TEXT,
    "script style noscript template svg math iframe object embed applet canvas audio video map head link meta button input select textarea dialog datalist frame frameset",
  ],
];

const BUCKETS: Record<Bucket, string> = {
  link: "a area",
  meta: "meta",
  linkTag: "link",
  title: "title",
  base: "base",
  script: "script",
  time: "time",
  heading: "h1 h2 h3 h4 h5 h6",
  image: "img",
  frame: "frame iframe",
  noscript: "noscript",
};

function buildTable(): ReadonlyMap<string, Tag> {
  const rules = new Map<string, Rule>();
  for (const [rule, names] of Object.entries(RULES)) for (const name of names.split(" ")) rules.set(name, rule as Rule);
  const flags = new Map<string, number>();
  for (const [flag, names] of FLAGS) {
    for (const name of names.split(" ")) flags.set(name, (flags.get(name) ?? 0) | flag);
  }
  const buckets = new Map<string, Bucket>();
  for (const [bucket, names] of Object.entries(BUCKETS)) {
    for (const name of names.split(" ")) buckets.set(name, bucket as Bucket);
  }
  const names = new Set([...rules.keys(), ...flags.keys(), ...buckets.keys()]);
  return new Map(
    [...names].map((name) => [
      name,
      new Tag(name, rules.get(name) ?? "ordinary", flags.get(name) ?? 0, buckets.get(name) ?? null),
    ]),
  );
}

export const TAGS = buildTable();

export function tagNamed(name: string): Tag {
  return TAGS.get(name) ?? new Tag(name, "ordinary", 0, null);
}
