/** Names that the pages mention and that the product must have: commands, options, calls, metrics, fields, tools. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { NAMES } from "../../src/api-client/names.ts";
import { REPEATABLE } from "../../src/api-client/operations.ts";
import { EVENTS } from "../../src/domain/run/event-catalogue.ts";
import { PROXY_STATES } from "../../src/domain/proxy/proxy-score.ts";
import { SITE_STATES } from "../../src/domain/site/site-states.ts";
import { WAIT_REASONS } from "../../src/domain/run/waiting.ts";
import { EXPORT_FORMATS } from "../../src/exporters/registry.ts";
import { TOOLS } from "../../src/mcp/tools/registry.ts";
import { OF_ARTICLES, OF_EVERY_PAGE } from "../../src/orchestrator/runs/flat-results.ts";
import { GENERAL, GO_TO, IN_LISTS } from "../../web/src/logic/shortcuts.ts";
import { filesIn, read, tableBelow } from "../support/source.ts";

/** What is made from the source needs no check, and decisions tell of what was. */
const GENERATED = new Set(["api-reference", "cli", "configuration", "errors", "events", "step-kinds"]);
const pages = ["README.md", "CONTRIBUTING.md", "SECURITY.md", ...filesIn("docs", ".md")].filter(
  (page) => !page.startsWith("docs/decisions/") && !GENERATED.has(page.replace(/^docs\/|\.md$/g, "")),
);
/** How pages quote a message of an event. */
const SENTENCE = /\*((?:Run|Feed|Sitemap|List|Step|Breaker|Site|Pagination) [a-z][\w ]+)\*/g;
const bare = (cell = "") => cell.replaceAll("`", "");
const codesIn = (text: string) => [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code);

