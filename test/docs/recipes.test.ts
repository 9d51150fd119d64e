import assert from "node:assert/strict";
import { test } from "node:test";
import { filesIn } from "../support/source.ts";
import { typeWhatStandsIn, WHOLE_PAGE } from "./workspace.ts";

const recipes = filesIn("docs/recipes", ".md");

test("there are recipes", () => assert.ok(recipes.length >= 8));

// Of these pages, README.md is typed in the fast tier.
for (const page of ["docs/tutorial.md", ...recipes])
  test(`whoever follows ${page} gets what it shows [slow]`, WHOLE_PAGE, (t) => typeWhatStandsIn(t, page));
