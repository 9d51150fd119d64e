/** Forms of the page that are printed as they are, beside the formats of records. */
export const PAGE_FORMATS = ["html", "raw_html", "links", "images"] as const;
export type PageFormat = (typeof PAGE_FORMATS)[number];
