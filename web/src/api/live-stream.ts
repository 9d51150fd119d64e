/** The stream of the server: opened again after every break, and taken for broken when it is silent. */
import type { Answer } from "./client.ts";

export type Connection = "connecting" | "open" | "lost";

const LIVE_EVENTS = ["hello", "overview", "runs", "run_event", "sites", "workers"] as const;
export type LiveEvent = (typeof LIVE_EVENTS)[number];

/** A message of the stream: its connection state, a rejected login, or an event of the server. */
export type LiveNews = { state: Connection } | { refused: true } | { event: LiveEvent; json: string };

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 10_000;
const ASK_MS = 5000;
/** The server says something at least every five seconds: two of its signs of life may be missing. */
const SILENCE_MS = 12_000;

/** Knows nothing of pages: it runs in a worker for all tabs, or in the only tab. */
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
      // It may be that the server does not know that event any more; everything is loaded again anyway.
      if (!opened) this.#lastId = "";
      // The browser would try again by itself, but not after every kind of failure; one way is enough.
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
    // Was it refused, or is the server away? A stream does not say.
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

/** Null: nobody answers. A call like any other would bring all addresses of the API into the worker. */
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
