/** EPUB books: the chapters in their order. They are web pages already. */
import { damaged, DocumentError, type DocumentLimits } from "../document.ts";
import type { DocumentFacts, HtmlWriter } from "../html.ts";
import { readXml } from "../xml.ts";
import { ZipFile } from "../zip.ts";
import { isoDate, textsOf } from "./ooxml.ts";

export async function readEpub(bytes: Uint8Array, limits: DocumentLimits, writer: HtmlWriter): Promise<DocumentFacts> {
  const zip = new ZipFile(bytes, { left: limits.inflatedBytes });
  await refuseEncrypted(zip);
  const packagePart = await packageOf(zip);
  const xml = await zip.text(packagePart);
  const chapters = chaptersOf(xml, packagePart).filter((name) => zip.has(name));
  if (chapters.length === 0) throw damaged("the book has no chapters");
  if (chapters.length > limits.pages)
    writer.missing(`only the first ${limits.pages} of its ${chapters.length} chapters were read`);
  for (const chapter of chapters.slice(0, limits.pages))
    writer.raw(`<section>\n${chapterBody(await zip.text(chapter))}\n</section>\n`);
  return factsOf(xml);
}

/** Fonts may be obfuscated; text that is encrypted needs the key of a shop. */
async function refuseEncrypted(zip: ZipFile): Promise<void> {
  const encryption = await zip.textIfAny("META-INF/encryption.xml");
  const isText = /CipherReference[^>]+URI="[^"]+\.x?html?"/i.test(encryption);
  if (isText) throw new DocumentError("document_encrypted", "the book is protected by digital rights management (DRM)");
}

async function packageOf(zip: ZipFile): Promise<string> {
  let found: string | null = null;
  readXml(await zip.textIfAny("META-INF/container.xml"), {
    open(name, attributes) {
      if (name === "rootfile") found ??= attributes["full-path"] ?? null;
    },
  });
  const part = found ?? zip.names.find((name) => name.endsWith(".opf")) ?? "";
  if (!zip.has(part)) throw damaged("the book lacks its list of chapters");
  return part;
}

function chaptersOf(xml: string, packagePart: string): string[] {
  const items = new Map<string, string>();
  const order: string[] = [];
  readXml(xml, {
    open(name, { id = "", href = "", idref = "", "media-type": type = "" }) {
      if (name === "item" && /xhtml|html/.test(type)) items.set(id, href);
      else if (name === "itemref") order.push(idref);
    },
  });
  const base = `http://book.invalid/${packagePart}`;
  return order.flatMap((id) => {
    const url = items.has(id) ? URL.parse(items.get(id)!, base) : null;
    try {
      return url === null ? [] : [decodeURIComponent(url.pathname.slice(1))];
    } catch {
      return [];
    }
  });
}

/** Without what points into the book itself: its parts have no addresses on the web. */
function chapterBody(page: string): string {
  if (/<!ENTITY/i.test(page.slice(0, 10_000))) throw damaged("a chapter declares XML entities, which is not allowed");
  const start = /<body\b[^>]*>/i.exec(page);
  const from = start === null ? 0 : start.index + start[0].length;
  const end = page.toLowerCase().lastIndexOf("</body");
  return page
    .slice(from, end < from ? page.length : end)
    .replace(/<(script|style|svg)\b[^>]*?(?:\/>|>[^]*?<\/\1\s*>)/gi, "")
    .replace(/\s(?:xlink:)?(?:href|src)\s*=\s*(?:"(?![a-z][a-z0-9+.-]*:)[^"]*"|'(?![a-z][a-z0-9+.-]*:)[^']*')/gi, "");
}

function factsOf(xml: string): DocumentFacts {
  const meta = textsOf(xml);
  const first = (name: string) => meta.get(name)?.[0] ?? null;
  return {
    title: first("title"),
    authors: meta.get("creator") ?? [],
    description: first("description")?.replace(/<[^>]*>/g, " ") ?? null,
    keywords: meta.get("subject")?.join(", ") ?? null,
    language: first("language"),
    created: isoDate(first("date")) ?? (/^\d{4}$/.test(first("date") ?? "") ? first("date") : null),
  };
}
