/** The front page, the lists and the books. */
import { type Book, BOOKS, booksOf, CATEGORIES, type Category, pathOfBook, pathOfCover, priceText } from "./books.ts";
import { PICTURES, ROOMS } from "./gallery.ts";
import { bookCard, escape, frame, type Layout, type Page, stars, stockText } from "./layout.ts";

const BOOKS_PER_PAGE = 5;

export function frontPage(layout: Layout): string {
  const picks = BOOKS.filter(({ halfStars }) => halfStars === 10).slice(0, 5);
  const shelves = CATEGORIES.map(
    (category) => `<li class="card"><h3><a href="/category/${category.slug}">${category.name}</a></h3>
<p>${escape(category.about)}</p><p>${booksOf(category).length} books</p></li>`,
  );
  return frame({
    title: "Books for quiet evenings",
    body: `<h1>Books for quiet evenings</h1>
<p class="lead">${BOOKS.length} titles on ${CATEGORIES.length} shelves, a gallery upstairs, and a few odd corners where things go wrong on purpose.</p>
<h2>Shelves</h2>
<ul class="grid wide">${shelves.join("\n")}</ul>
<h2>Read twice by everyone here</h2>
<ul class="grid">${picks.map((book) => bookCard(book, layout)).join("\n")}</ul>`,
  });
}

export const pagesOf = (category: Category) => Math.ceil(booksOf(category).length / BOOKS_PER_PAGE);

export function listPage(category: Category, page: number, layout: Layout): string | null {
  const [all, pages] = [booksOf(category), pagesOf(category)];
  if (!Number.isInteger(page) || page < 1 || page > pages) return null;
  const to = (at: number, name: string) => `<a rel="${name}" href="${pathOfList(category, at)}">${name}</a>`;
  const shown = all.slice((page - 1) * BOOKS_PER_PAGE, page * BOOKS_PER_PAGE);
  return frame({
    title: page === 1 ? category.name : `${category.name}, page ${page}`,
    at: `/category/${category.slug}`,
    body: `<h1>${category.name}</h1>
<p class="lead">${escape(category.about)}</p>
<ul class="grid">${shown.map((book) => bookCard(book, layout)).join("\n")}</ul>
<nav class="pager" aria-label="Pages">${page > 1 ? to(page - 1, "prev") : ""}
<span>Page ${page} of ${pages}</span>
${page < pages ? to(page + 1, "next") : ""}</nav>`,
  });
}

export function pathOfList({ slug }: Category, page: number): string {
  return page === 1 ? `/category/${slug}` : `/category/${slug}?page=${page}`;
}

export function bookPage(book: Book, layout: Layout): string {
  const { category } = book;
  const page: Page = {
    title: book.title,
    at: `/category/${category.slug}`,
    head: `<script type="application/ld+json">${JSON.stringify(linkedData(book)).replaceAll("<", "\\u003c")}</script>\n`,
    body: `<p class="crumbs"><a href="/">Shop</a> › <a href="/category/${category.slug}">${category.name}</a></p>
<article class="book">
<img class="cover" src="${pathOfCover(book)}" width="240" height="360" alt="Cover of ${escape(book.title)}">
<div>
${layout === "first" ? firstDetails(book) : secondDetails(book)}
</div>
</article>
<h2>From the same shelf</h2>
<ul class="grid">${neighbours(book)
      .map((other) => bookCard(other, layout))
      .join("\n")}</ul>`,
  };
  return frame(page);
}

const blurb = (book: Book) => book.blurb.map((text) => `<p>${escape(text)}</p>`).join("\n");

function firstDetails(book: Book): string {
  return `<h1>${escape(book.title)}</h1>
<p class="lead">by <span class="author">${escape(book.author)}</span></p>
<p>${stars(book)}</p>
<p class="price">${priceText(book)}</p>
<p class="availability">${stockText(book)}</p>
${blurb(book)}
<dl>
<dt>Shelf</dt><dd class="category">${book.category.name}</dd>
<dt>Pages</dt><dd class="pages">${book.pages}</dd>
<dt>Published</dt><dd><time datetime="${book.published}">${book.published}</time></dd>
</dl>`;
}

function secondDetails(book: Book): string {
  return `<header><h1 class="name">${escape(book.title)}</h1>
<div class="lead byline">by <em class="writer">${escape(book.author)}</em></div></header>
<section class="offer">
<strong class="cost">${priceText(book)}</strong>
<div class="supply">${stockText(book)}</div>
</section>
<div>${stars(book)}</div>
${blurb(book)}
<table class="facts">
<tr><th>Shelf</th><td>${book.category.name}</td></tr>
<tr><th>Pages</th><td>${book.pages}</td></tr>
<tr><th>Published</th><td><time datetime="${book.published}">${book.published}</time></td></tr>
</table>`;
}

function neighbours(book: Book): Book[] {
  const all = booksOf(book.category);
  const index = all.indexOf(book);
  return [1, 2, 3].map((step) => all[(index + step) % all.length] as Book);
}

function linkedData(book: Book): unknown {
  return {
    "@context": "https://schema.org",
    "@type": "Book",
    name: book.title,
    author: book.author,
    datePublished: book.published,
    numberOfPages: book.pages,
    url: pathOfBook(book),
    offers: { "@type": "Offer", price: (book.cents / 100).toFixed(2), priceCurrency: "EUR" },
  };
}

export function galleryPage(): string {
  const rooms = ROOMS.map(
    ({ motif, name, about }) =>
      `<li class="card"><h3><a href="/gallery/${motif}">${name}</a></h3><p>${escape(about)}</p></li>`,
  );
  return frame({
    title: "Gallery",
    at: "/gallery/",
    body: `<h1>Gallery</h1>
<p class="lead">Three rooms. Whoever hung them was not careful: some pictures are there twice, some are mere stamps, and one never arrived whole.</p>
<ul class="grid wide">${rooms.join("\n")}</ul>`,
  });
}

export function galleryRoom(name: string): string | null {
  const room = ROOMS.find(({ motif }) => motif === name);
  if (room === undefined) return null;
  const figures = PICTURES.filter(({ motif }) => motif === room.motif).map(
    ({ path, caption, width, height }) =>
      `<li><figure><img src="${path}" width="${width}" height="${height}" alt="${caption}" loading="lazy"><figcaption>${caption}</figcaption></figure></li>`,
  );
  return frame({
    title: room.name,
    at: "/gallery/",
    body: `<p class="crumbs"><a href="/gallery/">Gallery</a> › ${room.name}</p>
<h1>${room.name}</h1>
<p class="lead">${escape(room.about)}</p>
<ul class="grid wide">${figures.join("\n")}</ul>`,
  });
}
