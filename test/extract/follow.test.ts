import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { LeftLink } from "../../src/domain/crawl/crawl-skips.ts";
import { type FollowOrder, LinkFinder, LinkFinders } from "../../src/extract/follow.ts";
import { parsePage } from "../../src/extract/page.ts";
import { compilePlan } from "../../src/extract/plan.ts";
import { type Judge, readPage } from "../../src/extract/reading.ts";

const START = "https://shop.example/";
const SCOPE = JSON.stringify({ url: START });

function order(more: Partial<FollowOrder> = {}): FollowOrder {
  return { crawl: "one", scope: SCOPE, all: false, tooDeep: false, ...more };
}

const factsOf = (body: string, url: string) => parsePage({ body, contentType: "text/html", url }).facts;
const links = (...hrefs: string[]) => hrefs.map((href) => `<a href="${href}">x</a>`).join(" ");

function found(finder: LinkFinder, body: string, asked: FollowOrder, url = START): string[] {
  return finder.find(factsOf(body, url), asked).map((link) => link.url.replace(START, "/"));
}

/** They are in the store from now on. */
function keep(finder: LinkFinder, body: string): void {
  for (const { key } of finder.find(factsOf(body, START), order())) finder.keep(key);
}

describe("the links that a crawl follows", () => {
  it("are told once for all ways to write them, until they are in the store", () => {
    const finder = new LinkFinder(SCOPE);
    const written = links("a", "/a", "https://shop.example/a", "./a#part", "//shop.example/a", " a ", "x/../a");
    assert.deepEqual(found(finder, written, order()), ["/a"]);
    assert.deepEqual(found(finder, written, order()), ["/a"], "whoever told it first may not have come to write it");
    keep(finder, links("/a"));
    assert.deepEqual(found(finder, written, order()), []);
  });

  it("are not told by a finder that learns of them before it meets them", () => {
    const [one, other] = [new LinkFinder(SCOPE), new LinkFinder(SCOPE)];
    const [link] = one.find(factsOf(links("/a"), START), order());
    other.keep(link!.key);
    assert.deepEqual(found(other, links("/a", "/b"), order()), ["/b"]);
    assert.deepEqual(found(other, links("/a"), order({ all: true })), ["/a"]);
  });

  it("mean what they mean on their page: a relative one leads elsewhere from another folder", () => {
    const finder = new LinkFinder(SCOPE);
    assert.deepEqual(found(finder, links("p", "?q=1", "../up"), order(), `${START}one/two/page`), [
      "/one/two/p",
      "/one/two/page?q=1",
      "/one/up",
    ]);
    keep(finder, links("/one/up"));
    assert.deepEqual(found(finder, links("p", "?q=1", "../up"), order(), `${START}one/three/other`), [
      "/one/three/p",
      "/one/three/other?q=1",
    ]);
    assert.deepEqual(found(finder, `<base href="/far/"><a href="p">x</a>`, order(), `${START}one/two/page`), [
      "/far/p",
    ]);
  });

  it("are also the pages in its frames, and where it refreshes to", () => {
    const frames = `<html><head><title>Manual</title></head><frameset cols="20%,80%">
      <frame src="toc.html"><frame src="cover.html#top"></frameset></html>`;
    assert.deepEqual(found(new LinkFinder(SCOPE), frames, order()), ["/toc.html", "/cover.html"]);
    const inline = `<p><iframe src="/part">no frames</iframe><iframe src="about:blank"></iframe><iframe src=""></iframe>
      <iframe src="https://ads.example/"></iframe><iframe srcdoc="<p>x"></iframe></p>`;
    assert.deepEqual(found(new LinkFinder(SCOPE), inline, order()), ["/part"]);
    const refresh = (content: string) =>
      found(new LinkFinder(SCOPE), `<meta http-equiv="Refresh" content="${content}"><p>moved</p>`, order());
    for (const content of ["0; URL=to", "0;url='to'", "3,to", " 0.5 ; url = &quot;to&quot; ;", "0 to", ".;to"])
      assert.deepEqual(refresh(content), ["/to"], content);
    for (const content of ["30", "", "soon; url=to", "0; url=", "0; url=javascript:to()"])
      assert.deepEqual(refresh(content), [], content);
    const nofollow = `<meta name="robots" content="nofollow"><meta http-equiv="refresh" content="0; url=to">`;
    assert.deepEqual(found(new LinkFinder(SCOPE), nofollow, order()), []);
  });

  it("are some twenty thousand of one page at most, and the others may be found on another [slow]", () => {
    const finder = new LinkFinder(SCOPE);
    const many = Array.from({ length: 20_100 }, (_, n) => `/${n}`);
    assert.deepEqual(found(finder, links(...many), order()), many.slice(0, 20_000));
    keep(finder, links(...many));
    assert.deepEqual(found(finder, links("/7", "/20050"), order()), ["/20050"]);
  });

  it("are those in scope that nobody asks not to follow", () => {
    const finder = new LinkFinder(SCOPE);
    const body = `${links("/a", "mailto:a@shop.example", "javascript:void(0)", "#here", "https://other.example/", "/film.mp4")}
      <a rel="external nofollow" href="/b">x</a><template><a href="/c">x</a></template><a>no address</a>`;
    assert.deepEqual(found(finder, body, order()), ["/a"]);
    assert.deepEqual(found(finder, links("/b", "/c"), order()), ["/b", "/c"], "elsewhere they are links like others");
    assert.deepEqual(found(finder, `<meta name="robots" content="nofollow">${links("/d")}`, order()), []);
  });

  it("are all told to whoever wants all of them", () => {
    const finder = new LinkFinder(SCOPE);
    keep(finder, links("/a", "/b"));
    assert.deepEqual(found(finder, links("/a", "/b", "/a"), order({ all: true })), ["/a", "/b"]);
  });

  it("are known to each crawl for itself, as long as its scope is the same", () => {
    const finders = new LinkFinders();
    keep(finders.of(order()), links("/a"));
    assert.deepEqual(found(finders.of(order()), links("/a"), order()), []);
    assert.deepEqual(found(finders.of(order({ crawl: "two" })), links("/a"), order()), ["/a"]);
    const wider = JSON.stringify({ url: [START, "https://other.example/"] });
    assert.deepEqual(found(finders.of(order({ scope: wider })), links("/a"), order()), ["/a"]);
  });

  it("of a page that is as deep as the crawl goes are only a few that nobody has found, and stay unknown", () => {
    const finder = new LinkFinder(SCOPE);
    keep(finder, links("/a"));
    const many = links("/a", ...Array.from({ length: 50 }, (_, index) => `/deep/${index}`));
    const deep = found(finder, many, order({ tooDeep: true }));
    assert.deepEqual(deep, ["/deep/0", "/deep/1", "/deep/2", "/deep/3", "/deep/4"]);
    assert.equal(found(finder, many, order()).length, 50);
  });
});

