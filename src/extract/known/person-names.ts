/** Extracts person names from bylines: `By Ann Lee and Bo Ek | Reuters, 3 May 2024` has two. */
import { isSameName } from "../facts/agreement.ts";
import { monthNumber } from "../values/month-names.ts";

/** Words before a name, with or without a colon. */
const WRITTEN_BY =
  /^(?:(?:(?:written|posted|published|reviewed|words|text|story|article|guest post|report|started|created|asked|submitted|authored|reported) )?by|via)(?=[\s:：])[\s:：]*/iu;
/** In structured data these are labels only with a colon: `Author 7` may be a name. */
const AUTHOR =
  /^(?:(?:the )?authors?|writers?|autor(?:en|in|es)?|auteure?s?|autore|autrice|автор|作者|文|撰文|記者|记者|기자)(\s*[:：/]\s*|\s+)/iu;
/** Phrases that begin no name in any language; words with a colon, such as `Yazan:`, do neither. */
const WRITTEN_BY_ANYWHERE =
  /^(?:(?:geschrieben|verfasst|veröffentlicht) von|(?:écrit|publié|rédigé) par|(?:escrito|publicado|redactado) por|(?:scritto|pubblicato) da|(?:geschreven|gepubliceerd) door|skriv(?:en|et) a[vf]|napisała?|napsala?|oleh|yazan|scris de|kirjoittanut)(?=\s)\s+/iu;
const LABEL =
  /^(?:te[kx]sts?|texts?|text[oe]|testo|words?|von|par|por|di|door|av|af|yazan|haber|oleh|penulis|tác giả|skribent|kirjoittaja|teksti|szerző|írta|napisał|autorka|autor[aie]?|schrijver|forfatter|författare|συντάκτης|συγγραφέας|כותב|مؤلف|الكاتب|بقلم|نویسنده|लेखक|ผู้เขียน|文|作者|著者?|글)\s*[:：]\s*/iu;
