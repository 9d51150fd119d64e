/** The well-known fields. To add one, define a constant in this folder and list it here. */
import * as about from "./about.ts";
import { author } from "./author.ts";
import * as content from "./content.ts";
import * as dates from "./dates.ts";
import { image, images } from "./image.ts";
import * as product from "./product.ts";
import type { KnownField } from "./source.ts";
import { title } from "./title.ts";

const KNOWN_FIELDS: readonly KnownField[] = [
  title,
  about.description,
  author,
  dates.publishedAt,
  dates.modifiedAt,
  product.price,
  product.currency,
  image,
  images,
  content.text,
  content.markdown,
  content.html,
  content.links,
  about.canonicalUrl,
  about.siteName,
  about.language,
  about.keywords,
  content.headings,
  content.tables,
  content.wordCount,
  content.contentHash,
  content.pageType,
  content.pageTypeReason,
];

const BY_NAME = new Map(KNOWN_FIELDS.map((field) => [field.name, field]));

export const KNOWN_NAMES: readonly string[] = [...BY_NAME.keys()];

export function knownField(name: string): KnownField | undefined {
  return BY_NAME.get(name);
}