describe("the links that a crawl leaves", () => {
  const scope = JSON.stringify({ url: START, include: ["/2026/**"], exclude: ["/2026/print/**"] });
  const left = (body: string, finder = new LinkFinder(scope)) => {
    const list: LeftLink[] = [];
    finder.find(factsOf(body, START), order({ scope }), list);
    return list;
  };

  it("are told once, with why", () => {
    const finder = new LinkFinder(scope);
    const body = links("/a", "https://other.example/", "mailto:a@shop.example", "/2026/print/a", "/2026/a");
    assert.deepEqual(
      left(body, finder).map(({ why }) => why),
      ["not_included", "other_site", "excluded"],
    );
    assert.deepEqual(left(body, finder), []);
  });

  it("are told apart from pagination, by rel, address and text", () => {
    const isNext = (link: string) => left(link)[0]?.next?.url;
    for (const link of [
      '<a rel="next" href="/more">m</a>',
      '<a href="/blog/page/2/">x</a>',
      '<a href="/list?page=2">x</a>',
      '<a href="/more">Next »</a>',
      '<a href="/more">Older posts</a>',
      '<a href="/more"><span>›</span></a>',
      '<a href="/more" aria-label="Next page"><svg></svg></a>',
      '<a href="/b/3">3</a>',
    ])
      assert.ok(isNext(link) !== undefined, link);
    for (const link of [
      '<a href="/about">About</a>',
      '<a href="/y/2025">2025</a>',
      '<a href="/chapter">7</a>',
      '<a href="/story">Next year brings more of the same, says a forecast</a>',
      '<a href="https://other.example/page/2">Next</a>',
    ])
      assert.equal(isNext(link), undefined, link);
    assert.equal(left('<a rel="next" href="/2026/print/2">n</a>')[0]?.next?.pattern, "/2026/print/**");
  });
});

describe("a page that is not what was asked for", () => {
  const judge: Judge = { status: 200, headers: {}, url: START, shells: true };
  const read = (body: string, judged: Judge = judge, fields: unknown = null) =>
    readPage(
      { body, contentType: "text/html", url: START },
      compilePlan({ fields }),
      { judge: judged, follow: order() },
      new LinkFinders(),
    ).follow.length;

  it("gives no links, so that it does not keep other pages from giving them", () => {
    const shell = `<div id="root"></div>${links("/a")}<script src="/app.js"></script>`;
    assert.equal(read(links("/a")), 1);
    assert.equal(read(links("/a"), { ...judge, status: 404 }), 0);
    assert.equal(read(links("/a"), { ...judge, headers: { "x-robots-tag": "noindex, nofollow" } }), 0);
    assert.equal(read(links("/a"), { ...judge, headers: { "cf-mitigated": "challenge" } }), 0);
    assert.equal(read(shell), 0);
    assert.equal(read(shell, { ...judge, shells: false }), 1);
    assert.equal(read(links("/a"), judge, { price: { css: ".price", required: true } }), 1, "it may be a list");
  });
});
