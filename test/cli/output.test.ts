import assert from "node:assert/strict";
import { test } from "node:test";
import { facts, listTable, oneLine, plainText, table, type Terminal } from "../../src/cli/print/output.ts";
import { printRecords } from "../../src/cli/records.ts";

const ID = "0197c3a1-5a2e-7c3f-9d52-1c8d5f1a2b3c";

/** A screen of this width, and what was written on it. */
function screen(columns: number): Terminal & { text: string } {
  return {
    text: "",
    out(text) {
      this.text += text;
    },
    err: () => {},
    live: true,
    colour: false,
    columns,
  };
}

const widest = (text: string) => Math.max(...text.split("\n").map((line) => line.length));

test("a list fits the screen: empty columns go first, then those before the address; programs get all of it", () => {
  const header = ["id", "status", "reason", "created", "page"];
  const address = `shop.example/${"very-long/".repeat(20)}`;
  const lines = [
    [ID, "completed", "", "3 min ago", address],
    [ID, "failed", "http_not_found", "4 min ago", "shop.example/x"],
  ];
  const narrow = listTable(header, lines, 80);
  assert.ok(widest(narrow) <= 80, narrow);
  assert.match(narrow, new RegExp(`^${ID} +completed +shop\\.example/very-long.*…$`, "m"), "the address has room");
  const wide = listTable(header, lines, 140);
  assert.match(wide, /http_not_found +4 min ago +shop/);
  assert.ok(widest(wide) <= 140);
  const whole = listTable(header, lines, undefined);
  assert.ok(whole.includes(address) && whole.includes("http_not_found"));
  assert.ok(!listTable(header, lines.slice(0, 1), 200).includes("reason"), "nothing failed, so nothing is said of it");
});

test("what is long in a list of facts goes on below its beginning", () => {
  const text = facts(
    [
      ["what", "one two three ".repeat(20)],
      ["none", null],
      ["url", "x".repeat(100)],
    ],
    60,
  );
  assert.ok(widest(text) <= 60, text);
  assert.match(text, /^what {2}one two[^\n]*\n {6}\S/);
  assert.ok(!text.includes("none"));
});

test("what sites write cannot move the cursor, colour the screen or begin another line", () => {
  const evil = "a\u001b[2Jb\u0007\u009b31mc\r\nd\u202ee\u2028f\u0000";
  assert.equal(oneLine(evil), "a[2Jb31mc de f");
  assert.equal(plainText(evil).split("\n").length, 2);
  assert.ok(!table(["x"], [[evil]]).includes("\u001b"));
  const terminal = screen(80);
  printRecords(terminal, [{ [evil]: evil, markdown: evil }]);
  // oxlint-disable-next-line no-control-regex
  assert.doesNotMatch(terminal.text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
});

test("an article is read from top to bottom; its empty fields are left out", () => {
  const terminal = screen(40);
  const description = "a sentence that is longer than the screen is wide";
  printRecords(terminal, [{ title: "Webs", description, author: null, markdown: "# Webs\n\nSpiders build them." }]);
  assert.equal(
    terminal.text,
    "title        Webs\ndescription  a sentence that is longer\n             than the screen is wide\n\n# Webs\n\nSpiders build them.\n",
  );
});

test("many small records are a table, long ones stand below each other, and none is said", () => {
  const small = screen(80);
  printRecords(small, [
    { name: "a", price: 1 },
    { name: "bb", price: null, tags: ["x", "y"] },
  ]);
  assert.equal(small.text, "name  price  tags\na     1\nbb           x, y\n");
  const long = screen(80);
  printRecords(long, [{ text: "one\ntwo" }, { text: "three\nfour" }]);
  assert.equal(long.text, "one\ntwo\n\nthree\nfour\n");
  const none = screen(80);
  printRecords(none, []);
  assert.equal(none.text, "no records\n");
});
