import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { dispositionOf } from "../../src/domain/run/classify.ts";
import { FAILURE_CODES, FAILURE_REASONS, failure, type FailureReason } from "../../src/domain/run/failure.ts";
import { queueStateOf, RUN_TRANSITIONS, TASK_STATES, TASK_TRANSITIONS } from "../../src/domain/run/states.ts";
import { ALERT_KINDS } from "../../src/domain/run/alerts.ts";
import { CONFIG_KEYS, OPTIONS } from "../../src/config/options.ts";
import { filesIn, read, root, tableBelow } from "../support/source.ts";
import { anchorsOf, linksOf } from "./markdown.ts";

const concepts = read("docs/concepts.md");
const bare = (cell = "") => cell.replaceAll("`", "");
const pages = [
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "CODE_OF_CONDUCT.md",
  ...filesIn("docs", ".md"),
];

for (const [heading, transitions] of [
  ["## States of a run", RUN_TRANSITIONS],
  ["## States of a task", TASK_TRANSITIONS],
] as const) {
  test(`docs/concepts.md, "${heading.slice(3)}": every state, and what may follow it`, () => {
    const told = tableBelow(concepts, heading).map(([state, next = "", meaning]) => {
      assert.ok((meaning ?? "") !== "", `${state} is explained`);
      return [bare(state), next === "–" ? [] : next.split(", ").map(bare)];
    });
    assert.deepEqual(Object.fromEntries(told), transitions);
  });
}

test("docs/concepts.md translates the states of a task into those of the queue", () => {
  for (const state of TASK_STATES)
    assert.match(concepts, new RegExp(`\`${queueStateOf(state)}\` \\([^)]*\`${state}\``), state);
});

test("docs/concepts.md explains every failure reason: its code, and whether it is tried again", () => {
  const words = { retry: "yes", permanent: "no", rate_limit: "waits" } as const;
  const told = tableBelow(concepts, "## Failure reasons").map(([reason, code, again, meaning]) => {
    assert.ok((meaning ?? "") !== "", `${reason} is explained`);
    return [bare(reason), bare(code), again];
  });
  const real = Object.entries(FAILURE_REASONS).map(([reason, code]) => [
    reason,
    code,
    words[dispositionOf(failure(reason as FailureReason, ""))],
  ]);
  assert.deepEqual(told, real);
  const unused = FAILURE_CODES.filter((code) => !Object.values<string>(FAILURE_REASONS).includes(code));
  for (const code of unused) assert.ok(concepts.includes(`\`${code}\``), `${code} is named as not used yet`);
});

test("docs/runbooks.md says what to do about every kind of alert, and docs/monitoring.md what it means", () => {
  const headings = anchorsOf(read("docs/runbooks.md")).slice(1);
  assert.deepEqual(headings.toSorted(), [...ALERT_KINDS].toSorted());
  const told = tableBelow(read("docs/monitoring.md"), "## Alerts").map(([kind]) => bare(kind));
  assert.deepEqual([...told, "test"].toSorted(), [...ALERT_KINDS].toSorted());
});

test("figures that the pages give for defaults are the defaults", () => {
  const byName = new Map(CONFIG_KEYS.map((key) => [OPTIONS[key].name as string, OPTIONS[key].default]));
  for (const page of pages) {
    for (const [, name = "", figure] of read(page).matchAll(/`(APP_[A-Z_]+)` \((\d+)\)/g)) {
      assert.ok(byName.has(name), `${page}: ${name} is an option`);
      assert.equal(figure, byName.get(name), `${page}: ${name}`);
    }
  }
});

test("every option that a page names exists", () => {
  const options = CONFIG_KEYS.map((key) => OPTIONS[key] as { name: string; alias?: string });
  const known = new Set(options.flatMap(({ name, alias }) => (alias === undefined ? [name] : [name, alias])));
  for (const page of pages.filter((name) => name !== "CHANGELOG.md"))
    for (const [name] of read(page).matchAll(/\bAPP_[A-Z_]+[A-Z]\b/g)) assert.ok(known.has(name), `${page}: ${name}`);
});

test("every link leads to a file and a heading that exist", () => {
  for (const page of pages) {
    for (const { path, anchor } of linksOf(read(page))) {
      const target = path === "" ? page : join(dirname(page), path);
      assert.ok(existsSync(join(root, target)), `${page} links to ${target}`);
      if (anchor !== null) assert.ok(anchorsOf(read(target)).includes(anchor), `${page} links to ${target}#${anchor}`);
    }
  }
});

test("every file of the source that a page names exists", () => {
  for (const page of pages.filter((name) => name !== "CHANGELOG.md"))
    for (const [, isNew, path = ""] of read(page).matchAll(
      /(New file )?`((?:src|test|scripts|docs|web|deploy)\/[\w./-]+)`/g,
    ))
      assert.equal(existsSync(join(root, path)), isNew === undefined, `${page}: ${path}`);
});

test("every page can be reached from the README", () => {
  const seen = new Set<string>();
  const walk = (page: string): void => {
    if (seen.has(page) || !page.endsWith(".md")) return;
    seen.add(page);
    for (const { path } of linksOf(read(page))) if (path !== "") walk(join(dirname(page), path));
  };
  walk("README.md");
  assert.deepEqual(
    pages.filter((page) => !seen.has(page)),
    [],
  );
});
