import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { Orb, until } from "../chaos/orb.ts";
import { hasScript, onTerminal } from "./screen.ts";
import { openShop } from "./site.ts";

describe("at a terminal", { skip: hasScript ? false : "there is no script(1) here" }, () => {
  test("a page is printed for reading, under a line that says how it was got", async () => {
    await using shop = await openShop();
    await using orb = new Orb();
    const screen = onTerminal(orb, ["scrape", shop.url("/list"), "--items", "li.t", "--field", "name=a"]);
    assert.equal(await screen.ended, 0, screen.text);
    assert.match(screen.text, /Run (?:created|started)/, "it says what happens meanwhile");
    const text = stripVTControlCharacters(screen.text);
    assert.match(text, /200 by http, 1 KiB, [\d.]+ s: http[^\r]*\/list\r\nname\r\nThing 1\r\nThing 2\r\nThing 3\r\n$/);
  });

  test("bytes are not thrown at a screen", async () => {
    await using orb = new Orb();
    const screen = onTerminal(orb, ["scrape", "http://shop.test/", "--format", "parquet"]);
    assert.equal(await screen.ended, 2);
    assert.match(screen.text, /--format parquet cannot be printed on a terminal\r\nAdd --out FILE\./);
  });

  test("a password is asked for, and not shown while it is typed", async () => {
    await using orb = new Orb();
    const screen = onTerminal(orb, ["sessions", "add", "--origin", "https://shop.test", "--basic", "ann"]);
    await until(() => screen.text.includes("Password of ann: "), "it asks");
    screen.type("hunter2\r");
    assert.equal(await screen.ended, 0, screen.text);
    assert.match(screen.text, /holds +basic/);
    assert.ok(!screen.text.includes("hunter2"), screen.text);
  });

  test("a call is chosen by its number, after a number that there is not", async () => {
    await using orb = new Orb();
    const answer = (body: unknown) => ({
      status: 200,
      headers: [{ name: "content-type", value: "application/json" }],
      content: { text: JSON.stringify(body) },
    });
    const request = (path: string) => ({ method: "GET", url: `http://shop.test${path}`, headers: [] });
    const entries = [
      { request: request("/api/long"), response: answer([{ a: "one" }, { a: "two" }, { a: "three" }]) },
      { request: request("/api/short"), response: answer([{ b: "four" }, { b: "five" }]) },
    ];
    orb.file("page.har", JSON.stringify({ log: { entries } }));
    const screen = onTerminal(orb, ["capture", "--har", "page.har"]);
    await until(() => screen.text.includes("Which call?"), "it asks");
    screen.type("9\r");
    await until(() => screen.text.split("Which call?").length === 3, "it asks again");
    screen.type("2\r");
    assert.equal(await screen.ended, 0, screen.text);
    assert.match(screen.text, /"url": "http:\/\/shop\.test\/api\/short"/);
  });

  test("without a display, orb login says what to type instead [slow]", async () => {
    await using orb = new Orb();
    const screen = onTerminal(orb, ["login", "https://shop.test/login"]);
    assert.equal(await screen.ended, 2);
    assert.match(screen.text, /there is no display to open a browser\r\n[\s\S]*--storage-state FILE/);
  });
});
