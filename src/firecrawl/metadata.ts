/** What a page says of itself, under the names that Firecrawl gives it. */

const CAMEL: Readonly<Record<string, string>> = {
  source_url: "sourceURL",
  status_code: "statusCode",
  content_type: "contentType",
  "og:title": "ogTitle",
  "og:description": "ogDescription",
  "og:url": "ogUrl",
  "og:image": "ogImage",
  "og:audio": "ogAudio",
  "og:determiner": "ogDeterminer",
  "og:locale": "ogLocale",
  "og:locale:alternate": "ogLocaleAlternate",
  "og:site_name": "ogSiteName",
  "og:video": "ogVideo",
  "article:published_time": "publishedTime",
  "article:modified_time": "modifiedTime",
  "article:tag": "articleTag",
  "article:section": "articleSection",
  "dcterms.created": "dcTermsCreated",
  "dc.date.created": "dcDateCreated",
  "dc.date": "dcDate",
  "dcterms.type": "dcTermsType",
  "dc.type": "dcType",
  "dcterms.audience": "dcTermsAudience",
  "dcterms.subject": "dcTermsSubject",
  "dc.subject": "dcSubject",
  "dc.description": "dcDescription",
  "dcterms.keywords": "dcTermsKeywords",
};

type Values = Readonly<Record<string, unknown>>;

/** Under their own names, too, as pages have them. What is not there is left out. */
export function toMetadata(found: Values): Record<string, unknown> {
  const metadata: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(found)) {
    // Why a page failed is said by us, never by a page.
    if (value === null || value === undefined || name === "error") continue;
    const known = CAMEL[name];
    if (known !== undefined) metadata[known] = known === "ogImage" ? absolute(value, found["url"]) : value;
    if (known === undefined || name.includes(":") || name.includes(".")) metadata[name] = value;
  }
  const { document_type: type, page_count: pages } = found;
  // Of a PDF or a presentation.
  if (typeof type === "string" && /^\d+$/.test(String(pages))) metadata["numPages"] = Number(pages);
  return metadata;
}

function absolute(address: unknown, base: unknown): unknown {
  if (Array.isArray(address)) return address.map((one) => absolute(one, base));
  return URL.parse(String(address), typeof base === "string" ? base : undefined)?.href ?? address;
}
