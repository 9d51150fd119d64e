/** What is worth doing on the demo site, in the words of the API. */
import { GALLERY_TRUTH } from "./gallery.ts";
import { SCRIPTED_PATHS } from "./corners.ts";

/** A crawl of the whole shop. Without a browser, pages that are nothing without one are left out. */
export function shopCrawl(origin: string, { browser }: { browser: boolean }) {
  return {
    url: `${origin}/`,
    max_depth: 4,
    max_pages: 200,
    // Enough to see one failure pass, and not to wait long for those that do not.
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

/** The gallery as a dataset of pictures, by the built-in template. */
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
