/** The server's event stream: reconnects after every break, and treats silence as a break. */
import type { Answer } from "./client.ts";

export type Connection = "connecting" | "open" | "lost";

const LIVE_EVENTS = ["hello", "overview", "runs", "run_event", "sites", "workers"] as const;
export type LiveEvent = (typeof LIVE_EVENTS)[number];

/** A message of the stream: its connection state, a rejected login, or a server event. */
export type LiveNews = { state: Connection } | { refused: true } | { event: LiveEvent; json: string };

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 10_000;
const ASK_MS = 5000;
/** The server sends a heartbeat every five seconds: two may be missing. */
const SILENCE_MS = 12_000;

/** Independent of pages: it runs in a worker for all tabs, or in the only tab. */
export class LiveStream {
  readonly #publish: (news: LiveNews) => void;
  #source: EventSource | null = null;
  #state: Connection = "connecting";
  #wanted = false;
  #retryMs = FIRST_RETRY_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastId = "";

  constructor(publish: (news: LiveNews) => void) {
    this.#publish = publish;
  }

  get state(): Connection {
    return this.#state;
  }

  open(): void {
    if (this.#wanted) return;
    this.#wanted = true;
    this.#connect();
  }

  close(): void {
    this.#wanted = false;
    this.#end();
    this.#set("connecting");
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
  }

  #set(state: Connection): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#publish({ state });
  }

  #connect(): void {
    const from = this.#lastId === "" ? "" : `?last_event_id=${encodeURIComponent(this.#lastId)}`;
    const source = new EventSource(`/live/stream${from}`);
    this.#source = source;
    let opened = false;
    const broken = () => {
      if (source !== this.#source) return;
      // The server may no longer know that event; everything is reloaded anyway.
      if (!opened) this.#lastId = "";
      // The browser would reconnect by itself, but not after every kind of failure: always do it here.
      this.#end();
      this.#set("lost");
      void this.#retry();
    };
    const restartTimer = () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(broken, SILENCE_MS);
    };
    restartTimer();
    source.addEventListener("error", broken);
    source.addEventListener("open", () => {
      opened = true;
      this.#retryMs = FIRST_RETRY_MS;
      restartTimer();
      this.#set("open");
    });
    source.addEventListener("heartbeat", restartTimer);
    for (const event of LIVE_EVENTS)
      source.addEventListener(event, ({ lastEventId, data }) => {
        restartTimer();
        if (lastEventId !== "") this.#lastId = lastEventId;
        this.#publish({ event, json: data as string });
      });
  }

  async #retry(): Promise<void> {
    const wait = this.#retryMs;
    this.#retryMs = Math.min(wait * 2, LONGEST_RETRY_MS);
    // A stream does not report whether it was rejected or the server is down.
    const session = await askLogin();
    if (!this.#wanted || this.#source !== null) return;
    if (session !== null && session.token_needed && !session.logged_in) {
      this.close();
      this.#publish({ refused: true });
      return;
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#connect(), wait);
  }
}

/** Null: no answer. A typed call would pull all API routes into the worker. */
async function askLogin(): Promise<Answer<"getLogin"> | null> {
  try {
    const answer = await fetch("/session", {
      headers: { accept: "application/json" },
      signal: AbortSignal.timeout(ASK_MS),
    });
    return answer.ok ? ((await answer.json()) as Answer<"getLogin">) : null;
  } catch {
    return null;
  }
}
