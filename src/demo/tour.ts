/** Example jobs for the demo site, as API requests. */
import { GALLERY_TRUTH } from "./gallery.ts";
import { SCRIPTED_PATHS } from "./corners.ts";

/** A crawl of the whole shop. Without a browser, script-rendered pages are excluded. */
export function shopCrawl(origin: string, { browser }: { browser: boolean }) {
  return {
    url: `${origin}/`,
    max_depth: 4,
    max_pages: 200,
    // Enough for the transient failure to recover, without a long wait for permanent ones.
    retry_attempts: 1,
    ...(browser ? {} : { exclude: [...SCRIPTED_PATHS] }),
    fields: {
      title: "h1",
      author: "article .author",
      price: { css: "article .price", type: "number" },
      rating: { css: "article .stars", attr: "data-rating", type: "number" },
      in_stock: { css: "article .availability span", type: "boolean" },
      published: { css: "article time", attr: "datetime", type: "date" },
    },
  };
}

/** The gallery as an image dataset, from the built-in template. */
export function galleryWorkflow(origin: string) {
  return {
    name: "Gallery of the demo shop",
    template: "image-dataset",
    params: {
      crawl: { url: `${origin}/gallery/`, max_pages: 10, include: ["/gallery/**"] },
      min_width: GALLERY_TRUTH.smallest,
      min_height: GALLERY_TRUTH.smallest,
      label_from: "folder",
    },
  };
}
