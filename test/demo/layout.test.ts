/** The shop's second layout: the same books in other elements. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { request } from "undici";
import { systemClock } from "../../src/base/clock.ts";
import { BOOKS, pathOfBook, priceText } from "../../src/demo/books.ts";
import { startDemoSite } from "../../src/demo/site.ts";

test("the button of the shop changes its layout, shows the same book, and the next press restores it", async () => {
  await using shop = await startDemoSite(systemClock, { pageMs: 0 });
  const [book] = BOOKS;
  assert.ok(book);
  const address = shop.origin + pathOfBook(book);
  const read = async () => (await request(address)).body.text();
  const press = async (referer?: string) => {
    const { statusCode, headers, body } = await request(`${shop.origin}/layout`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", ...(referer && { referer }) },
      body: "",
    });
    await body.dump();
    return [statusCode, headers["location"]];
  };

  const first = await read();
  assert.match(first, /<form method="post" action="\/layout"><button>/);
  assert.match(first, /<p class="price">/);
  assert.deepEqual(await press(address), [303, pathOfBook(book)], "back to the page of the button");

  const second = await read();
  for (const value of [book.title, book.author, priceText(book), String(book.pages), book.published])
    assert.ok(second.includes(value), value);
  assert.doesNotMatch(second, /class="(price|author|availability|category|pages)"/);
  const list = await (await request(`${shop.origin}/category/${book.category.slug}`)).body.text();
  assert.match(list, /class="cost"/, "lists change with the books");
  assert.doesNotMatch(list, /class="price"/);

  assert.deepEqual(await press("https://elsewhere.test/page"), [303, "/"], "no way to another site");
  assert.equal(await read(), first);
  const other = await request(address, { method: "POST" });
  await other.body.dump();
  assert.equal(other.statusCode, 405);
});