/** Credits of others on the same line. */
const OTHER_CREDITS =
  /[.,;|]?\s+(?:photos?|photograph(?:s|y)|pictures?|images?|illustrations?|video|graphics?|fotos?|bilder?|foto[’']?s|kuvat?|fotografías?|fotografie)(?:\s+by\b|\s*:).*$/iu;
/** The word for "by" per language; in other languages it may be part of a name: Von Miller, Di Stefano. */
const BY: Readonly<Record<string, string>> = {
  ...{
    de: "von|vom",
    fr: "par",
    es: "por",
    pt: "por",
    it: "di|da",
    nl: "door",
    sv: "av",
    nb: "av",
    no: "av",
    da: "af",
  },
};
const BY_ANYWHERE = [...new Set(Object.values(BY).flatMap((words) => words.split("|")))].join("|");
/** Labels, not names. */
const NO_NAME =
  /^(?:by|authors?|anonymous|share|follow|about(?: the)? authors?|view (?:all|profile|bio).*|read more.*|see (?:all|more).*|more (?:by|from|posts).*|all (?:posts|articles).*|posted|published|updated|written|contributors?|staff|guest|editor'?s? note|unknown|n\/a|null|undefined|none|default)$/i;
const JOINTS: Readonly<Record<string, string>> = {
  ...{
    en: "and",
    de: "und",
    fr: "et",
    es: "y|e",
    it: "e|ed",
    pt: "e",
    nl: "en",
    sv: "och",
    da: "og",
    nb: "og",
    no: "og",
  },
};
/** Text after a name on the same line. */
const SUFFIX =
  /\s*(?:[|•·»›]|\s[-\u2013\u2014/]\s|\b(?:on|at|am|le|el)\b(?= (?:\p{L}{3,10}\.? )?\d)|\b(?:posted|published|updated|last updated|reviewed|edited|fact[- ]checked|medically)\b(?= )|[,\s]*\b(?:\d+|an?) (?:min(?:ute)?|hour|day|week|month|year)s?\b|,?\s*\b(?:\p{L}{3,10}\.? \d{1,2}(?:st|nd|rd|th)?,? (?:19|20)\d\d|\d{1,2}[. ]+\p{L}{3,10}\.? (?:19|20)\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}|(?:19|20)\d\d-\d\d-\d\d)).*$/iu;
/** `Ann Lee (@annlee)` */
const HANDLE = /\s+[([]?@[\w.]+[)\]]?(?=$|[\s,;|])/gu;
const EMAIL = /^\S+@\S+\.\S+$/;
/** `Staff Writer`, `MD` after a name. */
const ROLE =
  /^(?:(?:staff|senior|chief|lead|contributing|associate|assistant|deputy|managing|executive|guest|freelance|special|foreign|political|business|sports?|science|technology|health|news) )*(?:writer|reporter|editor(?:[- ]in[- ]chief| at large)?|correspondent|columnist|contributor|journalist|analyst|critic|MD|M\.D\.|PhD|Ph\.D\.|RN|CPA|Esq\.?)$/i;
/** `May 1`, of a date without a name. */
const DAY = /^(\p{L}{3,12})\.? \d{1,2}(?:st|nd|rd|th)?$/u;
const AGENCY = /^(?:reuters|ap|associated press|afp|dpa|bloomberg|pti|ani|ians|tass|efe|ansa|xinhua)$/i;
const MAX_NAME = 80;
const MAX_NAMES = 50;

export interface NameContext {
  language: string | null;
  /** Names of the site and its publisher, which often follow the author's. */
  sites: readonly string[];
  /** A visible line, with words around the names. */
  isByline: boolean;
}

/** Empty when the text contains no name. */
export function personNames(text: string, context: NameContext): string[] {
  if (isAddress(text)) return [];
  const names = withoutExtras(text.slice(0, 1000), context)
    .split(/[;\n]|,\s+/)
    .flatMap((part) => atJoints(part, context.language))
    .map((name) => name.replace(WRITTEN_BY, "").replace(/^[\s,&@]+|[\s,:&]+$/g, ""))
    .filter(isName);
  const people = names.filter((name) => !AGENCY.test(name) && !context.sites.some((site) => isSameName(site, name)));
  return [...new Set(people.length > 0 ? people : names)].slice(0, MAX_NAMES);
}

export function isAddress(text: string): boolean {
  return /^\s*(?:[a-z][a-z\d+.-]*:)?\/\/|^\s*(?:www\.|\/[\w-]*\/?|mailto:|@\S+$)/i.test(text);
}

function withoutExtras(text: string, context: NameContext): string {
  const named = withoutLabel(text.trim(), context)
    .replace(OTHER_CREDITS, "")
    .replace(HANDLE, "")
    .replace(/(?<=\S \S+) \([^()]*\)$/, "");
  const cut = named.replace(SUFFIX, "").trim();
  return cut === "" ? named : cut;
}

function withoutLabel(text: string, context: NameContext): string {
  const rest = text.replace(WRITTEN_BY, "").replace(WRITTEN_BY_ANYWHERE, "").replace(LABEL, "");
  if (rest !== text) return rest;
  const label = AUTHOR.exec(text);
  if (label !== null && (context.isByline || label[1]?.trim() !== "")) return text.slice(label[0].length);
  return text.replace(byIn(context), "");
}

/** With an unknown language, a byline may be in any. */
function byIn({ language, isByline }: NameContext): RegExp {
  const words =
    language === null ? (isByline ? BY_ANYWHERE : "") : (BY[language.split("-")[0]?.toLowerCase() ?? ""] ?? "");
  return words === "" ? /^(?!)/ : new RegExp(`^(?:${words})(?=[\\s:])[\\s:]*(?!(?:der|den|dem|de|la|le) )`, "i");
}

/** `Ann Lee and Bo Ek`: splits only when all parts are full names. */
function atJoints(part: string, language: string | null): string[] {
  const joint = JOINTS[language?.split("-")[0]?.toLowerCase() ?? "en"];
  const sides = part
    .replace(/^(?:and|und|et|och|og) (?=\S+ \S)/i, "")
    .split(new RegExp(` (?:and|&${joint === undefined ? "" : `|${joint}`}) `, "i"));
  return sides.length > 1 && sides.every((side) => /\S\s+\S/.test(side.trim())) ? sides : [part];
}

function isName(text: string): boolean {
  if (text === "" || text.length > MAX_NAME || !/\p{L}/u.test(text) || NO_NAME.test(text)) return false;
  if (EMAIL.test(text) || ROLE.test(text)) return false;
  const month = DAY.exec(text)?.[1];
  if (month !== undefined && monthNumber(month, null) !== null) return false;
  return !/[?!<>{}[\]=]|https?:/.test(text) && text.split(/\s+/).length <= 7;
}
