/** What Firecrawl offers and this server does not: each says what to do instead. */

const MODEL = "Use markdown, or the json format with a schema, and your own model.";

/** By the first part of the path behind the version. */
export const UNAVAILABLE: Readonly<Record<string, string>> = {
  agent: `Agents are not supported. ${MODEL}`,
  "deep-research": `Research by a model is not supported. Crawl the sites instead. ${MODEL}`,
  llmstxt: "llms.txt files are not supported. Crawl the site for markdown.",
  extract: `Extraction over many pages by a model is not supported. Use scrape, batch or crawl with the json format. ${MODEL}`,
  browser: "Browser sessions are not supported: use actions of scrape (click, write, press, scroll, wait, screenshot).",
  monitor: "Monitors are not supported: use a saved job, POST /jobs with a schedule.",
  feedback: "Feedback is not supported.",
};
