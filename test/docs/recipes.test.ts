import assert from "node:assert/strict";
import { test } from "node:test";
import { filesIn } from "../support/source.ts";
import { typeWhatStandsIn, WHOLE_PAGE } from "./workspace.ts";

const recipes = filesIn("docs/recipes", ".md");

test("there are recipes", () => assert.ok(recipes.length >= 8));

const QUICK = "docs/recipes/download-list.md";
assert.ok(recipes.includes(QUICK));

for (const page of ["docs/tutorial.md", ...recipes]) {
  const tier = page === QUICK ? "" : " [slow]";
  test(`whoever follows ${page} gets what it shows${tier}`, WHOLE_PAGE, (t) => typeWhatStandsIn(t, page));
}
