import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import type { JsonValue } from "../../src/domain/lane/queue-item.ts";
import {
  compileTemplate,
  compileWhen,
  isTrue,
  ResolveError,
  resolveList,
  resolveParams,
} from "../../src/domain/workflow/expression.ts";
import { evaluate, type ExpressionScope } from "../../src/domain/workflow/expression-evaluate.ts";
import { FUNCTIONS, parseExpression } from "../../src/domain/workflow/expression-parse.ts";
import { EXPRESSION_LIMITS, ExpressionError } from "../../src/domain/workflow/expression-syntax.ts";
import { Work } from "../../src/domain/workflow/expression-values.ts";

const scope: ExpressionScope = {
  params: { urls: ["a", "b"], flag: true, label: "cats", none: null, nested: { deep: [1, 2, 3] } },
  steps: {
    download: { output: { downloaded: 12, failed: 3 } },
    "list pages": { output: { pages: [{ url: "x", tags: ["p", "q"] }, { url: "y" }, { tags: null }] } },
  },
  item: { url: "https://example.com/" },
  index: 4,
};
const value = (text: string, within = scope): JsonValue => evaluate(parseExpression(text), within, new Work());

const VALUES: [text: string, expected: JsonValue][] = [
  ["1 + 2 * 3", 7],
  ["(1 + 2) * 3", 9],
  ["10 - 2 - 3", 5],
  ["7 % 4 / 2", 1.5],
  ["-2 + 1", -1],
  ["1 - -1", 2],
  ["1.5e2", 150],
  ["0 * -1", 0],
  ["\"a\" + 'b'", "ab"],
  ['"say \\"hi\\"\\n"', 'say "hi"\n'],
  ['"\\u00e9\\/\\b"', "é/\b"],
  ["[1, 'a', null, true]", [1, "a", null, true]],
  ["[1] + [2]", [1, 2]],
  ["[]", []],
  ["true && !false", true],
  ["false && params.nothing", false],
  ["true || params.nothing", true],
  ["1 < 2 && 2 <= 2 && 3 > 2 && 3 >= 3", true],
  ["(1 < 2) == true", true],
  ["'a' < 'b'", true],
  ["1 == 1.0", true],
  ["1 == '1'", false],
  ["null == null", true],
  ["[1, [2]] == [1, [2]]", true],
  ["params.nested == params.nested", true],
  ["params.nested != params.urls", true],
  ["'a' in params.urls", true],
  ["'z' in params.urls", false],
  ["'deep' in params.nested", true],
  ["'toString' in params.nested", false],
  ["params.flag ? 'yes' : 'no'", "yes"],
  ["false ? 1 : false ? 2 : 3", 3],
  ["steps.download.output.downloaded > 0", true],
  ["steps.download.output.failed / (steps.download.output.failed + steps.download.output.downloaded)", 0.2],
  ["steps['list pages'].output.pages[*].url", ["x", "y", null]],
  ["steps['list pages'].output.pages[*].tags[*]", [["p", "q"], null, null]],
  ["steps['list pages'].output.pages[*].tags[0]", ["p", null, null]],
  ["steps['list pages'].output.pages[-1].tags", null],
  ["params.urls[1]", "b"],
  ["params.urls[size(params.urls) - 1]", "b"],
  ["params.nested['deep'][0]", 1],
  ["params['ne' + 'sted'].deep[1]", 2],
  ["(params.nested).deep[2]", 3],
  ["[5, 6][1]", 6],
  ["size(params.urls) + size('abc') + size(params.nested)", 6],
  ["default(params.missing, 'x')", "x"],
  ["default(params.none, 'x')", "x"],
  ["default(params.none.deeper, 'x')", "x"],
  ["default(params.urls[9], 'x')", "x"],
  ["default(params.label, 'x')", "cats"],
  ["contains('concat', 'cat')", true],
  ["contains(params.urls, 'b')", true],
  ["startsWith(item.url, 'https:') && endsWith(item.url, '/')", true],
  ["join(params.urls, ', ')", "a, b"],
  ["join([1, null, 'x'], '-')", "1--x"],
  ["index + 1", 5],
];

test("expressions give what they say", () => {
  for (const [text, expected] of VALUES) assert.deepEqual(value(text), expected, text);
});

