import assert from "node:assert/strict";
import { test } from "node:test";
import { filesIn } from "../support/source.ts";
import { typeWhatStandsIn, WHOLE_PAGE } from "./place.ts";

const recipes = filesIn("docs/recipes", ".md");

test("there are recipes", () => assert.ok(recipes.length >= 8));

for (const page of ["docs/tutorial.md", ...recipes])
  test(`whoever follows ${page} gets what it shows`, WHOLE_PAGE, (t) => typeWhatStandsIn(t, page));
