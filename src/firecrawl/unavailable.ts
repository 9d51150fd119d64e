/** What Firecrawl offers and this server does not: each says what to do instead. */

const MODEL = "Ask for markdown, or for the json format with a schema, and let your own model read it.";

/** By the first part of the path behind the version. */
export const UNAVAILABLE: Readonly<Record<string, string>> = {
  search:
    "Searching the web needs a search engine, which this server is not. Find addresses elsewhere, and scrape or batch-scrape them.",
  agent: `Agents are not run here. ${MODEL}`,
  "deep-research": `Research by a model is not done here. Crawl the sites in question. ${MODEL}`,
  llmstxt: "llms.txt files are not written here. Crawl the site for markdown.",
  extract: `Extraction over many pages by a model is not done here. Use scrape, batch or crawl with the json format. ${MODEL}`,
  parse: "Files are not parsed here: scrape takes the address of a page.",
  browser: "Browsers are not rented out here: scrape takes actions (click, write, press, scroll, wait, screenshot).",
  monitor: "Monitors are saved jobs here: POST /jobs with a schedule.",
  feedback: "Nobody here reads feedback; thank you all the same.",
};
