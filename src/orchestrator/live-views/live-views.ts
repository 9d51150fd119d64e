/** The live pages of this process. They are not stored: with the process they end, and so does their browser. */
import { asCaller, type Caller, currentCaller } from "../../domain/access/caller.ts";
import type { Clock } from "../../base/clock.ts";
import { messageOf, OrbError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Random } from "../../base/random.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import type { BrowserPool } from "../../fetch/browser/pool.ts";
import { LivePage } from "../../fetch/live/live-page.ts";
import type { AddressPolicy } from "../../net/address.ts";
import type { Store } from "../../store/ports/port.ts";
import { LiveView, type LiveViewTimes } from "./live-view.ts";
import type { PageToOpen } from "./page-to-open.ts";

interface LiveViewSettings extends LiveViewTimes {
  /** Open at once in this process. */
  most: number;
  /** Why none can be opened here; null: they can. */
  whyNot: string | null;
  navigationMs: number;
}

interface LiveViewsDeps {
  store: Store;
  clock: Clock;
  random: Random;
  log: Log;
  policy: AddressPolicy;
  settings: LiveViewSettings;
  browser: () => Promise<BrowserPool>;
}

/** A page of the pool may be busy that long. */
const SLOT_MS = 30_000;

export class LiveViews {
  readonly #deps: LiveViewsDeps;
  readonly #views = new Map<string, LiveView>();
  readonly #closing = new Set<Promise<void>>();
  readonly #openingRuns = new Map<string, Promise<LiveView>>();
  #opening = 0;
  #isStopping = false;

  constructor(deps: LiveViewsDeps) {
    this.#deps = deps;
  }

  get list(): LiveView[] {
    return [...this.#views.values()];
  }

  get(id: string): LiveView {
    const view = this.#views.get(id);
    if (view === undefined)
      throw new OrbError("not_found", `this server has no open live view with the id ${id}`, {
        hint: "It has ended, or another server of the deployment has it: open a new one.",
      });
    return view;
  }

  /** Of a run there is one at a time: others watch it. */
  open(page: PageToOpen): Promise<LiveView> {
    const { runId } = page;
    if (runId === null) return this.#openAnother(page);
    const same = this.list.find((view) => view.runId === runId);
    if (same !== undefined) return Promise.resolve(same);
    const opening =
      this.#openingRuns.get(runId) ?? this.#openAnother(page).finally(() => this.#openingRuns.delete(runId));
    this.#openingRuns.set(runId, opening);
    return opening;
  }

  async #openAnother(page: PageToOpen): Promise<LiveView> {
    const { most, whyNot } = this.#deps.settings;
    if (whyNot !== null) throw unavailable(whyNot, "Start `orb serve`, which opens live views for its dashboard.");
    if (most === 0)
      throw unavailable("live views are off", "Set APP_LIVE_VIEWS to the number that may be open at once.");
    if (this.#isStopping) throw unavailable("the server is stopping", "Open the live view again in a moment.");
    if (this.#views.size + this.#opening >= most)
      throw unavailable(
        `${most === 1 ? "a live view is" : `${most} live views are`} open already, the most that APP_LIVE_VIEWS allows`,
        "Close one of them, or wait until it ends.",
      );
    this.#opening += 1;
    try {
      return await this.#open(page);
    } finally {
      this.#opening -= 1;
    }
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.list.map((view) => view.close("stopping")));
    await Promise.all(this.#closing);
  }

  async #open({
    runId,
    origin,
    url,
    credentials,
    mobile,
    via,
    records,
    notice,
    session,
  }: PageToOpen): Promise<LiveView> {
    const { store, clock, random, policy, settings } = this.#deps;
    const id = random.uuid();
    const view: LiveView = new LiveView({
      id,
      runId,
      origin,
      url,
      mobile,
      records,
      openedBy: currentCaller()?.actor.name ?? null,
      session,
      clock,
      ...settings,
      isWanted: async () => runId === null || (await store.runStates([runId])).get(runId) === "waiting_for_human",
      onClose: (done) => {
        this.#views.delete(id);
        const closing = done.finally(() => this.#closing.delete(closing));
        this.#closing.add(closing);
      },
    });
    let page: LivePage;
    try {
      page = await LivePage.open({
        pool: await this.#deps.browser(),
        clock,
        policy,
        url,
        credentials,
        mobile,
        ...(via === null ? {} : { via }),
        records,
        waitMs: SLOT_MS,
        navigationMs: settings.navigationMs,
        on: view.events,
      });
    } catch (error) {
      if (!(error instanceof FetchFailure)) throw error;
      throw unavailable(`the browser cannot open the page: ${error.failure.message}`, HINT_FOR_BROWSER, error);
    }
    this.#views.set(id, view);
    view.begin(page);
    if (notice !== null) view.notice(notice);
    if (this.#isStopping) await view.close("stopping");
    this.audit("live_view.opened", view, { shown: { url: withoutQuery(url) } });
    return view;
  }

  /** An entry of the audit log: of the run, if there is one. What was done is done, so a failure is only logged. */
  audit(
    action: string,
    view: LiveView,
    { caller = currentCaller(), shown }: { caller?: Caller | null; shown?: Record<string, unknown> } = {},
  ): void {
    const object = view.runId === null ? { kind: "live_view", id: view.id } : { kind: "run", id: view.runId };
    asCaller(caller, () => this.#deps.store.recordAudit(action, object, shown)).catch((error: unknown) =>
      this.#deps.log.error("an entry of the audit log could not be written", { action, error: messageOf(error) }),
    );
  }
}

/** Links of a sign-in have their secret in the query or the fragment. */
function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

const HINT_FOR_BROWSER =
  "The process that serves the API opens it: `orb doctor` there shows whether its browser works. Without one on that machine, set APP_BROWSER_URL.";

function unavailable(message: string, hint: string, cause?: unknown): OrbError {
  return new OrbError("live_view_unavailable", message, { hint, ...(cause === undefined ? {} : { cause }) });
}
