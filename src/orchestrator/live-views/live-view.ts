/** One live page: who watches, who controls, and when it ends. */
import type { Clock, Timer } from "../../base/clock.ts";
import { isoOf } from "../../base/iso.ts";
import type { BrowserAction } from "../../domain/page/page-options.ts";
import { readViewerMessage, type ViewerMessage } from "../../domain/live-view/messages.ts";
import { ActionRecorder, type Recorded } from "../../domain/live-view/recorded-actions.ts";
import type { LiveDialog, LivePage, LivePageEvents, LiveTab } from "../../fetch/live/live-page.ts";
import type { CastFrame } from "../../fetch/live/screencast.ts";
import { FrameFeed } from "./frame-feed.ts";

/** The connection of a viewer. */
export interface ViewerPort {
  frame(seq: number, frame: CastFrame): void;
  send(message: ServerMessage): void;
  close(): void;
  /** Bytes that it has not received yet. */
  readonly waitingBytes: number;
}

type CloseReason = "closed" | "saved" | "idle" | "time_over" | "run_over" | "browser_lost" | "stopping" | "too_slow";

export type ServerMessage =
  | {
      type: "state";
      url: string;
      tabs: LiveTab[];
      dialog: LiveDialog | null;
      viewers: number;
      /** The name of who controls it; null: nobody. */
      controller: string | null;
      controls: boolean;
      recorded: number;
      ends_at: string;
      idle_ends_at: string;
    }
  | { type: "notice"; message: string }
  | { type: "closed"; reason: CloseReason; message: string };

export interface LiveViewTimes {
  idleMs: number;
  totalMs: number;
}

interface LiveViewOptions extends LiveViewTimes {
  id: string;
  runId: string | null;
  /** The only origin whose session is stored. */
  origin: string;
  url: string;
  mobile: boolean;
  records: boolean;
  openedBy: string | null;
  /** Of the session that is stored. */
  session: { name: string | null; checkUrl: string | null };
  clock: Clock;
  /** Whether its run still waits for a person. */
  isWanted: () => Promise<boolean>;
  /** It begins to close; `done` resolves when nothing of it is left. */
  onClose: (done: Promise<void>) => void;
}

interface LiveViewRecord {
  id: string;
  run_id: string | null;
  origin: string;
  url: string;
  opened_by: string | null;
  opened_at: string;
  ends_at: string;
  idle_ends_at: string;
  viewers: number;
  controller: string | null;
  /** The page is that of a phone, and takes touches. */
  mobile: boolean;
  records: boolean;
  name: string | null;
  check_url: string | null;
  actions: BrowserAction[];
  notes: string[];
}

interface Viewer {
  name: string;
  port: ViewerPort;
  onControl: () => void;
}

interface Attached {
  receive(text: string): void;
  detach(): void;
}

const TICK_MS = 1000;
const STATE_EVERY_MS = 60;
/** Of a viewer that receives nothing any more: state and notices; frames wait for their confirmation. */
const MOST_WAITING_BYTES = 4 * 1024 * 1024;
const MOST_NOTICES = 20;
const MOST_UNSEEN = 4;

const MESSAGES: Readonly<Record<CloseReason, string>> = {
  closed: "The live view was closed",
  saved: "The session is stored, and the live view is closed",
  idle: "The live view was closed, because nobody used it",
  time_over: "The live view was closed, because its time was over",
  run_over: "The run no longer waits for a person",
  browser_lost: "The browser lost the page: open the live view again",
  stopping: "The server is stopping",
  too_slow: "This connection is too slow for the live view",
};

export class LiveView {
  readonly #options: LiveViewOptions;
  readonly #viewers = new Set<Viewer>();
  readonly #feed = new FrameFeed<Viewer>();
  readonly #recorder = new ActionRecorder();
  readonly #openedAt: number;
  readonly #begun: number;
  #page: LivePage | null = null;
  #controller: Viewer | null = null;
  #usedAt: number;
  #stateTimer: Timer | null = null;
  #tick: Timer | null = null;
  #closing: Promise<void> | null = null;
  #notices = 0;
  /** Nobody has watched yet: for the first viewer. */
  readonly #unseen: string[] = [];
  /** A session is being stored: a second one would be a copy. */
  isSaving = false;

  constructor(options: LiveViewOptions) {
    this.#options = options;
    this.#openedAt = options.clock.now();
    this.#begun = this.#usedAt = options.clock.monotonic();
  }

  get id(): string {
    return this.#options.id;
  }

  get runId(): string | null {
    return this.#options.runId;
  }

  get origin(): string {
    return this.#options.origin;
  }

  get session(): { name: string | null; checkUrl: string | null } {
    return this.#options.session;
  }

  get page(): LivePage | null {
    return this.#closing === null ? this.#page : null;
  }

  get recorded(): Recorded {
    return this.#recorder.recorded;
  }

  /** For the page that this view is of. */
  readonly events: LivePageEvents = {
    frame: (frame) => this.#feed.offer(frame),
    changed: () => this.#changed(),
    notice: (text) => this.notice(text),
    did: (event) => {
      this.#recorder.add(event);
      this.#changed();
    },
  };

