/**
 * The one connection over which the server tells what changes. Whoever shows something listens to the events it needs;
 * after a break everything on the screen is loaded again.
 */
import { useEffect, useRef, useSyncExternalStore } from "react";
import { call } from "./client.ts";

export type Connection = "connecting" | "open" | "lost";

const EVENTS = ["hello", "overview", "runs", "run_event", "sites", "workers"] as const;
export type LiveEvent = (typeof EVENTS)[number];

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 10_000;

class Live {
  #source: EventSource | null = null;
  #state: Connection = "connecting";
  #retryMs = FIRST_RETRY_MS;
  #timer: number | undefined;
  #lastId = "";
  #wasOpen = false;
  #users = 0;
  readonly #listeners = new Map<LiveEvent, Set<(data: never) => void>>();
  readonly #watchers = new Set<() => void>();
  onReconnect = () => {};
  /** Only who is logged in is told anything: it was refused. */
  onRefused = () => {};

  get state(): Connection {
    return this.#state;
  }

  /** Connects while anybody wants it; the returned function says that one does not any more. */
  open(): () => void {
    this.#users += 1;
    if (this.#users === 1) this.#connect();
    return () => {
      this.#users -= 1;
      if (this.#users > 0) return;
      clearTimeout(this.#timer);
      this.#source?.close();
      this.#source = null;
    };
  }

  on(event: LiveEvent, listener: (data: never) => void): () => void {
    const all = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, all.add(listener));
    return () => all.delete(listener);
  }

  watch(listener: () => void): () => void {
    this.#watchers.add(listener);
    return () => this.#watchers.delete(listener);
  }

  #set(state: Connection): void {
    if (state === this.#state) return;
    this.#state = state;
    for (const watcher of this.#watchers) watcher();
  }

  #connect(): void {
    this.#source?.close();
    const from = this.#lastId === "" ? "" : `?last_event_id=${encodeURIComponent(this.#lastId)}`;
    const source = new EventSource(`/live/stream${from}`);
    this.#source = source;
    let opened = false;
    source.addEventListener("open", () => {
      opened = true;
      this.#retryMs = FIRST_RETRY_MS;
      this.#set("open");
      if (this.#wasOpen) this.onReconnect();
      this.#wasOpen = true;
    });
    source.addEventListener("error", () => {
      if (source !== this.#source) return;
      this.#set("lost");
      // It may be that the server does not know that event any more; everything is loaded again anyway.
      if (!opened) this.#lastId = "";
      // The browser would try again by itself, but not after every kind of failure; one way is enough.
      source.close();
      void this.#retry();
    });
    for (const name of EVENTS)
      source.addEventListener(name, (event) => {
        if (event.lastEventId !== "") this.#lastId = event.lastEventId;
        const data = JSON.parse(event.data as string) as never;
        for (const listener of this.#listeners.get(name) ?? []) listener(data);
      });
  }

  async #retry(): Promise<void> {
    const wait = this.#retryMs;
    this.#retryMs = Math.min(wait * 2, LONGEST_RETRY_MS);
    // Was it refused, or is the server away? A stream does not say.
    const session = await call("getLogin").catch(() => null);
    if (session !== null && session.token_needed && !session.logged_in) return this.onRefused();
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => {
      if (this.#users > 0) this.#connect();
    }, wait);
  }
}

export const live = new Live();

export function useConnection(): Connection {
  return useSyncExternalStore(
    (listener) => live.watch(listener),
    () => live.state,
  );
}

/** Hears one kind of event while the component is shown. */
export function useLive<Data>(event: LiveEvent, listener: (data: Data) => void): void {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => live.on(event, (data: never) => latest.current(data as Data)), [event]);
}
