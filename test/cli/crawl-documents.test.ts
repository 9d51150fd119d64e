import assert from "node:assert/strict";
import { test } from "node:test";
import { Command } from "commander";
import { addCrawlOptions, crawlOf } from "../../src/cli/crawl/crawl-options.ts";

test("a user leaves the choice about documents to the crawl, or makes it", () => {
  const sent = (...words: string[]) => {
    const command = addCrawlOptions(new Command());
    command.parse(words, { from: "user" });
    return crawlOf(command.opts());
  };
  assert.deepEqual(sent(), {});
  assert.deepEqual(sent("--no-documents"), { documents: false });
  assert.deepEqual(sent("--documents"), { documents: true });
});
