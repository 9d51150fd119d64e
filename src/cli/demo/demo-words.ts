/** Texts of `orb demo`: the addresses at its start, the summary at its end. */
import type { CliContext } from "../context.ts";
import { oneLine, paint, plural, table, type Terminal, wrapped } from "../print/output.ts";
import { plainSigns } from "../print/signs.ts";

export interface DemoSetup {
  shop: string;
  dashboard: string;
  folder: string;
  /** Null: none. */
  browser: string | null;
}

export interface DemoBook {
  title: string;
  author: string | null;
  price: number | null;
  rating: number | null;
  in_stock: boolean | null;
}

/** What `--json` prints. */
export interface DemoSummary extends DemoSetup {
  /** The shop returned books, and the images became a dataset. */
  ok: boolean;
  crawl: {
    id: string;
    status: string;
    pages: number;
    failed: number;
    seconds: number;
    books: number;
    examples: readonly DemoBook[];
    /** Rate-limited pages, how often they waited, and how many succeeded in the end. */
    rate_limited: { pages: number; waits: number; got: number };
    /** Pages that failed first and succeeded on a retry. */
    retried: number;
    failures: readonly { reason: string; count: number; message: string; url: string | null }[];
  };
  scripted: { rendered: number; skipped: number };
  images: {
    id: string;
    status: string;
    found: number;
    refused: Readonly<Record<string, number>>;
    exact_copies: number;
    smaller_copies: number;
    kept: number;
    labels: Readonly<Record<string, number>>;
    bytes: number;
  };
}

/** The command that installs a browser. */
const GET_BROWSER = "orb doctor --fix";

export function demoHead({ terminal }: CliContext, { shop, dashboard, folder, browser }: DemoSetup): string {
  const lines: [string, string][] = [
    ["shop", paint(terminal, "cyan", shop)],
    ["dashboard", paint(terminal, "cyan", dashboard)],
    ["data", folder],
    ["browser", browser ?? `none: pages that need one are skipped; install one with ${GET_BROWSER}`],
  ];
  const rows = lines.map(([name, text]) => `  ${paint(terminal, "gray", name.padEnd(10))} ${text}\n`);
  return `${paint(terminal, "bold", "Orbweaver demo")}: a small bookshop, running on this machine\n${rows.join("")}\n`;
}

export function demoWords(terminal: Terminal, { crawl, scripted, images, shop }: DemoSummary): string {
  const width = terminal.columns;
  const title = (text: string) => `\n${paint(terminal, "bold", text)}\n`;
  const line = (sign: "✓" | "✗" | "–", text: string) => {
    const colour = sign === "✓" ? "green" : sign === "✗" ? "red" : "gray";
    return `  ${paint(terminal, colour, sign)} ${wrapped(oneLine(text), width, 4)}\n`;
  };
  const { rate_limited: limited } = crawl;
  const books = crawl.examples.map(({ title: name, author, price, rating }) => [
    name,
    author ?? "",
    price === null ? "" : `€${price.toFixed(2)}`,
    rating === null ? "" : `${rating} of 5`,
  ]);
  const notKept = Object.entries(images.refused).map(([reason, count]) => `${count} ${REFUSALS[reason] ?? reason}`);
  const text = [
    title("The shop"),
    line("✓", `${plural(crawl.pages, "page")} in ${crawl.seconds} s, ${plural(crawl.books, "book")} among them:`),
    indented(table(["title", "author", "price", "rating"], books, width === undefined ? undefined : width - 4)),
    title("Problems, and how they were handled"),
    limited.waits === 0
      ? ""
      : line(
          "✓",
          `rate limited ${plural(limited.waits, "time")} (429): waited as long as the shop asked, then fetched ${limited.got} of ${plural(limited.pages, "page")}`,
        ),
    crawl.retried === 0 ? "" : line("✓", `${plural(crawl.retried, "page")} failed at first and succeeded on retry`),
    ...crawl.failures.map(({ reason, count, message, url }) =>
      line(
        reason === "robots_disallowed" ? "–" : "✗",
        `${reason}${count === 1 ? "" : ` (${count})`}: ${url === null ? "" : `${pathOf(url, shop)}: `}${message}`,
      ),
    ),
    title("Pages that need scripts"),
    scripted.skipped > 0
      ? line("–", `skipped, ${plural(scripted.skipped, "page")}: there is no browser. Install one with: ${GET_BROWSER}`)
      : line(
          "✓",
          `${plural(scripted.rendered, "page")} rendered in a browser, because a plain request returned an empty page`,
        ),
    title("The gallery as a dataset"),
    line(
      images.status === "completed" ? "✓" : "✗",
      `${plural(images.found, "picture")} downloaded and checked: ${images.kept} kept, ${plural(images.exact_copies, "exact copy", "exact copies")} and ${plural(images.smaller_copies, "smaller copy", "smaller copies")} removed${notKept.length === 0 ? "" : `, and ${notKept.join(", ")}`}`,
    ),
    line("✓", `packed as a zip of ${Math.round(images.bytes / 1024)} KB, by label: ${labelsOf(images.labels)}`),
  ].join("");
  return terminal.ascii === true ? plainSigns(text) : text;
}

const indented = (text: string) => text.replace(/^(?=.)/gm, "    ");

const REFUSALS: Readonly<Record<string, string>> = {
  width_too_small: "too small",
  height_too_small: "too small",
  blank: "blank",
  truncated: "cut off",
};

const labelsOf = (labels: Readonly<Record<string, number>>) =>
  Object.entries(labels)
    .map(([label, count]) => `${count} ${label}`)
    .join(", ");

function pathOf(url: string, shop: string): string {
  return url.startsWith(shop) ? url.slice(shop.length - 1) : url;
}
