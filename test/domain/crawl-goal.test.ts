import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type GoalFacts,
  linkScore,
  NO_GOAL_PAGES,
  priorityOfScore,
  relevanceOf,
  SATURATION,
  scoreOfPriority,
  textScore,
  withGoalPage,
} from "../../src/domain/crawl/goal-score.ts";
import { goalTerms, TermFinder } from "../../src/domain/crawl/goal-terms.ts";

describe("the words of a goal", () => {
  test("leave out what says nothing, endings, case and accents", () => {
    assert.deepEqual(goalTerms("Find all pages about Repairing bicycles"), goalTerms("repair bicycle"));
    assert.deepEqual(goalTerms("Café"), goalTerms("CAFE"));
    assert.deepEqual(goalTerms("batteries recycling"), goalTerms("battery recycle"));
    assert.deepEqual(goalTerms("about all"), ["about", "all"]);
    assert.deepEqual(goalTerms("!? …"), []);
  });

  test("are found in texts and addresses, and in scripts without spaces", () => {
    const finder = new TermFinder(goalTerms("bicycle brakes"));
    assert.deepEqual(finder.in("The BRAKE of my bicycles"), [0, 1]);
    assert.deepEqual(finder.inUrl("https://example.com/brakes/x?of=bicycle"), [0, 1]);
    assert.deepEqual(finder.inUrl("https://example.com/%E0%A4%A"), []);
    const japanese = new TermFinder(goalTerms("自転車"));
    assert.equal(japanese.in("新しい自転車の修理").length, 2);
    assert.deepEqual(japanese.in("新しい車"), []);
  });
});

describe("scores", () => {
  const read = (facts: GoalFacts, counts: number[], words = 100): GoalFacts => {
    const relevance = relevanceOf({ words, counts }, facts);
    const terms = counts.flatMap((count, term) => (count > 0 ? [term] : []));
    return withGoalPage(facts, { words, terms, relevance, lead: 0, area: "a/", stops: true });
  };

  test("a page with all words, more often or rarer ones, is more relevant; all are from 0 to 1", () => {
    let facts = NO_GOAL_PAGES;
    // The first word is on every page.
    for (let n = 0; n < 20; n += 1) facts = read(facts, [1, n % 10 === 0 ? 1 : 0]);
    const of = (...counts: number[]) => relevanceOf({ words: 100, counts }, facts);
    assert.ok(of(3, 3) > of(1, 1) && of(1, 1) > of(0, 1) && of(0, 1) > of(3, 0), "rare words count more");
    assert.equal(of(0, 0), 0);
    assert.ok(of(1000, 1000) <= 1);
  });

  test("a link's text counts more in the content than in the navigation, and a relevant page adds to it", () => {
    const facts = read(NO_GOAL_PAGES, [5, 5]);
    const clue = { anchor: [0, 1], url: [], around: [], isAside: false };
    const text = textScore(clue, facts, 2);
    const at = (isAside: boolean, relevance: number) =>
      linkScore(text, { url: "https://example.com/x", isAside }, { relevance, lead: 0, score: 0 }, facts);
    assert.ok(at(false, 0) > at(true, 0) && at(false, 0.9) > at(false, 0));
    assert.ok(text > textScore({ ...clue, anchor: [0] }, facts, 2));
  });

  test("saturation needs enough pages, and few relevant ones among the last", () => {
    let facts = NO_GOAL_PAGES;
    for (let n = 0; n < 10; n += 1) facts = read(facts, [9, 9]);
    for (let n = 0; n < SATURATION.pages - 3; n += 1) {
      facts = read(facts, [0, 0]);
      assert.equal(facts.saturated, undefined, `after ${n}`);
    }
    assert.equal(read(facts, [0, 0]).saturated, true);
  });

  test("become priorities below those of starts and lists, in the same order", () => {
    assert.ok(priorityOfScore(1) < -1000 && priorityOfScore(0.2) < priorityOfScore(0.3));
    assert.deepEqual([0, -7, 1].map(scoreOfPriority), [null, null, null]);
    assert.equal(scoreOfPriority(priorityOfScore(0.25)), 0.25);
  });
});