  /** The page is open: from now on the view lives. */
  begin(page: LivePage): void {
    this.#page = page;
    page.watch(this.#feed.isWatched);
    page.ended.then(
      () => void this.close("closed"),
      () => void this.close("browser_lost"),
    );
    this.#later();
  }

  get record(): LiveViewRecord {
    const { id, runId, origin, mobile, records, openedBy, url } = this.#options;
    const { actions, notes } = this.recorded;
    return {
      id,
      run_id: runId,
      origin,
      url: this.#page?.url || url,
      opened_by: openedBy,
      opened_at: isoOf(this.#openedAt),
      ...this.#ends(),
      viewers: this.#viewers.size,
      controller: this.#controller?.name ?? null,
      mobile,
      records,
      name: this.session.name,
      check_url: this.session.checkUrl,
      actions: [...actions],
      notes: [...notes],
    };
  }

  /** `onControl` is called each time the viewer takes control. The first viewer has it. */
  attach(port: ViewerPort, name: string, onControl: () => void): Attached {
    const viewer: Viewer = { name, port, onControl };
    if (this.#closing !== null) {
      port.send({ type: "closed", reason: "closed", message: MESSAGES.closed });
      port.close();
      return { receive: () => {}, detach: () => {} };
    }
    this.#viewers.add(viewer);
    if (this.#controller === null) this.#control(viewer);
    this.#sendState(viewer);
    this.#feed.add(viewer, (seq, frame) => port.frame(seq, frame));
    this.#page?.watch(true);
    for (const message of this.#unseen.splice(0)) this.#send(viewer, { type: "notice", message });
    this.#changed();
    return {
      receive: (text) => {
        const message = readViewerMessage(text);
        if (message !== null && this.#viewers.has(viewer)) this.#receive(viewer, message);
      },
      detach: () => this.#detach(viewer),
    };
  }

  notice(message: string): void {
    // A page may cause as many as it likes.
    if (this.#notices >= MOST_NOTICES) return;
    this.#notices += 1;
    if (this.#viewers.size === 0) {
      if (this.#unseen.length < MOST_UNSEEN) this.#unseen.push(message);
    } else this.#sendAll({ type: "notice", message });
  }

  /** Resolves when nothing of it is left. */
  close(reason: CloseReason): Promise<void> {
    if (this.#closing === null) {
      this.#closing = this.#close(reason);
      this.#options.onClose(this.#closing);
    }
    return this.#closing;
  }

  async #close(reason: CloseReason): Promise<void> {
    this.#tick?.cancel();
    this.#stateTimer?.cancel();
    for (const viewer of this.#viewers) {
      viewer.port.send({ type: "closed", reason, message: MESSAGES[reason] });
      viewer.port.close();
    }
    this.#viewers.clear();
    await this.#page?.close();
  }

  #receive(viewer: Viewer, message: ViewerMessage): void {
    if (message.type === "ack") return this.#feed.drawn(viewer, message.seq);
    if (message.type === "control") {
      if (message.take) this.#control(viewer);
      else if (this.#controller === viewer) this.#controller = null;
      return this.#changed();
    }
    if (this.#controller !== viewer || this.#page === null) return;
    this.#usedAt = this.#options.clock.monotonic();
    switch (message.type) {
      case "dialog":
        return this.#page.answer(message.id, message.accept, message.text);
      case "navigate":
      case "history":
      case "tab":
        return this.#page.steer(message);
      default:
        return this.#page.input(message);
    }
  }

  #control(viewer: Viewer): void {
    if (this.#controller === viewer) return;
    this.#controller = viewer;
    this.#usedAt = this.#options.clock.monotonic();
    viewer.onControl();
  }

  #detach(viewer: Viewer): void {
    if (!this.#viewers.delete(viewer)) return;
    this.#feed.remove(viewer);
    if (this.#controller === viewer) this.#controller = null;
    if (this.#viewers.size === 0) this.#page?.watch(false);
    this.#changed();
  }

  #ends(): { ends_at: string; idle_ends_at: string } {
    const { totalMs, idleMs } = this.#options;
    const ends = this.#openedAt + totalMs;
    const idleEnds = this.#openedAt + (this.#usedAt - this.#begun) + idleMs;
    return { ends_at: isoOf(ends), idle_ends_at: isoOf(Math.min(ends, idleEnds)) };
  }

  #changed(): void {
    if (this.#stateTimer !== null || this.#viewers.size === 0 || this.#closing !== null) return;
    this.#stateTimer = this.#options.clock.after(STATE_EVERY_MS, () => {
      this.#stateTimer = null;
      for (const viewer of this.#viewers) this.#sendState(viewer);
    });
  }

  #sendState(viewer: Viewer): void {
    const page = this.#page;
    this.#send(viewer, {
      type: "state",
      url: page?.url ?? this.#options.url,
      tabs: page?.tabs ?? [],
      dialog: page?.dialog ?? null,
      viewers: this.#viewers.size,
      controller: this.#controller?.name ?? null,
      controls: this.#controller === viewer,
      recorded: this.#recorder.recorded.actions.length,
      ...this.#ends(),
    });
  }

  #sendAll(message: ServerMessage): void {
    for (const viewer of this.#viewers) this.#send(viewer, message);
  }

  #send(viewer: Viewer, message: ServerMessage): void {
    if (viewer.port.waitingBytes <= MOST_WAITING_BYTES) return viewer.port.send(message);
    viewer.port.send({ type: "closed", reason: "too_slow", message: MESSAGES.too_slow });
    viewer.port.close();
    this.#detach(viewer);
  }

  #later(): void {
    this.#tick = this.#options.clock.after(TICK_MS, () => void this.#check());
  }

  async #check(): Promise<void> {
    const { clock, idleMs, totalMs, isWanted } = this.#options;
    const now = clock.monotonic();
    this.#notices = 0;
    if (now - this.#begun >= totalMs) return this.close("time_over");
    if (now - this.#usedAt >= idleMs) return this.close("idle");
    // While the database does not answer, the person goes on.
    if (!(await isWanted().catch(() => true))) return this.close("run_over");
    if (this.#closing === null) this.#later();
    return undefined;
  }
}
