import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { ADMIN, OPERATOR, ROUTES } from "../../src/api-client/operations.ts";
import { refusalOf, type Rights, roleOf } from "../../web/src/logic/rights.ts";
import {
  actionText,
  hrefOf,
  nameOf,
  queryOf,
  readFilter,
  shortId,
  valueText,
  writeFilter,
} from "../../web/src/pages/settings/access/audit-log.ts";
import {
  bodyOf,
  changeOf,
  type Key,
  missingOf,
  NEW_KEY,
  typedOf,
} from "../../web/src/pages/settings/access/key-form.ts";
import { root } from "../support/source.ts";

const rights = (role: Rights["role"], more: Partial<Rights> = {}): Rights => ({
  name: "k",
  role,
  jobs: null,
  sites: null,
  tags: null,
  ...more,
});

describe("what the signed-in caller may do", () => {
  test("follows from the roles that the API declares", () => {
    assert.deepEqual([roleOf("listRuns"), roleOf("cancelRun"), roleOf("createKey")], ["viewer", "operator", "admin"]);
    assert.equal(refusalOf(rights("viewer"), "listRuns"), null);
    assert.match(refusalOf(rights("viewer"), "cancelRun") ?? "", /role operator or admin\. Your role is viewer\./);
    assert.match(
      refusalOf(rights("operator"), "createKey") ?? "",
      /^Only for the role admin\. Your role is operator\.$/,
    );
    assert.equal(refusalOf(rights("admin"), "createKey"), null);
    assert.equal(refusalOf(null, "createKey"), null, "not known yet: the server decides");
    const limited = rights("operator", { tags: ["shop"] });
    assert.match(refusalOf(limited, "getOverview") ?? "", /limited to some jobs, sites or tags/);
    assert.equal(refusalOf(limited, "listRuns"), null);
  });
});

/** Calls that belong to an action that is gated by another one. */
const WITH_ANOTHER: Readonly<Record<string, string>> = {
  // Offered by the form of a channel, which only who may read channels sees.
  createChannel: "listChannels",
  updateChannel: "listChannels",
  deleteChannel: "listChannels",
  testChannel: "listChannels",
  // Offered in an open live view.
  saveLiveView: "openLiveView",
  closeLiveView: "openLiveView",
};

test("every call of a page that not everybody may make is named by the control that makes it", () => {
  const folder = join(root, "web/src");
  const texts = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => readFileSync(join(folder, name), "utf8"));
  const all = texts.join("\n");
  const called = new Set([...all.matchAll(/\b(?:useChange|call)\(\s*"(\w+)"/g)].map(([, name]) => name ?? ""));
  const gated = [...called].filter((name) => {
    const route = ROUTES[name as keyof typeof ROUTES];
    return route !== undefined && (OPERATOR.has(route) || ADMIN.has(route)) && !route.startsWith("get ");
  });
  assert.ok(gated.length > 45, `${gated.length} calls`);
  // By a property, in a list of entries, or in a table of names.
  const named = (name: string) => new RegExp(`needs(?:=|: )"${name}"|: "${name}"[ ,}]`).test(all);
  assert.deepEqual(
    gated.filter((name) => !named(WITH_ANOTHER[name] ?? name)),
    [],
  );
});

