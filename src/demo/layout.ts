/** The frame around every page of the demo shop. */
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

export function bookCard(book: Book): string {
  return `<li class="card book-card">
<a href="${pathOfBook(book)}" tabindex="-1" aria-hidden="true"><img src="${pathOfCover(book)}" width="240" height="360" alt="" loading="lazy"></a>
<h3><a href="${pathOfBook(book)}">${escape(book.title)}</a></h3>
<p>${escape(book.author)}</p>
<p>${stars(book)}</p>
<p class="price">${priceText(book)}</p>
</li>`;
}
