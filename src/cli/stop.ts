import type { Log } from "../base/log.ts";
import { EXIT, type Terminal } from "./print/output.ts";
import type { Wiring } from "./wiring.ts";

export interface StopRequest extends Disposable {
  readonly asked: Promise<void>;
  readonly signal: AbortSignal;
  /** Exit code after a signal, by shell convention: 130 for Ctrl-C; null: none came. */
  readonly exitCode: number | null;
}

export const STOPPING = "stopping: tasks in flight are finished first; press Ctrl-C again to stop at once";

export const EXIT_OF_SIGNAL = { SIGINT: EXIT.interrupted, SIGTERM: 143, SIGHUP: 129 } as const;

export type StopSignal = keyof typeof EXIT_OF_SIGNAL;

/**
 * Signals within this time are one request. One Ctrl-C arrives several times: from the terminal, which signals the whole
 * process group, and from whatever forwards it (npm, a shell, the hand-over to a newer Node).
 */
const SAME_REQUEST_MS = 1000;

/**
 * Calls `handler` for every request to stop. A closed terminal counts only as the first one, because it may be
 * signalled several times.
 */
export function onStopSignals(wiring: Wiring, handler: (signal: StopSignal) => void): () => void {
  let firstAt: number | null = null;
  let isReleased = false;
  const ask = (signal: StopSignal) => {
    if (firstAt === null) firstAt = performance.now();
    else if (signal === "SIGHUP" || performance.now() - firstAt < SAME_REQUEST_MS) return;
    // The command has ended but something keeps the process alive: a second signal ends it.
    if (isReleased) wiring.exit(EXIT_OF_SIGNAL[signal]);
    handler(signal);
  };
  const releases = [wiring.onSignals(ask), wiring.onHangUp(() => ask("SIGHUP"))];
  return () => {
    isReleased = true;
    // A repeated signal may arrive after the command has ended; without a listener it would kill the process.
    if (firstAt === null) for (const release of releases) release();
  };
}

/** The first signal finishes what is in flight, the second exits at once. */
export function stopRequest(
  wiring: Wiring,
  terminal: Pick<Terminal, "err" | "live">,
  log: Log | null,
  /** Printed on the first signal. */
  note: string | (() => string) = STOPPING,
  atOnce: number = EXIT.failed,
): StopRequest {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const controller = new AbortController();
  let count = 0;
  let exitCode: number | null = null;
  const release = onStopSignals(wiring, (signal) => {
    count += 1;
    exitCode = EXIT_OF_SIGNAL[signal];
    // Every state change is a transaction, so exiting at once is safe; the next start requeues what was in flight.
    if (count > 1) wiring.exit(atOnce);
    const words = typeof note === "string" ? note : note();
    if (terminal.live || log === null) terminal.err(`${words}\n`);
    else log.info(words);
    controller.abort();
    resolve();
  });
  return {
    asked,
    signal: controller.signal,
    get exitCode() {
      return exitCode;
    },
    [Symbol.dispose]: release,
  };
}
