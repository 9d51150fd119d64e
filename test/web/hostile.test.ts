import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { BrowserContext, Page, Request } from "playwright-core";
import type { TaskView } from "../../src/orchestrator/runs/view.ts";
import { cellText } from "../../web/src/pages/runs/logic/result-table.ts";
import { FULL } from "../chaos/orb.ts";
import { Crawler } from "../jobs/crawler.ts";
import { browserGate, CANARY, html, type TestSite, webSite } from "../support/browser-kit.ts";
import { Dashboard, DESKTOP, holds, openPage, type OpenPage } from "./kit.ts";
import { escaped, payloads, VECTORS } from "./payloads.ts";

/** Every one once, and some again in disguise; the full run has all of them in several. */
const MANY = FULL ? 300 : 150;
/** So tall that every row of a list is drawn. */
const TALL = { width: DESKTOP.width, height: 16_000 };
const WORDS = "These words are many enough to be taken for what the page has to say to whoever reads it.";

interface Found {
  data: { title: string; fields: Record<string, string> };
}

/** A page that bears its text wherever a page can; every third lacks the number that it should have. */
function pageOf(text: string, number: number): string {
  const safe = escaped(text);
  return `<!doctype html><html><head><title>${safe}</title><meta name="author" content="${safe}"></head><body>
    <h1>${safe}</h1><p id="count">${number % 3 === 2 ? safe.replaceAll(/\d/g, "") : number}</p>
    <p title="${safe}">${WORDS} ${safe}</p><a href="${safe}">x</a><div id="raw">${text}</div></body></html>`;
}

