/** The frame around every page of the demo shop, and how it shows a book. */
import { type Book, CATEGORIES, pathOfBook, pathOfCover, priceText } from "./books.ts";

export interface Page {
  title: string;
  /** HTML. */
  body: string;
  /** Path of its navigation entry. */
  at?: string;
  /** HTML for the head. */
  head?: string;
}

/** The shop has two layouts: after a change of the layout, rules written for the other one match nothing. */
export type Layout = "first" | "second";

/** A POST to this path changes the layout of the shop. */
export const LAYOUT_PATH = "/layout";

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

export function escape(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => ENTITIES[sign] ?? sign);
}

export function frame({ title, body, at = "", head = "" }: Page): string {
  const links = [
    ...CATEGORIES.map(({ slug, name }) => ({ path: `/category/${slug}`, name })),
    { path: "/gallery/", name: "Gallery" },
    { path: "/corners", name: "Odd corners" },
  ];
  const navigation = links
    .map(({ path, name }) => `<a href="${path}"${path === at ? ' aria-current="page"' : ""}>${name}</a>`)
    .join("\n");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)} · Thread &amp; Page</title>
<link rel="stylesheet" href="/style.css">
<link rel="icon" href="/favicon.svg">
${head}</head>
<body>
<header class="top"><div class="in">
<a class="brand" href="/">Thread <span>&amp;</span> Page</a>
<nav aria-label="Shop">
${navigation}
</nav>
</div></header>
<main class="in">
${body}
</main>
<footer class="foot"><div class="in">
A shop that sells nothing: it is part of Orbweaver, runs on this machine alone, and is there to be crawled.
<a href="/cellar/">The cellar</a> is closed to robots.
<form method="post" action="${LAYOUT_PATH}"><button>Change the layout</button> of the books, as shops do without notice.</form>
</div></footer>
</body>
</html>
`;
}

export function stars({ halfStars }: Book): string {
  const full = Math.round(halfStars / 2);
  return `<span class="stars" data-rating="${halfStars / 2}" title="${halfStars / 2} of 5"><span aria-hidden="true">${"★".repeat(full)}${"☆".repeat(5 - full)}</span></span>`;
}

export function stockText({ stock }: Book): string {
  return stock === 0
    ? '<span class="out-of-stock">Out of stock</span>'
    : `<span class="in-stock">In stock</span> (${stock})`;
}

export function bookCard(book: Book, layout: Layout): string {
  if (layout === "second") {
    return `<li class="card tile">
<a href="${pathOfBook(book)}" tabindex="-1" aria-hidden="true"><img src="${pathOfCover(book)}" width="240" height="360" alt="" loading="lazy"></a>
<div class="tile-text"><h4 class="tile-name"><a href="${pathOfBook(book)}">${escape(book.title)}</a></h4>
<span class="tile-by">${escape(book.author)}</span></div>
<div class="tile-foot"><strong class="cost">${priceText(book)}</strong> ${stars(book)}</div>
</li>`;
  }
  return `<li class="card book-card">
<a href="${pathOfBook(book)}" tabindex="-1" aria-hidden="true"><img src="${pathOfCover(book)}" width="240" height="360" alt="" loading="lazy"></a>
<h3><a href="${pathOfBook(book)}">${escape(book.title)}</a></h3>
<p>${escape(book.author)}</p>
<p>${stars(book)}</p>
<p class="price">${priceText(book)}</p>
</li>`;
}