const MISTAKES: [text: string, at: number, message: RegExp][] = [
  ["", 0, /expected a value, got the end/],
  ["1 +", 3, /expected a value, got the end/],
  ["1 2", 2, /expected an operator or the end, got "2"/],
  ["params.", 7, /expected a name after the dot, got the end/],
  ["params.urls[0", 13, /expected "\]", got the end/],
  ["(1", 2, /expected "\)", got the end/],
  ["true ? 1", 8, /expected ":", got the end/],
  ["'open", 0, /no closing quote/],
  ["'\\x'", 1, /a backslash must be followed/],
  ["'\\u12'", 1, /four hex digits/],
  ["a = b", 2, /"=" is not allowed here/],
  ["{}", 0, /"\{" is not allowed here/],
  ["1 < 2 < 3", 6, /comparisons cannot be chained/],
  ["1 + sise(params)", 4, /unknown function sise\(\), did you mean size\(\)\?/],
  ["eval('1')", 0, /unknown function eval\(\); there are size, /],
  ["toString(1)", 0, /unknown function/],
  ["size()", 0, /size\(\) takes one argument, got 0/],
  ["default(1)", 0, /default\(\) takes 2 arguments, got 1/],
  ["1e999", 0, /too large/],
  ["stesp.a", 0, /"stesp" is not available here/],
  ["1 + params.lable", 11, /there is no "lable", did you mean "label"\?/],
  ["params.urls.length", 12, /a list has entries 0 to 1/],
  ["params.urls[7]", 11, /there is no entry 7: the list has 2/],
  ["params.label.size", 13, /a string has no "size"/],
  ["params.none.x", 12, /null has no "x"/],
  ["params.label[*]", 12, /\[\*\] needs a list, got a string/],
  ["params.nested[0]", 13, /an object has keys/],
  ["1 + 'a'", 2, /two numbers, two strings or two lists, got a number and a string/],
  ["1 < 'a'", 2, /compares two numbers or two strings/],
  ["!1", 0, /expected true or false, got a number/],
  ["-'a'", 0, /expected a number, got a string/],
  ["1 / 0", 2, /division by zero/],
  ["1e308 * 10", 6, /too large/],
  ["'a' in 'abc'", 4, /in needs a list or an object on the right/],
  ["size(1)", 0, /size\(\) needs/],
  ["contains(1, 'a')", 0, /contains\(\) needs strings, got a number/],
  ["join('a', ',')", 0, /join\(\) needs a list/],
  ["params.__proto__", 7, /there is no "__proto__"/],
  ["params['constructor']", 6, /there is no "constructor"/],
  ["constructor", 0, /"constructor" is not available here/],
];

test("a mistake in an expression is named with its place", () => {
  for (const [text, at, message] of MISTAKES) {
    assert.throws(
      () => value(text),
      (error: unknown) => {
        assert.ok(error instanceof ExpressionError, `${text}: ${String(error)}`);
        assert.match(error.message, message, text);
        assert.match(error.message, new RegExp(`\\(at character ${at + 1}\\)$`), text);
        return true;
      },
    );
  }
});

test("a text that is one expression keeps the type of its value, in a longer text it becomes text", () => {
  const params = {
    list: "${{ params.urls }}",
    count: "${{steps.download.output.downloaded}}\n",
    text: "${{ params.label }}: ${{ steps.download.output.downloaded }} of ${{ params.urls }}${{ params.none }}!",
    braces: "${{ '}}' }}",
    literal: "${{ '${{' }} is how it begins",
    plain: "costs $5 {{ or so }}",
    within: [{ deep: "${{ item.url }}" }, 1, null],
  };
  assert.deepEqual(resolveParams(params, scope), {
    list: ["a", "b"],
    count: 12,
    text: 'cats: 12 of ["a","b"]!',
    braces: "}}",
    literal: "${{ is how it begins",
    plain: "costs $5 {{ or so }}",
    within: [{ deep: "https://example.com/" }, 1, null],
  });
  assert.equal(compileTemplate("nothing in it"), null);
});

test("an expression that cannot be resolved is named with the param it stands in", () => {
  assert.throws(
    () => resolveParams({ urls: ["a", { b: "x ${{ params.zzz }}" }] }, scope),
    (error: unknown) =>
      error instanceof ResolveError &&
      error.path === "params.urls[1].b" &&
      error.message === 'params.urls[1].b: there is no "zzz" (at character 14)',
  );
  assert.throws(() => resolveParams({ a: "${{ params.urls" }, scope), /params\.a: "\$\{\{" has no "\}\}"/);
});

test("when takes an expression with or without braces, and wants true or false", () => {
  assert.equal(isTrue("steps.download.output.failed == 0", scope), false);
  assert.equal(isTrue("${{ steps.download.output.downloaded > 0 }}", scope), true);
  assert.throws(() => isTrue("steps.download.output.downloaded", scope), /expected true or false, got a number/);
  assert.throws(() => compileWhen("${{ true }} and ${{ false }}"), /expected one expression and nothing else/);
});

