import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { changesBy, merged } from "../../web/src/pages/new/logic/conflict.ts";
import { snippetsOf } from "../../web/src/pages/new/logic/new-commands.ts";
import { EMPTY, type Form, jobOrderOf } from "../../web/src/pages/new/logic/new-form.ts";
import { formOf } from "../../web/src/pages/new/logic/new-prefill.ts";
import { newAction } from "../../web/src/pages/new/logic/page-options.ts";
import { originTyped, sessionChoices, signInHelp } from "../../web/src/logic/sessions.ts";

const session = (id: string, origin: string, more: object = {}) => ({ id, name: id, origin, health: null, ...more });

describe("sessions in forms", { concurrency: true }, () => {
  it("offers those of the page's origin, and keeps what was chosen in sight", () => {
    const all = [
      session("shop", "https://shop.example", { health: { status: "rejected" } }),
      session("news", "https://news.example"),
    ];
    const names = (urls: string[], chosen = "") => sessionChoices(all, urls, chosen).map(({ name }) => name);
    const none = "No session";
    assert.deepEqual(names([]), [none, "shop (expired)", "news"]);
    assert.deepEqual(names(["https://news.example/a"]), [none, "news"]);
    assert.deepEqual(names(["https://shop.example/"], "news"), [
      none,
      "shop (expired)",
      "news (only for https://news.example)",
    ]);
    assert.deepEqual(names(["https://news.example/"], "gone"), [none, "news", "gone (deleted)"]);
  });

  it("a run that met a sign-in is led to the session that it used, to one that the site has, or to a new one", () => {
    const run = { id: "r1", url: "https://shop.example/orders" };
    const shop = session("shop", "https://shop.example");
    const expired = session("old", "https://shop.example", { health: { status: "rejected" } });
    const news = session("news", "https://news.example");
    const add = {
      href: "/settings?tab=sessions&page=https%3A%2F%2Fshop.example%2Forders",
      words: "Add a session to sign in",
    };
    assert.deepEqual(signInHelp(run, [], null), add);
    assert.deepEqual(signInHelp(run, [news], null), add);
    assert.deepEqual(signInHelp(run, [news, expired, shop], null), {
      href: "/new?from=r1&session=shop",
      words: "Run again with session shop",
    });
    assert.deepEqual(signInHelp(run, [expired], null), {
      href: "/settings?tab=sessions&session=old",
      words: "Session old has expired: show it",
    });
    assert.deepEqual(signInHelp(run, [shop], "shop"), {
      href: "/settings?tab=sessions&session=shop",
      words: "Session shop was rejected: show it",
    });
    assert.deepEqual(signInHelp(run, [], "deleted"), add);
  });

  it("takes an address for its origin", () => {
    assert.equal(originTyped(" https://shop.example/account?x=1 "), "https://shop.example");
    assert.equal(originTyped("shop.example"), "https://shop.example");
    assert.equal(originTyped("a b"), "a b");
  });

  it("sends the session of a crawl and of a page, and takes it away when it is emptied", () => {
    for (const kind of ["crawl", "scrape"] as const) {
      const form: Form = { ...EMPTY, kind, url: "https://shop.example/", session: "an-id" };
      const { body } = jobOrderOf(form);
      const part = (kind === "crawl" ? body["crawl"] : body) as Record<string, unknown>;
      assert.equal(part["session_id"], "an-id");
      assert.equal(formOf({ kind: kind === "crawl" ? "crawl" : "page", ...body }).session, "an-id");
      const emptied = jobOrderOf({ ...form, session: "" }, { changes: true }).body;
      assert.equal(((kind === "crawl" ? emptied["crawl"] : emptied) as Record<string, unknown>)["session_id"], null);
    }
  });

  it("a secret text is sent as it is typed, kept as it is stored, and stands in no command", () => {
    const actions = [newAction(1, { kind: "write", text: "pass-word", secret: true })];
    const form: Form = { ...EMPTY, kind: "scrape", url: "https://shop.example/", actions };
    const sent = (typed: Form) => (jobOrderOf(typed).body["browser"] as { actions: unknown[] }).actions;
    assert.deepEqual(sent(form), [{ type: "write", text: "pass-word", secret: true }]);
    const stored = formOf({ browser: { actions: [{ type: "write", text: "***", secret: true }] } });
    assert.equal(stored.actions[0]?.text, "");
    assert.deepEqual(sent(stored), [{ type: "write", text: "***", secret: true }]);
    const commands = snippetsOf(form, { origin: "http://127.0.0.1:8000", needsToken: false });
    assert.doesNotMatch(JSON.stringify(commands), /pass-word/);
  });
});

describe("two who change one job", { concurrency: true }, () => {
  const base: Form = { ...EMPTY, url: "https://a.example/", pages: "10", depth: "1" };

  it("are shown what the other has changed, and whether both changed it", () => {
    const changes = changesBy(base, { ...base, pages: "50", depth: "2", sitemap: true }, { ...base, pages: "20" });
    assert.deepEqual(
      changes.map(({ name, before, after, isContested }) => [name, before, after, isContested]),
      [
        ["Depth", "1", "2", false],
        ["Pages", "10", "50", true],
        ["Also start from the sitemap", "No", "Yes", false],
      ],
    );
  });

  it("have both changes put together; where both changed a field, the own one stays", () => {
    const both = merged(base, { ...base, pages: "50", depth: "2" }, { ...base, pages: "20", tags: "x" });
    assert.deepEqual([both.pages, both.depth, both.tags], ["20", "2", "x"]);
  });
});
