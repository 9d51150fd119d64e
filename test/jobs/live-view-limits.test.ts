import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { LivePage } from "../../src/fetch/live/live-page.ts";
import { parseAddressPolicy } from "../../src/net/address.ts";
import { LiveView, type ServerMessage } from "../../src/orchestrator/live-views/live-view.ts";
import { browserGate, html, SITE, startBrowser, webSite } from "../support/browser-kit.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { PATIENCE_MS } from "../support/patience.ts";

const MINUTE_MS = 60_000;
const LIMITS = { idleMs: 5 * MINUTE_MS, totalMs: 30 * MINUTE_MS };

/** A view of a page in a real browser, whose time the test moves. */
async function withView(limits: typeof LIMITS, work: (view: Viewed) => Promise<void>): Promise<void> {
  await using site = await webSite({ "/": html("<title>Plain</title>") });
  await using browser = startBrowser();
  const clock = new FakeClock();
  const closed = Promise.withResolvers<void>();
  const view = new LiveView({
    id: "a view",
    runId: null,
    origin: site.url("").replace(/\/$/, ""),
    url: site.url("/"),
    mobile: false,
    records: false,
    openedBy: null,
    session: { name: null, checkUrl: null },
    clock,
    ...limits,
    isWanted: async () => true,
    onClose: (done) => void done.then(closed.resolve, closed.reject),
  });
  const page = await LivePage.open({
    pool: browser.pool,
    clock: systemClock,
    policy: parseAddressPolicy([`${SITE}/32`]),
    url: site.url("/"),
    credentials: null,
    mobile: false,
    records: false,
    waitMs: PATIENCE_MS,
    navigationMs: PATIENCE_MS,
    on: view.events,
  });
  view.begin(page);
  try {
    await work({ view, page, clock, closed: closed.promise });
  } finally {
    await view.close("stopping");
  }
}

interface Viewed {
  view: LiveView;
  page: LivePage;
  clock: FakeClock;
  /** Nothing is left of it. */
  closed: Promise<void>;
}

/** Somebody who watches. */
function attach(view: LiveView, name: string) {
  const messages: ServerMessage[] = [];
  let isOpen = true;
  const port = {
    frame: () => {},
    send: (message: ServerMessage) => void messages.push(message),
    close: () => void (isOpen = false),
    waitingBytes: 0,
  };
  const { receive, detach } = view.attach(port, name, () => {});
  return {
    detach,
    move: () =>
      receive(
        JSON.stringify({
          type: "mouse",
          event: "move",
          x: 1,
          y: 1,
          button: "none",
          buttons: 0,
          clicks: 0,
          modifiers: 0,
        }),
      ),
    /** Why it ended for this viewer; null: it did not. */
    end: (): string | null => messages.find((message) => message.type === "closed")?.reason ?? null,
    isOpen: () => isOpen,
  };
}

describe("the time limits of a live view", browserGate, () => {
  test("a page that nobody controls is closed when its idle time is over, and says so to those who watch [slow]", async () => {
    await withView(LIMITS, async ({ view, page, clock, closed }) => {
      const first = attach(view, "ann");
      const second = attach(view, "ben");
      const opened = Date.parse(view.record.opened_at);
      assert.equal(Date.parse(view.record.idle_ends_at) - opened, LIMITS.idleMs);
      await clock.advance(4 * MINUTE_MS);
      first.move();
      assert.equal(Date.parse(view.record.idle_ends_at) - opened, 4 * MINUTE_MS + LIMITS.idleMs, "use moves it");
      await clock.advance(4 * MINUTE_MS);
      // Who only watches does not use the page.
      second.move();
      assert.equal(Date.parse(view.record.idle_ends_at) - opened, 4 * MINUTE_MS + LIMITS.idleMs);
      await clock.advance(MINUTE_MS - 1);
      assert.deepEqual([first.end(), first.isOpen()], [null, true], "not before");
      // It looks once a second.
      await clock.advance(1001);
      await closed;
      for (const { end, isOpen } of [first, second]) assert.deepEqual([end(), isOpen()], ["idle", false]);
      await assert.doesNotReject(page.ended, "the page is closed in the browser");
      assert.equal(view.page, null, "nothing is saved of it");
    });
  });

  test("a page that is used all the time is closed when its time is over [slow]", async () => {
    await withView(LIMITS, async ({ view, clock, closed }) => {
      const viewer = attach(view, "ann");
      const opened = Date.parse(view.record.opened_at);
      assert.equal(Date.parse(view.record.ends_at) - opened, LIMITS.totalMs);
      for (let minute = 1; minute < 30; minute += 1) {
        await clock.advance(MINUTE_MS);
        viewer.move();
      }
      assert.equal(view.record.idle_ends_at, view.record.ends_at, "no later than that");
      await clock.advance(MINUTE_MS - 1);
      assert.equal(viewer.end(), null, "not before");
      await clock.advance(1001);
      await closed;
      assert.equal(viewer.end(), "time_over");
      const late = attach(view, "late");
      assert.deepEqual([late.end(), late.isOpen()], ["closed", false], "nobody can watch it any more");
    });
  });

  test("the wall clock may be set: its time is that which passes [slow]", async () => {
    await withView(LIMITS, async ({ view, clock, closed }) => {
      const viewer = attach(view, "ann");
      clock.jump(24 * 60 * MINUTE_MS);
      await clock.advance(MINUTE_MS);
      assert.equal(viewer.end(), null);
      clock.jump(-48 * 60 * MINUTE_MS);
      await clock.advance(4 * MINUTE_MS + 1001);
      await closed;
      assert.equal(viewer.end(), "idle");
    });
  });
});
