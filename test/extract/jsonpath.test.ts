import assert from "node:assert/strict";
import { test } from "node:test";
import { type Extraction, extractPage } from "../../src/extract/page.ts";
import { compilePlan, type PlanSpec } from "../../src/extract/plan.ts";

function read(spec: PlanSpec, body: unknown): Extraction {
  const page = { body: JSON.stringify(body), contentType: "application/json", url: "https://site.example/api" };
  return extractPage(page, compilePlan(spec));
}

function field(rule: object, body: unknown): unknown {
  return read({ fields: { it: rule } }, body).records[0]?.["it"];
}

const all = (path: string, body: unknown) => field({ jsonpath: path, all: true }, body);

const POEM = "  one\r\n\ttwo\u00a0 three\n\n";

test("a JSON string is taken as it is, white space included", () => {
  assert.equal(field({ jsonpath: "$.poem" }, { poem: POEM }), POEM);
  assert.deepEqual(all("$[*]", [POEM, "", " "]), [POEM, "", " "]);
  assert.equal(field({ jsonpath: "$.poem" }, { poem: "" }), "");
});

test("type string evens out the white space of a JSON string", () => {
  assert.equal(field({ jsonpath: "$.poem", type: "string" }, { poem: POEM }), "one two three");
  assert.equal(field({ jsonpath: "$.id", type: "string" }, { id: 12 }), "12");
});

test("a regex sees a JSON string as it is", () => {
  assert.equal(field({ jsonpath: "$.poem", regex: "\\n(\\ttwo.)" }, { poem: POEM }), "\ttwo\u00a0");
  assert.deepEqual(field({ jsonpath: "$[*]", regex: "a(.*)", all: true }, ["a  b ", "x", "ac"]), ["  b ", "c"]);
});

test("lists that are read beside each other stay parallel: null is null in both", () => {
  const body = [
    { name: "a", price: null },
    { name: null, price: "5" },
    { name: "", price: "n/a" },
  ];
  const { records, warnings } = read(
    {
      fields: {
        names: { jsonpath: "$[*].name", all: true },
        texts: { jsonpath: "$[*].name", all: true, type: "string" },
        prices: { jsonpath: "$[*].price", all: true, type: "number" },
      },
    },
    body,
  );
  assert.deepEqual(records, [{ names: ["a", null, ""], texts: ["a", null, null], prices: [null, 5, null] }]);
  assert.deepEqual(
    warnings.map(({ field: name, message, found }) => [name, message, found]),
    [["prices", "expected a number", "n/a"]],
  );
});

test("a required JSON field that is null or empty is missing, and a default stands in for it", () => {
  for (const value of [null, ""]) {
    assert.equal(field({ jsonpath: "$.a", default: "n/a" }, { a: value }), "n/a");
    const { errors } = read({ fields: { it: { jsonpath: "$.a", required: true } } }, { a: value });
    assert.equal(errors[0]?.message, "is empty");
  }
  const list = { jsonpath: "$[*]", all: true, required: true };
  assert.equal(read({ fields: { it: list } }, [null, null]).errors.length, 1);
  assert.equal(read({ fields: { it: list } }, [null, 1]).errors.length, 0);
});

test("an empty JSON string is neither yes nor no", () => {
  assert.equal(field({ jsonpath: "$.sold", type: "boolean" }, { sold: "" }), null);
  assert.equal(field({ jsonpath: "$.sold", type: "boolean" }, { sold: "yes" }), true);
});

test("an item that is null is not taken for the whole body", () => {
  const { records } = read(
    { items: { jsonpath: "$.list[*]" }, fields: { a: { jsonpath: "$.a" } } },
    {
      a: "outside",
      list: [null, { a: 1 }],
    },
  );
  assert.deepEqual(records, [{ a: null }, { a: 1 }]);
});

