import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { silentLog } from "../../../src/base/log.ts";
import { PageFailure } from "../../../src/fetch/page.ts";
import {
  browserGate,
  html,
  type Route,
  SITE,
  startBrowser,
  type TestBrowser,
  webSite,
} from "../../support/browser-kit.ts";
import { failureOf } from "../../support/net.ts";
import { somePort } from "../../support/services.ts";
import { root } from "../../support/source.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { eventually, isAlive, profileFolders, renderersOf, treeOf } from "./processes.ts";

const PAGE = "<p>This sentence is long enough to be taken for the content of a page.</p>";
const ENDLESS = `${PAGE}<script>fetch("/spinning"); while (true) {}</script>`;
const never: Route = () => {};

describe("a browser", browserGate, () => {
  it("that is killed fails its pages as crashed, and the next fetch gets a new one", async () => {
    const folders = profileFolders();
    await using site = await webSite({ "/": PAGE, "/hold": never });
    await using browser = startBrowser();
    const held = ["/hold?1", "/hold?2"].map((path) => failureOf(browser.fetch(site.url(path))));
    await Promise.all([site.hit("/hold?1"), site.hit("/hold?2")]);
    const first = browser.pool.browserPid!;
    process.kill(first, "SIGKILL");
    for (const failure of await Promise.all(held)) assert.equal(failure.reason, "browser_crashed");
    assert.equal((await browser.fetch(site.url("/"))).status, 200);
    assert.notEqual(browser.pool.browserPid, first);
    await browser.pool.close();
    assert.equal(isAlive(first), false);
    await eventually("the profiles are gone", () => profileFolders().every((name) => folders.includes(name)));
  });

  it("that hangs is replaced, and its pages fail as crashed", async () => {
    await using site = await webSite({ "/": PAGE, "/hold": never });
    await using browser = startBrowser();
    const held = failureOf(browser.fetch(site.url("/hold"), { timeoutMs: 240_000 }));
    await site.hit("/hold");
    const first = browser.pool.browserPid!;
    process.kill(first, "SIGSTOP");
    assert.equal((await held).reason, "browser_crashed");
    assert.equal((await browser.fetch(site.url("/"))).status, 200);
    await eventually("the old one is gone", () => !isAlive(first));
  });

  describe("that others use, too,", () => {
    let browser: TestBrowser;
    before(() => {
      process.env["ORB_TEST_SECRET"] = "s3cret";
      browser = startBrowser({
        lookup: async () => {
          throw new Error("no such name");
        },
      });
    });
    after(async () => {
      await browser[Symbol.asyncDispose]();
      delete process.env["ORB_TEST_SECRET"];
    });

    it("whose page crashes fails that page only", async () => {
      await using site = await webSite({ "/": PAGE, "/hold": never, "/other": PAGE });
      site.on("/victim", `${PAGE}<script src="/hold"></script>`);
      const release = Promise.withResolvers<void>();
      const other = browser.pool.withPage({}, async ({ page }) => {
        await page.goto(site.url("/other"));
        await release.promise;
        return page.content();
      });
      await site.hit("/other");
      const pid = browser.pool.browserPid!;
      const before = new Set(renderersOf(pid).map((process) => process.pid));
      const victim = failureOf(browser.fetch(site.url("/victim")));
      await site.hit("/hold");
      const fresh = renderersOf(pid).filter((process) => !before.has(process.pid));
      assert.ok(fresh.length > 0, "the page has a process of its own");
      for (const process of fresh) globalThis.process.kill(process.pid, "SIGKILL");
      assert.equal((await victim).reason, "page_crashed");
      release.resolve();
      assert.match(await other, /This sentence/);
      assert.equal((await browser.fetch(site.url("/"))).status, 200);
      assert.equal(browser.pool.browserPid, pid, "the browser itself went on");
    });

    it("ends a page that spins at its time, kills its process, and serves others meanwhile", async () => {
      await using site = await webSite({ "/": PAGE, "/spin": ENDLESS });
      const spinning = browser.fetch(site.url("/spin"), { timeoutMs: 5_000 }).catch((error: unknown) => error);
      await site.hit("/spinning");
      assert.equal((await browser.fetch(site.url("/"))).status, 200);
      const error = await spinning;
      assert.ok(error instanceof PageFailure);
      assert.equal(error.failure.reason, "timeout_total");
      const pid = browser.pool.browserPid!;
      assert.ok(pid !== null, "the browser is still there");
      // Chromium keeps one spare process at most.
      await eventually("no process spins on", () => renderersOf(pid).length <= 1);
      assert.equal((await browser.fetch(site.url("/"))).status, 200);
    });

    it("ends a page that never stops loading, and shows what there was of it", async () => {
      await using site = await webSite();
      site.on("/stream", (_request, response) => {
        response.writeHead(200, { "content-type": "text/html" }).write(PAGE);
        const timer = setInterval(() => response.write("<p>more</p>"), 20);
        response.on("close", () => clearInterval(timer));
      });
      site.on("/flood", (_request, response) => {
        response.writeHead(200, { "content-type": "text/html" });
        // Comments need no layout: what is tried here is the limit, and not how fast this machine draws.
        const more = () => {
          while (!response.destroyed && response.write(`<!--${"x".repeat(500_000)}-->`));
        };
        response.on("drain", more);
        more();
      });
      const error = await browser.fetch(site.url("/stream"), { timeoutMs: 8_000 }).catch((failure: unknown) => failure);
      assert.ok(error instanceof PageFailure);
      assert.equal(error.failure.reason, "timeout_total");
      assert.match(error.evidence?.html ?? "", /This sentence/);
      assert.ok((error.evidence?.screenshot?.length ?? 0) > 1_000);
      const flooded = await failureOf(
        browser.fetch(site.url("/flood"), { timeoutMs: 120_000, maxBodyBytes: 1_000_000 }),
      );
      assert.equal(flooded.reason, "body_too_large");
    });

    it("reports broken sites with the same reasons as a plain fetch", async () => {
      await using site = await webSite({
        "/reset": (request) => void request.socket.resetAndDestroy(),
        "/garbage": (request) => void request.socket.end("not HTTP\r\n\r\n"),
        "/cut": (request) =>
          void request.socket.end(`HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 9999\r\n\r\n${PAGE}`),
        "/gzip": html("this is not gzip", 200, { "content-encoding": "gzip" }),
      });
      const closed = `http://${SITE}:${await somePort()}/`;
      const reason = async (url: string) => (await failureOf(browser.fetch(url))).reason;
      assert.equal(await reason(site.url("/reset")), "connection_reset");
      assert.equal(await reason(site.url("/garbage")), "malformed_response");
      assert.equal(await reason(site.url("/cut")), "truncated_body");
      assert.equal(await reason(site.url("/gzip")), "decompression_failed");
      assert.equal(await reason(closed), "connection_refused");
      assert.equal(await reason("http://gone.test/"), "dns_failed");
      assert.equal(await reason("https://gone.test/"), "dns_failed");
      assert.equal(await reason(site.url("/").replace("http:", "https:")), "tls_failed");
    });

    it("does not see our environment", async () => {
      await using site = await webSite({ "/": PAGE });
      await browser.fetch(site.url("/"));
      const environments = treeOf(browser.pool.browserPid!).flatMap(({ pid }) => environmentOf(pid));
      assert.ok(environments.length > 1);
      for (const text of environments) assert.doesNotMatch(text, /s3cret/);
    });
  });

  it("closes a page at once when its fetch is called off, while it waits and while it is open", async () => {
    await using site = await webSite({ "/": PAGE, "/hold": never });
    await using browser = startBrowser({ maxPages: 1 });
    const first = new AbortController();
    const second = new AbortController();
    const open = browser.fetch(site.url("/hold"), { signal: first.signal });
    open.catch(() => {});
    await site.hit("/hold");
    const waiting = browser.fetch(site.url("/"), { signal: second.signal });
    second.abort(new Error("not needed"));
    await assert.rejects(waiting, /not needed/);
    first.abort(new Error("changed my mind"));
    await assert.rejects(open, /changed my mind/);
    assert.equal((await browser.fetch(site.url("/"))).status, 200);
  });

  it("that cannot be found is named with the command that brings one", async () => {
    for (const path of ["/nowhere/chromium", undefined]) {
      await using browser = startBrowser({ path, env: { PATH: "/nowhere" } });
      const failure = await failureOf(browser.fetch("http://127.0.0.2/"));
      // A machine may have Playwright's own browser installed, which needs no PATH.
      if (path === undefined && failure.reason !== "browser_missing") continue;
      assert.equal(failure.reason, "browser_missing");
      assert.match(failure.message, /run: orb doctor --fix/);
    }
  });

  it(
    "warns once that it runs without a sandbox, where it must",
    { skip: process.getuid?.() !== 0 && "needs root" },
    async () => {
      const warnings: string[] = [];
      await using site = await webSite({ "/": PAGE });
      await using browser = startBrowser({
        pagesPerBrowser: 1,
        log: { ...silentLog, warn: (message) => warnings.push(message) },
      });
      await browser.fetch(site.url("/"));
      await browser.fetch(site.url("/"));
      assert.equal(warnings.length, 1);
      assert.match(warnings[0]!, /sandbox/);
    },
  );

  it("dies with a program that is killed with -9, and is closed by one that is asked to end", async () => {
    await using site = await webSite({ "/": PAGE });
    // The profile of a browser whose program had no chance to clean up stays behind; here.
    using dir = tempDir();
    const script = join(root, "test/fetch/browser/children/hold-page.ts");
    for (const signal of ["SIGKILL", "SIGTERM"] as const) {
      const child = spawn(process.execPath, [script, site.url("/")], {
        stdio: ["ignore", "pipe", "inherit"],
        env: { ...process.env, TMPDIR: dir.path },
      });
      const ended = once(child, "exit");
      const [line] = (await once(child.stdout, "data")) as [Buffer];
      const pid = Number(line.toString().trim());
      const tree = treeOf(pid).map((process) => process.pid);
      assert.ok(tree.length > 1);
      child.kill(signal);
      assert.deepEqual(await ended, signal === "SIGKILL" ? [null, "SIGKILL"] : [7, null]);
      await eventually("all of the browser is gone", () => tree.every((one) => !isAlive(one)));
    }
  });
});

/** None when it has ended meanwhile. */
function environmentOf(pid: number): string[] {
  try {
    return [readFileSync(`/proc/${pid}/environ`, "utf8")];
  } catch {
    return [];
  }
}
