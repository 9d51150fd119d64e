import assert from "node:assert/strict";
import { test } from "node:test";
import { filesIn, read } from "../support/source.ts";

const tokens = new Map(
  [...read("web/src/ui/tokens.css").matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g)].map(
    ([, name = "", light = "", dark = ""]) => [name, { light, dark }],
  ),
);

/** Relative luminance, as WCAG defines it. */
function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [light = 0, dark = 0] = [luminance(a), luminance(b)].toSorted((x, y) => y - x);
  return (light + 0.05) / (dark + 0.05);
}

/** Text on its ground needs 4.5; what is drawn (borders of fields, lines of charts, focus rings) needs 3. */
const TEXT: readonly (readonly [string, readonly string[]])[] = [
  ["ink", ["ground", "surface", "surface-2", "surface-3", "bad-ground", "warn-ground"]],
  ["ink-2", ["ground", "surface", "surface-2", "surface-3", "bad-ground"]],
  ["ink-3", ["ground", "surface", "surface-2"]],
  ["accent", ["ground", "surface", "surface-2", "accent-ground"]],
  ["on-accent", ["accent", "accent-strong"]],
  ...["good", "warn", "bad", "info"].map(
    (tone) => [tone, ["ground", "surface", "surface-2", `${tone}-ground`]] as const,
  ),
];
const DRAWN: readonly (readonly [string, readonly string[]])[] = [
  ["line-control", ["ground", "surface"]],
  ["focus", ["ground", "surface", "surface-3"]],
  ...[1, 2, 3, 4].map((number) => [`chart-${number}`, ["surface"]] as const),
];

test("text and what is drawn stand out from their ground in both themes", () => {
  assert.ok(tokens.size > 20, "the tokens can be read");
  const weak = [...TEXT.map((pair) => [...pair, 4.5] as const), ...DRAWN.map((pair) => [...pair, 3] as const)].flatMap(
    ([front, grounds, least]) =>
      grounds.flatMap((ground) =>
        (["light", "dark"] as const).flatMap((theme) => {
          const [a, b] = [tokens.get(front)?.[theme], tokens.get(ground)?.[theme]];
          assert.ok(a !== undefined && b !== undefined, `${front} and ${ground} are tokens`);
          const ratio = contrast(a, b);
          return ratio < least ? [`${front} on ${ground}, ${theme}: ${ratio.toFixed(2)}`] : [];
        }),
      ),
  );
  assert.deepEqual(weak, []);
});

test("style sheets name no colour of their own", () => {
  const wrong = filesIn("web/src", ".css")
    .filter((file) => !file.endsWith("tokens.css"))
    .flatMap((file) =>
      (read(file).match(/#[0-9a-f]{3,8}\b|\brgba?\(|\bhsla?\(/gi) ?? []).map((colour) => `${file}: ${colour}`),
    );
  assert.deepEqual(wrong, []);
});

test("logic needs no page, the dashboard nothing of the server, and no file has two subjects", () => {
  const files = [...filesIn("web/src", ".ts"), ...filesIn("web/src", ".tsx")];
  const wrong = files.flatMap((file) => {
    const text = read(file);
    const lines = text.trimEnd().split("\n").length;
    return [
      ...(lines > 400 ? [`${file} has ${lines} lines`] : []),
      // The types of the API, the settings of a crawl and the words for degraded records, which are declared once.
      ...(/from "(?:\.\.\/){2,}src\/(?!api-client\/operations\.ts"|domain\/crawl\/crawl-settings\.ts"|domain\/health\/describe-reason\.ts")/.test(
        text,
      )
        ? [`${file} imports from the server`]
        : []),
      ...(file.includes("/logic/") && /\b(?:document|window|localStorage)\.|from "react/.test(text)
        ? [`${file} needs a page`]
        : []),
      ...(/dangerouslySetInnerHTML|\.innerHTML|insertAdjacentHTML|document\.write/.test(text)
        ? [`${file} puts HTML into the page`]
        : []),
    ];
  });
  assert.deepEqual(wrong, []);
});