const BOOKS = { books: [{ t: "A", p: 1 }, { t: "B", p: 20 }, { t: "C" }], "o'k": { "": 0, "\u{1f600}": [1, 2, 3] } };

/** One case for every kind of segment, selector, operator and function of RFC 9535. */
const CASES: readonly [path: string, body: unknown, found: unknown[]][] = [
  ["$", null, [null]],
  ["$.books[0].t", BOOKS, ["A"]],
  ["$['books'][-1]['t']", BOOKS, ["C"]],
  [`$["o'k"]['']`, BOOKS, [0]],
  ["$['o\\'k']['\\uD83D\\uDE00'][1]", BOOKS, [2]],
  ["$.books[*].p", BOOKS, [1, 20]],
  ["$..p", BOOKS, [1, 20]],
  ["$.books[0, 0]['t','p']", BOOKS, ["A", 1, "A", 1]],
  ["$[1:3]", [0, 1, 2, 3], [1, 2]],
  ["$[::-2]", [0, 1, 2, 3], [3, 1]],
  ["$[-2:]", [0, 1, 2, 3], [2, 3]],
  ["$[::0]", [0, 1], []],
  ["$[?@]", [0, null, false, ""], [0, null, false, ""]],
  ["$[?@ == null]", [null, 0, false], [null]],
  ["$[?@.a == @.b]", [{}, { a: null }, { a: 1, b: 1 }], [{}, { a: 1, b: 1 }]],
  ["$[?@ > 1 && @ <= 3 || @ == 'x']", [1, 2, 3, 4, "x"], [2, 3, "x"]],
  ["$[?!(@ < 2)]", [1, 2, "a"], [2, "a"]],
  ["$[?@ >= 'b']", ["a", "b", "c", 5], ["b", "c"]],
  ["$[?@ == -0]", [0, 1], [0]],
  ["$[?@ == 1e2]", [100, 1], [100]],
  ["$.books[?@.p == $.books[1].p].t", BOOKS, ["B"]],
  ["$[?length(@) == 1]", ["\u{1f600}", "ab", [1], { a: 1 }, 1], ["\u{1f600}", [1], { a: 1 }]],
  ["$[?count(@.*) > 1]", [[1, 2], [1], { a: 1, b: 2 }], [[1, 2], { a: 1, b: 2 }]],
  ["$[?value(@..a) == 1]", [{ x: { a: 1 } }, { a: 1, x: { a: 1 } }], [{ x: { a: 1 } }]],
  ["$[?match(@, 'a|bc')]", ["a", "bc", "abc"], ["a", "bc"]],
  ["$[?match(@, '.')]", ["\n", "\r", "\u2028", "\u2029", "x", ""], ["\u2028", "\u2029", "x"]],
  ["$[?search(@, 'a.b')]", ["a\rb", "a\nb", "xa.by"], ["xa.by"]],
  ["$[?match(@, 'a[.]\\\\.[^b]')]", ["a..\r", "axxc", "a..b"], ["a..\r"]],
  ["$[?match(@, 'a\\\\\\\\.c')]", ["a\\xc", "a\\\rc"], ["a\\xc"]],
  ["$[?match(@, '[\\\\].]')]", ["]", ".", "x"], ["]", "."]],
  ["$[?search(@, '')]", ["", "a", 1], ["", "a"]],
  ["$[?match(@, '(')]", ["("], []],
];

for (const [path, body, found] of CASES) {
  test(`a rule gives every value of ${path}`, () => assert.deepEqual(all(path, body), found));
}

const INVALID = [
  "",
  "books",
  "$.",
  "$[01]",
  "$[-0]",
  "$['a]",
  "$ ",
  "$[?@.a==]",
  "$[?@.* == 1]",
  "$[?length(@.*) == 1]",
];

for (const path of INVALID) {
  test(`a rule with the path ${JSON.stringify(path)} is refused`, () => {
    assert.throws(() => compilePlan({ fields: { it: { jsonpath: path } } }));
  });
}
