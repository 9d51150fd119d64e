import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type RepairInput, repairField } from "../../src/extract/learn/repair.ts";
import { parsePage, type PageInput } from "../../src/extract/page.ts";
import { compileRule, Problems } from "../../src/extract/rules/compile.ts";
import { evaluate } from "../../src/extract/rules/evaluate.ts";

const input = (body: string): PageInput => ({ body, contentType: "text/html; charset=utf-8", url: null });

interface Book {
  title: string;
  price: string;
  old: string;
}

const BOOKS: readonly Book[] = Array.from({ length: 12 }, (_, n) => ({
  title: `A book about subject ${n}`,
  price: `€ ${n + 10}.50`,
  old: `€ ${n + 20}.00`,
}));

const before = ({ title, price, old }: Book) =>
  input(
    `<h1 class="name">${title}</h1><p class="price">${price}</p><s class="was">${old}</s><p class="stock">In stock</p>`,
  );

/** Other tags, generated classes, another order. */
const redesigned = ({ title, price, old }: Book) =>
  input(
    `<div class="css-1x9"><s class="css-77a">${old}</s><span class="css-5b2">${price}</span></div><h2 class="css-0aa">${title}</h2><div>In stock</div>`,
  );

const repairOf = (rule: RepairInput["rule"], now: (book: Book) => PageInput, pairs = 5) =>
  repairField({
    field: "price",
    rule,
    pairs: BOOKS.slice(0, pairs).map((book) => ({ before: before(book), now: now(book) })),
    others: BOOKS.slice(pairs).map(now),
  });

function valueBy(rule: unknown, page: PageInput): unknown {
  const { facts } = parsePage(page);
  const compiled = compileRule("price", rule, "price", new Problems());
  assert.ok(compiled !== null, JSON.stringify(rule));
  return evaluate(compiled, { facts, element: facts.document.root }).value;
}

describe("the repair of a rule", () => {
  test("finds the value after a redesign, on pages that it has not seen, and keeps the type", () => {
    const repaired = repairOf({ css: ".price", type: "number", required: true }, redesigned);
    assert.ok(repaired.kind === "proposal", JSON.stringify(repaired));
    assert.ok(repaired.confidence >= 0.9);
    assert.deepEqual([repaired.rule["type"], repaired.rule["required"]], ["number", true]);
    for (const [n, book] of BOOKS.entries()) assert.equal(valueBy(repaired.rule, redesigned(book)), n + 10.5);
  });

  test("is the same each time, and finds values that two pages still show", () => {
    const [one, other] = [repairOf(".price", redesigned, 2), repairOf(".price", redesigned, 2)];
    assert.equal(one.kind, "proposal");
    assert.deepEqual(one, other);
  });

  test("abstains if the values are gone, if one page is all that is known, and if others give something else", () => {
    const without = ({ title }: Book) => input(`<h1>${title}</h1><p class="ask">Price on request</p>`);
    assert.deepEqual(repairOf(".price", without), {
      kind: "abstained",
      reason: "too few pages still show their old values",
    });
    assert.equal(repairOf(".price", redesigned, 1).kind, "abstained");
    const known = new Set(BOOKS.slice(0, 5));
    const mixed = (book: Book) =>
      known.has(book)
        ? redesigned(book)
        : input(`<div class="css-1x9"><span class="css-5b2">Sold out, ask us</span></div>`);
    assert.deepEqual(repairOf(".price", mixed), {
      kind: "abstained",
      reason: "the new rule gives other values than expected on other pages",
    });
    assert.equal(repairOf(".nothing", redesigned).kind, "abstained", "the old rule never gave a value");
  });
});
