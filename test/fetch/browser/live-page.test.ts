import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { systemClock } from "../../../src/base/clock.ts";
import { LivePage, type LivePageOptions } from "../../../src/fetch/live/live-page.ts";
import type { CastFrame } from "../../../src/fetch/live/screencast.ts";
import { parseAddressPolicy } from "../../../src/net/address.ts";
import { browserGate, CANARY, SITE, startBrowser, type TestBrowser, webSite } from "../../support/browser-kit.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { startProxies } from "../../support/proxies.ts";
import { startRemoteChromium } from "../../support/remote-browser.ts";
import { treeOf } from "./processes.ts";

const CLICK = `<title>Page</title><body style="height:100vh;margin:0" onclick="fetch('/did?' + event.clientX + ',' + event.clientY)">`;

/** A live page, with what it says. */
class Watched implements AsyncDisposable {
  page!: LivePage;
  readonly notices: string[] = [];
  readonly frames: CastFrame[] = [];
  #looks: (() => void)[] = [];

  static async open({ pool }: TestBrowser, url: string, more: Partial<LivePageOptions> = {}): Promise<Watched> {
    const watched = new Watched();
    const look = () => watched.#looks.forEach((one) => one());
    watched.page = await LivePage.open({
      pool,
      clock: systemClock,
      policy: parseAddressPolicy([`${SITE}/32`]),
      url,
      credentials: null,
      mobile: false,
      records: false,
      waitMs: PATIENCE_MS,
      navigationMs: PATIENCE_MS,
      on: {
        frame: (frame) => {
          watched.frames.push(frame);
          look();
        },
        changed: look,
        notice: (text) => {
          watched.notices.push(text);
          look();
        },
        did: () => {},
      },
      ...more,
    });
    watched.page.watch(true);
    return watched;
  }

  async until(isIt: () => boolean): Promise<void> {
    while (!isIt()) await new Promise<void>((resolve) => this.#looks.push(resolve));
  }

  click(x: number, y: number): void {
    const mouse = { type: "mouse", x, y, modifiers: 0 } as const;
    this.page.input({ ...mouse, event: "down", button: "left", buttons: 1, clicks: 1 });
    this.page.input({ ...mouse, event: "up", button: "left", buttons: 0, clicks: 1 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.close();
  }
}

describe("a live page", browserGate, () => {
  it("lives in a remote browser, behind the guarding proxy, and leaves nothing there", async () => {
    await using remote = await startRemoteChromium();
    await using site = await webSite({ "/": CLICK });
    await using canary = await webSite({}, CANARY);
    await using browser = startBrowser({ remote: { urls: [remote.url], local: false, maxPages: 2, trusted: false } });
    const before = treeOf(remote.pid).length;
    {
      await using watched = await Watched.open(browser, site.url("/"));
      await watched.until(() => watched.frames.length > 0 && watched.page.tabs[0]?.title === "Page");
      watched.click(300, 200);
      await site.hit("/did?300,200");
      watched.page.steer({ type: "navigate", url: canary.url("/") });
      await watched.until(() => watched.notices.length > 0);
      assert.match(watched.notices.join(), /not on the public internet/);
      assert.equal(canary.connections, 0);
      assert.equal(browser.pool.browserPid, null);
    }
    assert.ok(before > 0 && treeOf(remote.pid).length > 0, "the browser goes on without us");
  });

  it("goes through the proxy of its run, as all its windows do", async () => {
    await using proxies = await startProxies([{ kind: "socks5" }]);
    const [proxy] = proxies.all;
    await using site = await webSite({
      "/": `<title>Page</title><body style="height:100vh;margin:0" onclick="window.open('/window')">`,
      "/window": "<title>Window</title>",
    });
    const policy = parseAddressPolicy([`${SITE}/32`, "127.0.0.1/32"]);
    await using browser = startBrowser({ policy });
    await using watched = await Watched.open(browser, site.url("/"), { via: proxy!.upstream, policy });
    await watched.until(() => watched.page.tabs[0]?.title === "Page");
    watched.click(100, 100);
    await watched.until(() => watched.page.tabs.some(({ title, isShown }) => title === "Window" && isShown));
    const through = proxy!.seen.flatMap(({ requests }) => requests);
    for (const path of ["/", "/window"]) assert.ok(through.includes(`GET ${path} HTTP/1.1`), through.join());
  });

  it("frees its place in the pool when it closes, and rejects when its browser dies", async () => {
    await using site = await webSite({ "/": CLICK });
    await using browser = startBrowser({ maxPages: 1 });
    const first = await Watched.open(browser, site.url("/"));
    await assert.rejects(Watched.open(browser, site.url("/"), { waitMs: 1 }), /all pages of the browser are in use/);
    await first.page.close();
    const second = await Watched.open(browser, site.url("/"));
    process.kill(browser.pool.browserPid!, "SIGKILL");
    await assert.rejects(second.page.ended, /the browser exited/);
  });
});
