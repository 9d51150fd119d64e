/** Difficult pages of the demo shop: script-rendered, rate-limited, broken. */
import type { Clock } from "../base/clock.ts";
import { ARRIVALS, type Book, BOOKS, pathOfBook, priceText } from "./books.ts";
import { escape, frame } from "./layout.ts";

export interface Answer {
  status?: number;
  headers?: Readonly<Record<string, string>>;
  type?: string;
  body: string | Buffer;
  /** Delay of the response. */
  afterMs?: number;
  /** The connection closes before Content-Length is reached. */
  cut?: boolean;
}

export const SCRIPTED_PATHS = ["/arrivals", "/finder"] as const;
export const SIGNINGS = 5;

const FAULTS: readonly { path: string; name: string; about: string }[] = [
  { path: "/broken/missing", name: "The lost shelf", about: "404: it was never there" },
  { path: "/broken/error", name: "The till", about: "500, however often one asks" },
  { path: "/broken/flaky", name: "The revolving door", about: "503 once, then it lets people in" },
  { path: "/broken/slow", name: "The old clerk", about: "answers after two seconds" },
  { path: "/broken/cut", name: "The torn page", about: "the connection breaks off in the middle" },
  { path: "/broken/loop", name: "The circular corridor", about: "redirects to itself" },
  { path: "/broken/unfinished", name: "The unbound book", about: "HTML that nobody ever closed" },
];

export function cornersPage(): string {
  const corners = [
    { path: "/arrivals", name: "New arrivals", about: "Empty until a script has run: it takes a browser to see it." },
    { path: "/finder", name: "Book finder", about: "A list that loads itself from a JSON API, page after page." },
    {
      path: "/busy/",
      name: "Signing queue",
      about: "Lets three people in, then nobody for two seconds: they get 429.",
    },
    { path: "/broken/", name: "Closed for repairs", about: "Errors, loops, a torn page and a slow clerk." },
    { path: BACK_ROOM, name: "The back room", about: "Lets in only people: three clicks prove it.", rel: "nofollow" },
  ];
  const cards = corners.map(
    ({ path, name, about, rel }) =>
      `<li class="card"><h3><a href="${path}"${rel === undefined ? "" : ` rel="${rel}"`}>${name}</a></h3><p>${about}</p></li>`,
  );
  return frame({
    title: "Odd corners",
    at: "/corners",
    body: `<h1>Odd corners</h1>
<p class="lead">What real sites do to a crawler, on a small scale.</p>
<ul class="grid wide">${cards.join("\n")}</ul>`,
  });
}

/** Crawls are not led here: only somebody who clicks gets in. */
export const BACK_ROOM = "/back-room";
const BACK_ROOM_COOKIE = "back_room=open";

export function backRoom(cookies: string): Answer {
  if (cookies.split(/; */).includes(BACK_ROOM_COOKIE))
    return {
      body: frame({
        title: "The back room",
        body: '<h1>The back room</h1>\n<p class="lead">First editions, and a chair to read them in. Only a person who clicked three books sees this page.</p>',
      }),
    };
  const books = [1, 2, 3].map((nth) => `<button type="button" class="challenge-book">Book ${nth}</button>`).join("\n");
  return {
    status: 403,
    body: `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Verify you are human</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/style.css"><link rel="icon" href="/favicon.svg"></head>
<body><main class="in"><h1>Verify you are human</h1>
<p>To continue, please verify that you are not a robot: click the three books.</p>
<p class="challenge">${books}</p></main><script src="/scripts/back-room.js" defer></script></body></html>
`,
  };
}

/** An empty shell: the script renders the content. */
export function shellPage(title: string, script: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title} · Thread &amp; Page</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/style.css"><link rel="icon" href="/favicon.svg"></head>
<body><div id="app"></div><script src="${script}" defer></script></body></html>
`;
}

const rowOf = (book: Book) => ({
  id: book.id,
  title: book.title,
  author: book.author,
  price: priceText(book),
  url: pathOfBook(book),
  in_stock: book.stock > 0,
});

const API_PAGE = 12;

export function apiBooks(page: number): unknown {
  const pages = Math.ceil(BOOKS.length / API_PAGE);
  const books = BOOKS.slice((page - 1) * API_PAGE, page * API_PAGE).map(rowOf);
  return { page, pages, total: BOOKS.length, next: page < pages ? `/api/books?page=${page + 1}` : null, books };
}

export const apiArrivals = () => ({ books: ARRIVALS.map(rowOf) });

/** Client-side scripts. */
export const SCRIPTS: Readonly<Record<string, string>> = {
  "/scripts/back-room.js": `
const books = [...document.querySelectorAll("button")];
for (const book of books)
  book.addEventListener("click", () => {
    book.disabled = true;
    if (books.some((other) => !other.disabled)) return;
    document.cookie = "${BACK_ROOM_COOKIE}; path=/; max-age=3600";
    location.reload();
  });
`,
  "/scripts/arrivals.js": `
