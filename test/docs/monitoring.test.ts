import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { TestServer } from "../jobs/kit.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { page, status } from "../support/misbehaviours.ts";
import { root } from "../support/source.ts";

interface Panel {
  type: string;
  title: string;
  id: number;
  gridPos: { h: number; w: number; x: number; y: number };
  targets?: { expr: string; refId: string }[];
}

interface Dashboard {
  uid: string;
  schemaVersion: number;
  panels: Panel[];
  templating: { list: { name: string; query: string | { query: string } }[] };
}

/** Every series by its name: its labels. */
type Series = Map<string, Record<string, string>[]>;

function seriesIn(text: string): Series {
  const series: Series = new Map();
  for (const line of text.split("\n")) {
    const [, name, labels = ""] = /^([a-z_0-9]+)(?:\{(.*)\})? /.exec(line) ?? [];
    if (name === undefined) continue;
    const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, value]) => [label, value]);
    series.set(name, [...(series.get(name) ?? []), Object.fromEntries(pairs) as Record<string, string>]);
  }
  return series;
}

const read = (name: string) => readFileSync(join(root, "docs", name), "utf8");

describe("what is told about monitoring is what a server tells", () => {
  let server: TestServer;
  let site: MisbehavingSite;
  let series: Series;
  before(async () => {
    site = await MisbehavingSite.start({ "/good": page("fine"), "/bad": status(500) });
    // It is never asked; but what is counted of it is there.
    server = await TestServer.open({ APP_LLM_URL: "http://127.0.0.3:9/v1" });
    const recipe = { strategy: "http", escalate: false, max_attempts: 1 } as const;
    await server.run({ target_url: site.url("/good"), ...recipe });
    await server.run({ target_url: site.url("/bad"), ...recipe });
    // A site with open work, which stays open.
    const name = encodeURIComponent(new URL(site.url("/")).host);
    assert.equal((await server.api.post(`/sites/${name}/pause`)).status, 200);
    await server.begin({ target_url: site.url("/good"), ...recipe });
    series = seriesIn((await server.api.get("/metrics")).text);
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  test("every query of the dashboard asks for something that is there", () => {
    const dashboard = JSON.parse(read("grafana-dashboard.json")) as Dashboard;
    const queries = dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
    assert.ok(queries.length >= 20);
    for (const { title, expr } of queries) {
      const uses = [...expr.matchAll(/\b((?:orb|process)_[a-z_0-9]+)(?:\{([^}]*)\})?/g)];
      assert.ok(uses.length > 0, `${title} asks for something`);
      for (const [, name = "", selector = ""] of uses) {
        const found = series.get(name);
        assert.ok(found !== undefined, `${title}: there is no ${name}`);
        for (const [, label = "", sign, value = ""] of selector.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)) {
          if (label === "job") continue;
          const values = found.map((labels) => labels[label]);
          assert.ok(
            values.every((one) => one !== undefined),
            `${title}: ${name} has no label ${label}`,
          );
          if (sign === "=~" || sign === "=")
            for (const word of value.split("|")) assert.ok(values.includes(word), `${title}: no ${label} is ${word}`);
        }
        for (const [, list = ""] of expr.matchAll(/ by \(([^)]*)\) /g))
          for (const label of list.split(", "))
            assert.ok(label === "le" || label in (found[0] ?? {}), `${title}: ${name} has no label ${label}`);
      }
    }
  });

  test("the dashboard can be imported: places, ids and variables are in order", () => {
    const { panels, templating, uid, schemaVersion } = JSON.parse(read("grafana-dashboard.json")) as Dashboard;
    assert.deepEqual([uid, schemaVersion], ["orbweaver", 39]);
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
    assert.deepEqual(
      templating.list.map(({ name }) => name),
      ["datasource", "job"],
    );
    const taken = new Set<string>();
    for (const {
      title,
      gridPos: { x, y, w, h },
    } of panels) {
      assert.ok(x + w <= 24, title);
      for (let column = x; column < x + w; column += 1)
        for (let line = y; line < y + h; line += 1) {
          assert.ok(!taken.has(`${column} ${line}`), `${title} lies on another panel`);
          taken.add(`${column} ${line}`);
        }
    }
    const titles = panels.map(({ title }) => title.toLowerCase()).join();
    for (const word of ["runs", "sites", "proxies", "workers", "attempts", "errors", "latency", "queue"])
      assert.ok(titles.includes(word), word);
  });

  test("docs/monitoring.md names every metric and every check, and no others", async () => {
    const doc = read("monitoring.md");
    const table = doc.slice(doc.indexOf("| metric |"));
    const told = new Set([...table.matchAll(/`((?:orb|process)_[a-z_0-9]+)`/g)].map(([, name]) => name));
    const real = new Set([...series.keys()].map((name) => name.replace(/(_seconds)_(?:bucket|sum|count)$/, "$1")));
    // Exported only where remote browsers are configured.
    for (const name of ["orb_remote_browser_up", "orb_remote_browser_pages"]) assert.ok(told.delete(name), name);
    assert.deepEqual([...told].toSorted(), [...real].toSorted());
    const { checks } = (await server.api.get("/ready")).json<{ checks: { name: string }[] }>();
    for (const { name } of checks) assert.match(doc, new RegExp(`^\\| \`${name}\` \\|`, "m"));
  });
});