/** The help of every command, by its words: `queue run`. */
const HELP = new Map(
  read("docs/cli.md")
    .split(/^#+ orb(?: |$)/m)
    .slice(1)
    .map((section) => {
      const end = section.indexOf("\n");
      return [section.slice(0, end).trim(), section] as const;
    }),
);

test("every command and option that a page names exists", () => {
  assert.ok(HELP.size > 80, `${HELP.size} commands`);
  const everywhere = HELP.get("") ?? "";
  for (const page of pages) {
    for (const [, line = ""] of read(page).matchAll(/(?:`|^|\$ |\.\/bin\/|"|\()orb ([a-z][^`\n|#]*)/gm)) {
      const words = line.split(/\s+/);
      const command = [2, 1].map((count) => words.slice(0, count).join(" ")).find((name) => HELP.has(name));
      assert.ok(command !== undefined, `${page}: orb ${line}`);
      // Options of a group belong to one of its commands.
      const help = [...HELP].filter(([name]) => name === command || name.startsWith(`${command} `));
      for (const [option] of line.matchAll(/(?<![\w-])--[a-z][a-z-]*/g)) {
        const known = help.some(([, text]) => text.includes(option)) || everywhere.includes(option);
        assert.ok(known, `${page}: orb ${command} has no ${option}`);
      }
    }
  }
});

test("every call of the API that a page names exists", () => {
  const described = [...read("docs/api-reference.md").matchAll(/^### ([A-Z]+) (\S+)/gm)].map(([, method, path]) => [
    method,
    path,
  ]);
  assert.ok(described.length > 80);
  // Pages, other protocols, and what describes the API itself.
  const others = ["/docs", "/openapi.json", "/admin/queues", "/mcp", "/v1", "/v2", "/live-views/{view_id}/socket"];
  const isKnown = (method: string, path: string) =>
    others.some((other) => path === other || path.startsWith(`${other}/`)) ||
    described.some(
      ([known, pattern = ""]) =>
        known === method && new RegExp(`^${pattern.replace(/\{\w+\}/g, "[^/]+").replaceAll(".", "\\.")}$`).test(path),
    );
  for (const page of pages)
    for (const code of codesIn(read(page)))
      for (const [, method = "", path = ""] of code.matchAll(/\b(GET|POST|PUT|PATCH|DELETE) (\/[\w{}/.:-]*)/g))
        assert.ok(isKnown(method, path), `${page}: ${method} ${path}`);
});

test("every metric that a page names is one of docs/monitoring.md", () => {
  const known = new Set(codesIn(read("docs/monitoring.md")));
  for (const page of pages)
    for (const code of codesIn(read(page)))
      for (const [name] of code.matchAll(/\b(?:orb|process)_[a-z]\w*(?<!_)/g))
        if (!name.startsWith("orb_up")) assert.ok(known.has(name), `${page}: ${name}`);
});

test("docs/crawling.md explains every reason for which work waits", () => {
  const section = read("docs/crawling.md").split("\n| `reason` | the site's tasks wait |\n")[1] ?? "";
  const rows = section.slice(0, section.indexOf("\n\n")).split("\n").slice(1);
  const reasons = rows.flatMap((row) => codesIn(row.split("|")[1] ?? ""));
  assert.deepEqual(reasons.toSorted(), WAIT_REASONS.toSorted());
});

test("docs/client.md lists every group and method of the client", () => {
  const told = tableBelow(read("docs/client.md"), "## Calls").map(([group, methods]) => [
    bare(group),
    bare(methods).split(" ").toSorted(),
  ]);
  const real = Object.entries(NAMES).map(([group, methods]) => [group, Object.keys(methods).toSorted()]);
  assert.deepEqual(told.toSorted(), real.toSorted());
});

test("docs/mcp.md lists every tool", () => {
  const told = tableBelow(read("docs/mcp.md"), "## The tools").map(([tool]) => bare(tool));
  assert.deepEqual(told.toSorted(), TOOLS.map(({ tool }) => tool.name).toSorted());
});

test("docs/exports.md lists every format, and the columns that rules cannot have", () => {
  const page = read("docs/exports.md");
  assert.deepEqual(
    tableBelow(page, "# Exports").map(([format]) => bare(format)),
    EXPORT_FORMATS,
  );
  const [, always = "", withArticle = ""] =
    /The taken names are ([^]*?), and with `"article": true` also ([^]*?)\.\n/.exec(page) ?? [];
  assert.deepEqual([codesIn(always), codesIn(withArticle)], [OF_EVERY_PAGE, OF_ARTICLES]);
});

test("docs/api.md names every call", () => {
  const page = read("docs/api.md");
  for (const [, path = ""] of read("docs/api-reference.md").matchAll(/^### [A-Z]+ (\S+)/gm)) {
    // Long addresses are shortened there (`…/cancel`), and crawls have a page of their own.
    const last = path.split("/").findLast((part) => !part.startsWith("{")) ?? "";
    assert.ok(path.startsWith("/scraping/") || page.includes(`/${last}`), path);
  }
});

test("docs/api.md names the lists whose limit has another default", () => {
  const odd: string[] = [];
  for (const section of read("docs/api-reference.md").split(/^### /m).slice(1)) {
    const [, rule = ""] = /^\| `limit` \| query \| ([^|]*?) \|/m.exec(section) ?? [];
    if (rule !== "" && rule !== "integer, 1 to 1000; default: 50")
      odd.push(`${section.slice(0, section.indexOf("\n"))}: ${rule.replace(/^integer, /, "")}`);
  }
  assert.deepEqual(odd.toSorted(), [
    "GET /jobs/runs/{run_id}/events: 1 to 1000; default: 200",
    "GET /jobs/{job_id}/runs: 1 to 100; default: 25",
    "GET /workflows/{workflow_id}/tasks: 1 to 1000; default: 1000",
  ]);
  const said = "Defaults that differ: 25 runs of a job (100 at most), 200 events of a run, 1000 steps of a workflow.";
  assert.ok(read("docs/api.md").replace(/\s+/g, " ").includes(said));
});

test("docs/client.md names every call that is repeated under an idempotency key", () => {
  const [, list = ""] = /supports idempotency keys: ([^]*?)\. It generates/.exec(read("docs/client.md")) ?? [];
  const routeOf = (name: string) => {
    const [group = "", method = ""] = name.split(".");
    return (NAMES as Record<string, Record<string, string>>)[group]?.[method] ?? name;
  };
  assert.deepEqual(codesIn(list).map(routeOf).toSorted(), [...REPEATABLE].toSorted());
});

test("docs/dashboard.md has the keys of the dashboard", () => {
  const page = read("docs/dashboard.md");
  const keys = tableBelow(page, "## Keys").flatMap(([cell = ""]) => codesIn(cell));
  const known = [...GO_TO, ...GENERAL, ...IN_LISTS].flatMap(({ keys }) => keys.split(" "));
  assert.deepEqual([...new Set(keys), "?"].toSorted(), [...new Set(known)].toSorted());
});

test("events that pages name are in the catalogue, and the sentences that they quote are written somewhere", () => {
  const written = [...filesIn("src", ".ts"), ...filesIn("web/src", ".tsx")].map(read).join("\n");
  const subjects = new Set(Object.keys(EVENTS).map((type) => type.split(".")[0]));
  for (const page of pages) {
    for (const type of codesIn(read(page)).filter((code) => /^[a-z]+\.[a-z]+_?[a-z_]*ed$/.test(code)))
      if (subjects.has(type.split(".")[0]) && !page.endsWith("firecrawl.md"))
        assert.ok(type in EVENTS, `${page}: ${type}`);
    for (const [, name = ""] of read(page).matchAll(SENTENCE)) assert.ok(written.includes(name), `${page}: ${name}`);
  }
});

test("docs/sites.md and docs/proxies.md list every state", () => {
  const states = (page: string, heading: string) => tableBelow(read(page), heading).map(([state]) => bare(state));
  assert.deepEqual(states("docs/sites.md", "## Status of a site").toSorted(), [...SITE_STATES, "idle"].toSorted());
  assert.deepEqual(states("docs/proxies.md", "## The pool").toSorted(), PROXY_STATES.toSorted());
});

test("what pages call a button, a tab or a notice is in the dashboard", () => {
  const shown = filesIn("web/src", ".tsx").concat(filesIn("web/src", ".ts")).map(read).join("\n");
  let names = 0;
  for (const page of pages) {
    const prose = read(page)
      .replace(/^```[^]*?^```$/gm, "")
      .replace(/`[^`\n]*`|\*\*[^*]+\*\*/g, "");
    for (const [, name = ""] of prose.matchAll(/(?<![\w*|])\*([A-Z][^*\n]{1,60})\*(?!\*)/g)) {
      // Questions, ways through other programs, and a kind of figures.
      if (/\?$|→|^(?:Simulated|Security)$/.test(name) || `*${name}*`.search(SENTENCE) === 0) continue;
      names += 1;
      assert.ok(shown.includes(name), `${page}: ${name}`);
    }
  }
  assert.ok(names > 15, `${names} names`);
});
