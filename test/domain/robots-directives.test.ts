import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { readRobotsDirectives } from "../../src/domain/site/robots-directives.ts";

const TABLE: [text: string, noindex: boolean, nofollow: boolean][] = [
  ["", false, false],
  ["nofollow", false, true],
  ["NoIndex, NoFollow", true, true],
  ["noindex nofollow", true, true],
  ["none", true, true],
  ["all", false, false],
  ["max-image-preview:none", false, false],
  ["max-image-preview: none, max-snippet: 20", false, false],
  ["max-snippet:-1, nofollow, max-image-preview:large", false, true],
  ["unavailable_after: 25 Jun 2030 15:00:00 PST, noindex", true, false],
  ["otherbot: nofollow", false, false],
  ["otherbot: noindex, nofollow", false, false],
  ["noindex, otherbot: nofollow", true, false],
  ["orbweaver: nofollow", false, true],
  ["otherbot: none, orbweaver: noindex", true, false],
  ["otherbot: max-image-preview:none, nofollow", false, false],
  ["no-follow, follow-none", false, false],
];

for (const [text, noindex, nofollow] of TABLE) {
  test(`"${text}" asks ${noindex ? "" : "not "}to stay out of indices and ${nofollow ? "" : "not "}to leave links`, () => {
    assert.deepEqual(readRobotsDirectives(text), { noindex, nofollow });
  });
}

test("no text makes it throw", () => {
  fc.assert(fc.property(fc.string(), (text) => typeof readRobotsDirectives(text).nofollow === "boolean"));
});
