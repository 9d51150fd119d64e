/**
 * Live updates of the server. Components subscribe to the events they need; after a reconnect everything on the screen
 * is reloaded.
 */
import { useEffect, useRef, useSyncExternalStore } from "react";
import { type Connection, type LiveEvent, type LiveNews, LiveStream } from "./live-stream.ts";

export type { Connection } from "./live-stream.ts";

/** A connection to the stream, from `join` to `leave`. */
interface LiveConnection {
  join(): void;
  leave(): void;
}

class Live {
  #way: LiveConnection | null = null;
  #state: Connection = "connecting";
  #wasOpen = false;
  #users = 0;
  readonly #listeners = new Map<LiveEvent, Set<(data: never) => void>>();
  readonly #watchers = new Set<() => void>();
  onReconnect = () => {};
  /** The stream was rejected: a login is required. */
  onRefused = () => {};

  get state(): Connection {
    return this.#state;
  }

  /** Connects while there are users; the returned function ends one use. */
  open(): () => void {
    this.#users += 1;
    this.#way ??= this.#choose();
    if (this.#users === 1) this.#way.join();
    return () => {
      this.#users -= 1;
      if (this.#users === 0) this.#leave();
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

  #leave(): void {
    this.#way?.leave();
    // Events are missed meanwhile: resuming counts as a reconnect.
    this.#set("connecting");
  }

  #choose(): LiveConnection {
    // The back-forward cache may restore a page.
    addEventListener("pagehide", () => this.#users > 0 && this.#leave());
    addEventListener("pageshow", ({ persisted }) => persisted && this.#users > 0 && this.#way?.join());
    const hear = (news: LiveNews) => this.#hear(news);
    const alone = () => {
      this.#way = directConnection(hear);
      if (this.#users > 0) this.#way.join();
    };
    return typeof SharedWorker === "undefined" ? directConnection(hear) : sharedConnection(hear, alone);
  }

  #hear(news: LiveNews): void {
    if ("state" in news) this.#set(news.state);
    else if ("refused" in news) this.onRefused();
    else {
      const listeners = this.#listeners.get(news.event);
      if (listeners === undefined || listeners.size === 0) return;
      const data = JSON.parse(news.json) as never;
      for (const listener of listeners) listener(data);
    }
  }

  #set(state: Connection): void {
    if (state === this.#state) return;
    this.#state = state;
    for (const watcher of this.#watchers) watcher();
    if (state !== "open") return;
    if (this.#wasOpen) this.onReconnect();
    this.#wasOpen = true;
  }
}

/** The stream shared by all tabs. `onFailure`: unavailable, as when a newer server has other files. */
function sharedConnection(hear: (news: LiveNews) => void, onFailure: () => void): LiveConnection {
  const worker = new SharedWorker(new URL("./live-worker.ts", import.meta.url), { type: "module", name: "live" });
  worker.addEventListener("error", onFailure);
  worker.port.addEventListener("message", ({ data }) => hear(data as LiveNews));
  worker.port.start();
  return {
    join: () => worker.port.postMessage("join"),
    leave: () => worker.port.postMessage("leave"),
  };
}

/** A stream per tab, where tabs cannot share one, as on some phones: only while the tab is visible. */
function directConnection(hear: (news: LiveNews) => void): LiveConnection {
  const stream = new LiveStream(hear);
  let joined = false;
  const look = () => {
    if (joined && document.visibilityState === "visible") stream.open();
    else stream.close();
  };
  document.addEventListener("visibilitychange", look);
  const join = (wanted: boolean) => {
    joined = wanted;
    look();
  };
  return { join: () => join(true), leave: () => join(false) };
}

export const live = new Live();

export function useConnection(): Connection {
  return useSyncExternalStore(
    (listener) => live.watch(listener),
    () => live.state,
  );
}

/** Subscribes to one kind of event while the component is mounted. */
export function useLive<Data>(event: LiveEvent, listener: (data: Data) => void): void {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => live.on(event, (data: never) => latest.current(data as Data)), [event]);
}
