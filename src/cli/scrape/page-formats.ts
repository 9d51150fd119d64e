/** Page formats printed as they are, besides the record formats. */
export const PAGE_FORMATS = ["html", "raw_html", "links", "images"] as const;
export type PageFormat = (typeof PAGE_FORMATS)[number];