describe("what strangers write", browserGate, () => {
  let dashboard: Dashboard;
  let site: TestSite;
  let canary: TestSite;
  let texts: string[];
  let crawl: string;
  let context: BrowserContext;
  const asked: string[] = [];
  const addressOf = (number: number) => `/p/${number}/${encodeURIComponent(texts[number]!)}`;
  const fields = () => ({
    [texts[13]!]: { css: "h1" },
    label: { css: "p[title]", attr: "title" },
    html: { css: "#raw", type: "html" },
    markdown: { css: "#raw", type: "markdown" },
    count: { css: "#count", type: "integer", required: true },
  });

  before(async () => {
    canary = await webSite({}, CANARY);
    texts = payloads(MANY, canary.origin);
    site = await webSite();
    dashboard = await Dashboard.open();
    context = await dashboard.browser.newContext({ viewport: TALL, reducedMotion: "reduce", locale: "en-GB" });
    // Whatever becomes of a page, in whichever frame: what has run is said on the console.
    await context.addInitScript(`Object.defineProperty(globalThis, "hurt", {
      set: (number) => console.error("it ran: " + number), get: () => "", configurable: false })`);
    const elsewhere = (request: Request) =>
      !/^(?:data|blob|about):/.test(request.url()) && !request.url().startsWith(`${dashboard.url}/`);
    context.on("requestfinished", (request) => elsewhere(request) && asked.push(request.url()));
    // What the policy of a page forbids is never asked.
    context.on("requestfailed", (request) => {
      if (elsewhere(request) && request.failure()?.errorText !== "csp") asked.push(request.url());
    });
    await fill();
  });
  after(async () => {
    await context.close();
    await dashboard[Symbol.asyncDispose]();
    await Promise.all([site, canary].map((one) => one[Symbol.asyncDispose]()));
  });

  /** Everything comes into the store as it would: by crawls, runs, workflows, and calls of the API. */
  async function fill(): Promise<void> {
    const { server } = dashboard;
    for (const [number, text] of texts.entries()) site.on(addressOf(number), html(pageOf(text, number)));
    site.on("/", html(texts.map((_, number) => `<a href="${escaped(addressOf(number))}">x</a>`).join("")));
    site.on("/wall", html(`<title>Just a moment...</title><p>Verify you are not a robot</p>${texts[0]}`, 403));
    site.on("/file", (_request, response) => {
      const type = `text/html; x="${texts[13]!}"`;
      response.writeHead(200, { "content-type": type, "x-note": texts[14]! }).end(texts.join("\n"));
    });
    await server.api.call("PUT", `/sites/${encodeURIComponent(new URL(site.origin).host)}`, {
      max_concurrency: 20,
      requests_per_second: 10_000,
    });
    const body = {
      url: site.url("/"),
      max_depth: 1,
      retry_attempts: 0,
      strategy: "http",
      article: true,
      fields: fields(),
    };
    crawl = await new Crawler(server).submit(body);
    for (let from = 0; from < MANY; from += 20)
      await Promise.all(
        texts.slice(from, from + 20).map(async (text, index) => {
          const number = from + index;
          const schedule = number % 5 === 0 ? { schedule: { cron: "0 6 1 1 *" } } : {};
          const target_url = site.url(addressOf(number));
          const job = await server.job({
            target_url,
            name: text,
            strategy: "http",
            max_attempts: 1,
            fields: fields(),
            ...schedule,
          } as never);
          if (number % 5 === 2) await server.begin(job.id);
          if (number % 10 === 0)
            await server.session({ name: text, origin: site.origin, cookies: [{ name: "a", value: "b" }] } as never);
        }),
      );
    await server.ended(crawl);
  }

  async function show(path: string, expected?: RegExp): Promise<OpenPage> {
    return openPage(dashboard.browser, dashboard.url, path, {
      context,
      ...(expected === undefined ? {} : { expected }),
    });
  }

  /** Every text is on the page, letter by letter, as the text of one element. */
  async function assertShown(page: Page, wanted: readonly string[], selector = "main *"): Promise<void> {
    const all = (await page.evaluate(
      `[...document.querySelectorAll(${JSON.stringify(selector)})].map((element) => element.textContent)`,
    )) as string[];
    const shown = new Set(all.flatMap((text) => [text, text.replace(/\s+/g, " ").trim()]));
    assert.deepEqual(wanted.filter((text) => !shown.has(text.replace(/\s+/g, " ").trim())).slice(0, 5), []);
  }

  const rows = (page: Page, count: number) =>
    page
      .locator(`[role=row][aria-rowindex="${count + 1}"]`)
      .first()
      .waitFor();

  it("is never more than text, in every table, list and panel of a run", async () => {
    const { server } = dashboard;
    assert.ok(MANY >= (FULL ? 2 : 1) * VECTORS.length, "each is among them");
    const results = (await server.results(crawl)) as unknown as Found[];
    assert.equal(results.length, (MANY / 3) * 2);
    await using opened = await show(`/runs/${crawl}?tab=results`);
    const { page } = opened;
    await rows(page, results.length);
    const cells = results.flatMap(({ data }) => [data.title, data.fields[texts[13]!], data.fields["label"]]);
    await assertShown(
      page,
      cells.map((text) => cellText(text) ?? "–"),
      "[role=cell] *",
    );
    await page.getByRole("columnheader", { name: texts[13]!, exact: true }).waitFor();
    await page.getByText("Records", { exact: true }).click();
    await page.locator(".record-text").first().waitFor();
    await assertShown(
      page,
      results
        .slice(0, 100)
        .flatMap(({ data }) => [data.fields["html"]!, data.fields["markdown"]!])
        .filter((text) => (text ?? "") !== ""),
      ".record-text",
    );

    await page.goto(`${dashboard.url}/runs/${crawl}?tab=pages`);
    await rows(page, MANY + 1);
    const failed = (await server.api.get(`/jobs/runs/${crawl}/tasks?status=failed&limit=200`)).json<TaskView[]>();
    assert.equal(failed.length, MANY / 3 + 1);
    const titles = new Set(
      (await page.evaluate(
        "[...document.querySelectorAll('main [title]')].map((element) => element.title)",
      )) as string[],
    );
    for (const { url, error_message } of failed)
      assert.ok(titles.has(url!) && titles.has(error_message!), error_message!);
    await page.getByRole("row").filter({ hasText: "Failed" }).first().click();
    await page.getByRole("dialog", { name: "Page", exact: true }).getByText("Attempts").waitFor();
    await page.keyboard.press("Escape");
    for (const tab of ["errors", "events", "configuration"]) {
      await page.goto(`${dashboard.url}/runs/${crawl}?tab=${tab}`);
      await page.getByRole("tab", { selected: true }).waitFor();
      await page.locator(".card").nth(1).waitFor();
    }
    assert.equal(await page.locator("main img, main svg[onload], main script, main iframe").count(), 0);
  });

  it("is text where things are listed by their names, and in addresses", async () => {
    const { server } = dashboard;
    const named = (one: number) => texts.filter((_, number) => number % 5 === one);
    await using opened = await show("/jobs", /40[04]|422/);
    const { page } = opened;
    await rows(page, MANY);
    await assertShown(page, texts);
    await page.goto(`${dashboard.url}/schedules`);
    await page.getByText(texts[0]!, { exact: true }).first().waitFor();
    await assertShown(page, named(0));
    await page.goto(`${dashboard.url}/runs`);
    await rows(page, named(2).length + 1);
    await assertShown(page, named(2));
    for (const path of [
      "/",
      "/sites",
      `/sites/${encodeURIComponent(new URL(site.origin).host)}`,
      "/queue",
      "/settings?tab=sessions",
    ]) {
      await page.goto(dashboard.url + path);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.locator(".skeleton").first().waitFor({ state: "hidden" });
    }
    await assertShown(
      page,
      texts.filter((_, number) => number % 50 === 0),
    );

    // What stands in an address is searched for, shown in fields and told by errors.
    await page.goto(`${dashboard.url}/runs`);
    await page.getByRole("searchbox", { name: "Search runs" }).waitFor();
    for (const text of texts) {
      await page.evaluate(`history.pushState(null, "", "/runs?q=" + encodeURIComponent(${JSON.stringify(text)}))`);
      // Fields of one line take no line ends.
      const bare = JSON.stringify(text.trim().slice(0, 200).replace(/\s/g, ""));
      await holds(page, `document.querySelector("main input[type=search]")?.value.replace(/\\s/g, "") === ${bare}`);
    }
    for (const text of texts.filter((_, number) => number % 20 === 7))
      for (const path of ["/sites/", "/runs/", "/workflows/", "/workflows/templates/", "/new?url=", "/nothing/"]) {
        await page.evaluate(`history.pushState(null, "", ${JSON.stringify(path + encodeURIComponent(text))})`);
        await page.getByRole("heading").first().waitFor();
      }
    assert.equal((await server.api.get("/runs?limit=1")).status, 200);
  });

  it("is text in workflows, in their lists and their files", async () => {
    const { server } = dashboard;
    const name = texts[13]!;
    const steps = [
      {
        name: "files",
        task_type: "download",
        params: {
          urls: texts
            .slice(0, 30)
            .map((_, number) => site.url(addressOf(number)))
            .concat(site.url("/file")),
        },
      },
      {
        name: "each",
        task_type: "webhook",
        for_each: texts.slice(0, 20),
        params: { url: site.url("/hook/${{ item }}") },
        max_retries: 0,
      },
    ];
    const created = await server.api.post("/workflows", { definition: { name, description: texts[20], steps } });
    assert.equal(created.status, 201, created.text);
    const { id } = created.json<{ id: string }>();
    await server.ended(id);
    const saved = await server.api.call("PUT", "/workflows/templates/strange", {
      name: "strange",
      description: texts[20],
      steps,
    });
    assert.ok(saved.status < 300, saved.text);
    await using opened = await show("/workflows");
    const { page } = opened;
    await page.getByRole("link", { name, exact: true }).click();
    await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
    await page.getByRole("button", { name: /^each.*Failed/ }).click();
    const panel = page.getByRole("complementary", { name: "Step each" });
    await panel.locator(".entries li").nth(19).waitFor();
    await assertShown(page, texts.slice(0, 20), ".entries *");
    await page.getByRole("tab", { name: "Results" }).click();
    await page.getByText("31 records").waitFor();
    for (const path of [`/workflows/${id}?tab=events`, "/workflows?tab=templates", "/workflows/templates/strange"]) {
      await page.goto(dashboard.url + path);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.locator(".skeleton").first().waitFor({ state: "hidden" });
    }
    await assertShown(page, [texts[20]!]);
    assert.equal(await page.locator("main img, main script, main iframe").count(), 0);
  });

  it("does nothing in the frame that shows it as a page, nor as a file", async () => {
    const { server } = dashboard;
    const { id } = await server.begin({ target_url: site.url("/wall"), strategy: "http", escalate: false } as never);
    await server.ended(id);
    // What the frame's own rules keep out is told by the browser: styles that would load something.
    const kept = /(?:Content Security Policy|Unsafe attempt to load URL data:).*frame\.(?:html|js)/s;
    await using opened = await show(`/runs/${id}?tab=errors`, kept);
    const { page } = opened;
    await page.getByRole("button", { name: "Show saved HTML" }).click();
    await page.frameLocator("iframe.html-frame").getByText("Verify you are not a robot").waitFor();
    const frame = page.frames().find((one) => one.url().endsWith("/frame.html"));
    assert.ok(frame !== undefined);
    for (const text of texts) {
      await page.evaluate(`new Promise((resolve) => {
        const over = new AbortController();
        addEventListener("message", ({ data }) => data?.type === "shown" && (over.abort(), resolve()), { signal: over.signal });
        document.querySelector("iframe.html-frame").contentWindow.postMessage({ type: "show", html: ${JSON.stringify(text)} }, "*");
      })`);
      // People click, point and type, too.
      const left = (await frame.evaluate(`(() => {
        for (const element of document.querySelectorAll("*")) {
          for (const name of ["click", "pointerover", "focus", "toggle", "submit"]) element.dispatchEvent(new Event(name, { bubbles: true, cancelable: true }));
          element.click?.();
        }
        return document.querySelectorAll("body script, iframe, object, embed, meta, base, link").length;
      })()`)) as number;
      assert.equal(left, 0, text);
      assert.equal(frame.url(), `${dashboard.url}/frame.html`, text);
    }
    // A copy that is opened by its address is no page of this server.
    const [file] = (await server.task(id)).artifacts;
    const answer = await fetch(`${dashboard.url}/artifacts/${file!.id}`);
    assert.match(answer.headers.get("content-disposition") ?? "", /^attachment/);
    assert.match(answer.headers.get("content-security-policy") ?? "", /sandbox$/);
    assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
    await answer.body?.cancel();
  });

  it("would have been noticed", async () => {
    const page = await context.newPage();
    const said = page.waitForEvent("console", (message) => message.text() === "it ran: 7");
    await page.setContent("<img src=x onerror='hurt=7'>");
    await said;
    await page.close();
  });

  it("has led nobody anywhere", () => {
    assert.deepEqual(asked, []);
    assert.deepEqual(canary.log, []);
  });
});
