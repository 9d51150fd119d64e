import type { Clock } from "../../base/clock.ts";
import { isOrbError } from "../../base/errors.ts";
import { Semaphore } from "../../base/semaphore.ts";
import type { Turn } from "../ports/claim-port.ts";
import type { Claim, Settled, Store } from "../ports/port.ts";
import { ClaimTurns } from "./claim-turns.ts";
import { Patience } from "./patience.ts";

/** Calls a method of the store; `isPatient`: on the connection of those that wait for others. */
export type StoreCall = (method: string, args: unknown[], isPatient?: boolean) => Promise<unknown>;

/**
 * Claims and settles of runs that others have locked. They wait a little, as most locks are released soon; then they leave
 * out what is locked, so that one run does not hold up others; what is left waits on a connection of its own.
 */
export function inTurns(
  call: StoreCall,
  clock: Pick<Clock, "monotonic">,
  writers: number,
): Pick<Store, "claim" | "settle"> {
  const now = () => clock.monotonic();
  const claimTurns = new ClaimTurns();
  const patience = { claim: new Patience(now), settle: new Patience(now) };
  // Not more than are executed at once: whoever is next knows whether the one before waited in vain.
  const claims = new Semaphore(writers);

  /** Waits a little, then leaves out what is locked. */
  const soon = async <T>(method: "claim" | "settle", execute: (turn: Turn) => Promise<T>): Promise<T> => {
    const timed = async (turn: Turn) => {
      const begun = now();
      const result = await execute(turn);
      patience[method].took(now() - begun);
      return result;
    };
    const { waitMs } = patience[method];
    if (waitMs !== null) {
      const result = await orBusy(timed({ waitMs }));
      if (result !== "busy") return result;
      patience[method].lose();
    }
    return timed("try");
  };

  const claim: Store["claim"] = async (hold, options, at) => {
    const claimIn = (turn: Turn, isPatient = false) =>
      call("claim", [hold, { ...options, turn }, at], isPatient) as Promise<Claim | null>;
    const claimed = await claims.run(() => soon("claim", claimIn));
    const waitMs = claimed?.busy === true ? claimTurns.begin() : null;
    if (waitMs === null) return claimed;
    let isInVain = false;
    try {
      const waited = await orBusy(claimIn({ waitMs }, true));
      isInVain = waited === "busy";
      return waited === "busy" ? claimed : waited;
    } finally {
      claimTurns.end(isInVain);
    }
  };

  const settle: Store["settle"] = (batches, at, turn) => {
    const settleIn = (how: Turn | undefined, isPatient = false) =>
      call("settle", [batches, at, how], isPatient) as Promise<Settled>;
    return turn === "try" ? soon("settle", settleIn) : settleIn(turn, turn !== undefined);
  };

  return { claim, settle };
}

async function orBusy<T>(work: Promise<T>): Promise<T | "busy"> {
  try {
    return await work;
  } catch (error) {
    if (isOrbError(error, "database_busy")) return "busy";
    throw error;
  }
}