test("for_each takes a list, or an expression that gives one", () => {
  assert.deepEqual(resolveList("${{ params.urls }}", scope), ["a", "b"]);
  assert.deepEqual(resolveList(["${{ params.label }}", 2], scope), ["cats", 2]);
  assert.throws(() => resolveList("${{ params.label }}", scope), /for_each\.in: does not return a list/);
});

test("expressions that are too long, too deep or too large are refused when they are read", () => {
  const long = `'${"x".repeat(EXPRESSION_LIMITS.length)}'`;
  assert.throws(() => parseExpression(long), ExpressionError);
  assert.throws(() => parseExpression(" ".repeat(5000) + "1"), /at most 2000 characters/);
  assert.throws(() => parseExpression("(".repeat(100) + "1"), /nested more than 40 levels/);
  assert.throws(() => parseExpression("[".repeat(100)), /nested more than 40 levels/);
  assert.throws(() => parseExpression("!".repeat(600) + "true"), /too many parts/);
  assert.throws(() => parseExpression(`1${"+1".repeat(600)}`), /too many parts/);
  assert.equal(value(`1${"+1".repeat(200)}`), 201);
});

test("no data makes an expression take more than a bounded amount of work", () => {
  const many: ExpressionScope = {
    params: { list: Array.from({ length: 10_000 }, (_, index) => ({ n: index })), text: "a".repeat(1_000_000) },
    steps: {},
  };
  const greedy = [
    "params.list == params.list" + " && params.list == params.list".repeat(60),
    "contains(params.text, 'b' + params.text)",
    "join(params.list, params.text)",
    `params.text${" + params.text".repeat(70)}`,
    `params.list[*].n${" + params.list[*].n".repeat(40)}`,
  ];
  for (const text of greedy) assert.throws(() => value(text, many), /needs too much computation/, text);
  const often = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`p${index}`, "${{ params.list }}"]));
  assert.throws(() => resolveParams(often, many), /needs too much computation/);
  let deep: JsonValue = 1;
  for (let level = 0; level < 50_000; level += 1) deep = [deep];
  const hole: ExpressionScope = { params: { deep, other: structuredDeep() }, steps: {} };
  assert.throws(() => resolveParams({ a: "${{ params.deep }}" }, hole), /nested more than 200 levels/);
  assert.throws(() => value("params.deep == params.other", hole), /nested more than 200 levels/);
});

function structuredDeep(): JsonValue {
  let deep: JsonValue = 1;
  for (let level = 0; level < 50_000; level += 1) deep = [deep];
  return deep;
}

/** Expressions that are mostly well-formed, on names that are mostly there. */
const expressions = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 5, depthSize: "medium" },
    fc.constantFrom("1", "0", "'a'", "true", "null", "[]", "params", "params.urls", "params.nested.deep", "item.url"),
    fc.constantFrom("params.urls[*]", "steps['list pages'].output.pages[*].tags", "index", "params.__proto__", "steps"),
    fc
      .tuple(tie("any"), fc.constantFrom("+", "-", "*", "/", "%", "<", "==", "in", "&&", "||"), tie("any"))
      .map((parts) => `(${parts.join(" ")})`),
    fc.tuple(tie("any"), tie("any")).map(([list, at]) => `${list}[${at}]`),
    fc.tuple(tie("any"), tie("any"), tie("any")).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    fc
      .tuple(fc.constantFrom(...Object.keys(FUNCTIONS)), fc.array(tie("any"), { maxLength: 3 }))
      .map(([name, args]) => `${name}(${args.join(", ")})`),
    tie("any").map((text) => `!${text}`),
    fc.string({ maxLength: 5 }),
  ),
})).any;

test("whatever is written, an expression gives JSON or an ExpressionError, within its work", () => {
  fc.assert(
    fc.property(expressions, fc.jsonValue({ maxDepth: 4 }), (text, made) => {
      // What comes in has been JSON, which knows no minus zero.
      const data: unknown = JSON.parse(JSON.stringify(made));
      const work = new Work(20_000);
      try {
        const result = evaluate(
          parseExpression(text),
          { ...scope, params: { ...scope.params, urls: data as JsonValue } },
          work,
        );
        assert.deepEqual(JSON.parse(JSON.stringify(result)), result);
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error;
      }
    }),
    { numRuns: 3000 },
  );
});

test("whatever text stands in params, resolving it gives a value or a ResolveError", () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(expressions, fc.constantFrom("${{", "}}", "$", "{{", "'")), { maxLength: 6 }),
      (parts) => {
        try {
          resolveParams({ a: parts.join(" ") }, scope);
        } catch (error) {
          if (!(error instanceof ResolveError)) throw error;
        }
      },
    ),
    { numRuns: 1000 },
  );
});