describe("the form of a key", () => {
  test("makes the body of the call", () => {
    const now = Date.UTC(2030, 0, 1);
    assert.deepEqual(bodyOf({ ...NEW_KEY, name: " ci " }, now), {
      name: "ci",
      role: "operator",
      jobs: null,
      sites: null,
      tags: null,
      requests_per_minute: null,
      expires_at: "2030-04-01T00:00:00.000Z",
    });
    const limited = bodyOf(
      { ...NEW_KEY, name: "a", jobs: ["1"], sites: "a.example, b.example\nc.example", tags: "big shop, x", rate: "60" },
      now,
    );
    assert.deepEqual(
      [limited.jobs, limited.sites, limited.tags, limited.requests_per_minute],
      [["1"], ["a.example", "b.example", "c.example"], ["big shop", "x"], 60],
    );
    const admin = bodyOf({ ...NEW_KEY, name: "a", role: "admin", sites: "a.example", expires: "" }, now);
    assert.deepEqual(admin, { name: "a", role: "admin", requests_per_minute: null, expires_at: null });
    const day = bodyOf({ ...NEW_KEY, name: "a", expires: "on", date: "2030-02-03" }, now).expires_at ?? "";
    const until = new Date(day);
    assert.deepEqual([until.getFullYear(), until.getMonth(), until.getDate(), until.getHours()], [2030, 1, 3, 23]);
  });

  test("says what is missing", () => {
    assert.equal(missingOf(NEW_KEY), "Enter a name.");
    assert.equal(missingOf({ ...NEW_KEY, name: "a", expires: "on" }), "Choose the date.");
    assert.equal(missingOf({ ...NEW_KEY, name: "a" }), null);
    assert.equal(missingOf({ ...NEW_KEY, name: "a", rate: "60" }), null);
    assert.match(missingOf({ ...NEW_KEY, name: "a", rate: "60/min" }) ?? "", /^Enter a whole number/);
  });

  test("sends only what was changed, also of a key with names that the form cannot show", () => {
    const key = { name: " ci", role: "operator", jobs: null, sites: null, tags: ["a,b"] } as const;
    const stored = { ...key, requests_per_minute: 5, expires_at: null } as unknown as Key;
    const typed = typedOf(stored);
    assert.deepEqual(changeOf(stored, typed, 0), {});
    assert.deepEqual(changeOf(stored, { ...typed, name: "nightly" }, 0), { name: "nightly" });
    assert.deepEqual(changeOf(stored, { ...typed, tags: "c", rate: "" }, 0), {
      tags: ["c"],
      requests_per_minute: null,
    });
    assert.deepEqual(changeOf(stored, { ...typed, role: "admin" }, 0), { role: "admin", tags: null });
  });
});

describe("the audit log of the dashboard", () => {
  test("keeps its filters in the address, beside the tab", () => {
    const search = new URLSearchParams("tab=audit&actor=ci&since=2030-01-31&until=2030-01-31");
    const filter = readFilter(search);
    const query = queryOf(filter);
    assert.equal(query["actor"], "ci");
    assert.equal(Date.parse(query["until"]!) - Date.parse(query["since"]!), 86_400_000, "the day itself");
    assert.equal(writeFilter(search, { ...filter, actor: "", action: "job" }).get("tab"), "audit");
    assert.equal(writeFilter(search, { ...filter, actor: "" }).has("actor"), false);
    assert.deepEqual(queryOf(readFilter(new URLSearchParams("since=never"))), {});
  });

  test("names actions, links objects, and shows values", () => {
    assert.equal(actionText("job.schedule_paused"), "Job schedule paused");
    assert.equal(hrefOf({ kind: "job", id: "a b" }), "/new?job=a%20b");
    assert.equal(hrefOf({ kind: "elsewhere", id: "1" }), null);
    assert.equal(hrefOf({ kind: "job", id: null }), null);
    assert.deepEqual(
      [valueText(null), valueText(""), valueText([{ a: 1 }])],
      ["–", "(empty)", '[\n  {\n    "a": 1\n  }\n]'],
    );
    assert.deepEqual([valueText([]), valueText(["a", 1])], ["(empty)", "a, 1"]);
  });
});

test("an object of the audit log shows the end of its id, where ids of one moment differ, and its name", () => {
  const [one, two] = ["01890a5d-ac96-774b-bcce-b302099a8057", "01890a5d-ac96-774b-bcce-b302099a8058"];
  assert.deepEqual([shortId(one), shortId(two)], ["0189…099a8057", "0189…099a8058"]);
  assert.equal(shortId("shop.example"), "shop.example");
  const change = (before: string | null, after: string | null) => ({ changes: [{ path: "name", before, after }] });
  assert.deepEqual(
    [nameOf(change(null, "ci")), nameOf(change("old", "new")), nameOf(change("gone", null)), nameOf({ changes: [] })],
    ["ci", "new", "gone", null],
  );
});
