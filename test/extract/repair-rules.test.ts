import assert from "node:assert/strict";
import { test } from "node:test";
import type { Repair, RepairOrder } from "../../src/extract/learn/repair.ts";
import { repairRules } from "../../src/extract/learn/repair-rules.ts";
import type { PageInput } from "../../src/extract/page.ts";

const page = (html: string, type = "text/html; charset=utf-8"): PageInput => ({
  body: html,
  contentType: type,
  url: null,
});
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
const reasonOf = (repair: Repair | null | undefined) => (repair?.kind === "abstained" ? repair.reason : null);

const product = (n: number, price: string) =>
  page(
    `<header class="top">Shop</header><main class="box"><h1>Lamp ${n}</h1>${price}<p class="note">Oak, no. ${n}</p></main>`,
  );
const old = (n: number) => product(n, `<b class="price">€ ${n + 10}.50</b>`);
const recent = (n: number) => product(n, `<div class="offer"><em class="amount">€ ${n + 10}.50</em></div>`);

const order = (now: (n: number) => PageInput, more: Partial<RepairOrder> = {}): RepairOrder => ({
  items: null,
  fields: { price: ".price" },
  broken: ["price"],
  pairs: numbers(5).map((n) => ({ before: old(n), now: now(n) })),
  others: numbers(8).map((n) => now(n + 20)),
  ...more,
});

test("pages of another kind do not speak against the new rule of a field", () => {
  const list = page(
    `<ul class="list">${numbers(9).map((n) => `<li class="entry"><a class="link">Lamp ${n}</a></li>`)}</ul>`,
  );
  const { fields, items } = repairRules(
    order(recent, { others: [...numbers(8).map((n) => recent(n + 20)), list, list] }),
  );
  assert.equal(items, null);
  assert.ok(fields["price"]?.kind === "proposal", reasonOf(fields["price"]) ?? "");
  assert.equal(fields["price"].confidence, 1);
});

test("a field is left alone, with the reason: its values are gone, its rule is right, or too little is known", () => {
  const gone = repairRules(order((n) => product(n, "")));
  assert.match(reasonOf(gone.fields["price"]) ?? "", /too few pages still show their old values/);
  const right = repairRules(order(old));
  assert.match(reasonOf(right.fields["price"]) ?? "", /still finds the old values/);
  const pairs = numbers(2).map((n) => ({ before: old(n), now: recent(n) }));
  const few = repairRules(order(recent, { pairs, others: [] }));
  assert.match(reasonOf(few.fields["price"]) ?? "", /too few pages of the run/);
  for (const [rule, why] of [
    [{ value: 1 }, /only rules with css, xpath, jsonpath or regex/],
    [{ css: ".price", fields: { a: "b" } }, /fields of its own/],
  ] as const)
    assert.match(reasonOf(repairRules(order(recent, { fields: { price: rule } })).fields["price"]) ?? "", why);
  assert.match(reasonOf(repairRules(order(recent, { fields: {} })).fields["price"]) ?? "", /no rule of its own/);
});

const books = (row: (n: number) => string, count = 20) =>
  page(`<section>${numbers(count).map(row).join("")}</section>`);
const oldRow = (n: number) =>
  `<div class="book"><b class="title">Book no. ${n}</b><i class="price">€ ${n + 5}.90</i></div>`;
const listOrder = (now: PageInput, more: Partial<RepairOrder> = {}): RepairOrder => ({
  items: ".book",
  fields: { title: ".title", price: ".price" },
  broken: [null, "price"],
  pairs: [{ before: books(oldRow), now }],
  others: [],
  ...more,
});

test("a list that got new elements gets rules for its records and their fields; one that got new books, too", () => {
  const row = (n: number) =>
    `<article class="tile"><h3>Book no. ${n}</h3><span class="sum">€ ${n + 5}.90</span></article>`;
  for (const shift of [0, 6]) {
    const { items, fields } = repairRules(listOrder(books((n) => row(n + shift))));
    assert.ok(items?.kind === "proposal", reasonOf(items) ?? "");
    assert.ok(items.confidence >= 0.9);
    assert.deepEqual([fields["title"]?.kind, fields["price"]?.kind], ["proposal", "proposal"]);
  }
});

test("a list is left alone if its records are gone, their values are mixed up, or it has a single field", () => {
  const others = (n: number) => `<article class="tile"><h3>Pen ${n}</h3><span class="sum">$ ${n}</span></article>`;
  assert.match(reasonOf(repairRules(listOrder(books(others))).items) ?? "", /too few records/);
  // The prices of other books stand beside the titles.
  const mixed = (n: number) =>
    `<article class="tile"><h3>Book no. ${n}</h3><span class="sum">€ ${((n + 7) % 20) + 5}.90</span></article>`;
  assert.notEqual(reasonOf(repairRules(listOrder(books(mixed))).items), null);
  const single = listOrder(
    books((n) => `<article class="tile"><h3>Book no. ${n}</h3></article>`),
    { fields: { title: ".title" }, broken: [null] },
  );
  assert.match(reasonOf(repairRules(single).items) ?? "", /fewer than two fields/);
  const json = page(JSON.stringify([{ title: "a" }]), "application/json");
  assert.match(reasonOf(repairRules(listOrder(json)).items) ?? "", /JSON/);
});

test("a field of a list whose records are still found is repaired alone, and not from records that do not show it", () => {
  const row = (n: number) =>
    `<div class="book"><b class="title">Book no. ${n}</b><u class="sum">€ ${n + 5}.90</u></div>`;
  const { items, fields } = repairRules(listOrder(books(row), { broken: ["price"] }));
  assert.equal(items, null);
  assert.ok(fields["price"]?.kind === "proposal", reasonOf(fields["price"]) ?? "");
  const without = (n: number) => `<div class="book"><b class="title">Book no. ${n}</b></div>`;
  const gone = repairRules(listOrder(books(without), { broken: ["price"] }));
  assert.match(reasonOf(gone.fields["price"]) ?? "", /too few records/);
});