const text = (tag, words, name) => { const one = document.createElement(tag); one.textContent = words; if (name) one.className = name; return one; };
const app = document.getElementById("app");
app.className = "in";
const { books } = await (await fetch("/api/arrivals")).json();
const list = document.createElement("ul");
list.className = "grid wide";
for (const book of books) {
  const card = document.createElement("li");
  card.className = "card arrival";
  const heading = document.createElement("h3");
  const link = text("a", book.title);
  link.href = book.url;
  heading.append(link);
  card.append(heading, text("p", book.author, "author"), text("p", book.price, "price"));
  list.append(card);
}
const back = text("a", "Odd corners");
back.href = "/corners";
const crumbs = text("p", "", "crumbs");
crumbs.append(back);
app.append(crumbs, text("h1", "New arrivals"), text("p", "Unpacked this week, by a script.", "lead"), list);
`,
  "/scripts/finder.js": `
const app = document.getElementById("app");
app.className = "in";
app.innerHTML = '<p class="crumbs"><a href="/corners">Odd corners</a></p><h1>Book finder</h1><p class="lead">Every book, straight from the stock list.</p><table><thead><tr><th>Title</th><th>Author</th><th>Price</th></tr></thead><tbody></tbody></table><p><button>Load more</button></p>';
const [rows, button] = [app.querySelector("tbody"), app.querySelector("button")];
let next = "/api/books?page=1";
async function more() {
  const page = await (await fetch(next)).json();
  for (const book of page.books) {
    const row = rows.insertRow();
    const link = document.createElement("a");
    link.href = book.url;
    link.textContent = book.title;
    row.insertCell().append(link);
    row.insertCell().textContent = book.author;
    row.insertCell().textContent = book.price;
  }
  next = page.next;
  button.hidden = next === null;
}
button.addEventListener("click", more);
await more();
`,
};

const PAUSE_MS = 2000;
const BEFORE_PAUSE = 3;

/** Admits BEFORE_PAUSE requests, then refuses all for two seconds from the next one on: at any rate, some must wait. */
export class RequestLimiter {
  readonly #clock: Clock;
  #closedUntil = Number.NEGATIVE_INFINITY;
  #admitted = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** null: admitted. */
  ask(): Answer | null {
    const now = this.#clock.monotonic();
    if (now >= this.#closedUntil) {
      this.#admitted += 1;
      if (this.#admitted <= BEFORE_PAUSE) return null;
      [this.#closedUntil, this.#admitted] = [now + PAUSE_MS, 0];
    }
    return {
      status: 429,
      headers: { "retry-after": String(PAUSE_MS / 1000) },
      body: frame({ title: "One moment", body: "<h1>One moment, please</h1><p>Three at a time.</p>" }),
    };
  }
}

export function busyPage(nth: number | null): string {
  const links = Array.from({ length: SIGNINGS }, (_, at) => `<li><a href="/busy/${at + 1}">Table ${at + 1}</a></li>`);
  const body =
    nth === null
      ? `<h1>Signing queue</h1><p class="lead">Three people at a time, two seconds apart. Wait when you are asked to, and you get in.</p><ul>${links.join("\n")}</ul>`
      : `<p class="crumbs"><a href="/busy/">Signing queue</a></p><h1>Table ${nth}</h1><p>You waited your turn, and here is your dedication: “To whoever reads the Retry-After header, with the warmest thanks of everybody at the door.”</p>`;
  return frame({ title: nth === null ? "Signing queue" : `Table ${nth}`, at: "/corners", body });
}

/** Broken pages; counts requests per path. */
export class FaultyPages {
  readonly #asked = new Map<string, number>();

  answer(path: string): Answer | null {
    const nth = (this.#asked.get(path) ?? 0) + 1;
    this.#asked.set(path, nth);
    switch (path) {
      case "/broken/":
        return { body: brokenIndex() };
      case "/broken/error":
        return { status: 500, body: frame({ title: "Error", body: "<h1>The till is jammed</h1>" }) };
      case "/broken/flaky":
        return nth === 1
          ? { status: 503, body: frame({ title: "Closed", body: "<h1>Try the door again</h1>" }) }
          : { body: goodPage("The revolving door", "It turned. Most failures of servers pass by themselves.") };
      case "/broken/slow":
        return { afterMs: 2000, body: goodPage("The old clerk", "He was only looking for his glasses.") };
      case "/broken/cut":
        return { cut: true, body: goodPage("The torn page", "There was more of this page once. ".repeat(40)) };
      case "/broken/loop":
        return { status: 302, headers: { location: "/broken/loop" }, body: "" };
      case "/broken/unfinished":
        return { body: UNFINISHED };
      default:
        return null;
    }
  }
}

function brokenIndex(): string {
  const rows = FAULTS.map(
    ({ path, name, about }) => `<tr><td><a href="${path}">${name}</a></td><td>${escape(about)}</td></tr>`,
  );
  return frame({
    title: "Closed for repairs",
    at: "/corners",
    body: `<h1>Closed for repairs</h1><p class="lead">Each of these does one thing wrong.</p><table><tbody>${rows.join("\n")}</tbody></table>`,
  });
}

function goodPage(title: string, text: string): string {
  return frame({ title, at: "/corners", body: `<h1>${title}</h1><p>${text}</p>` });
}

/** Browsers parse it anyway. */
const UNFINISHED = `<html><title>The unbound book<head></title><body class=oops
<p><b>Chapter one</b <i>in which <u>nothing</b> is closed</i>
<h1>The unbound book</h2>
<table><td>A cell without a row<p>and a paragraph &nosuchthing; that goes on &amp on
<ul><li>first<li>second<li>third <a href='/corners'>back to the corners
<p>Whoever bound this book left before the glue was dry, and yet every word of it can be read.`;
