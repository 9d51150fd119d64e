import { isOrbError } from "../../base/errors.ts";
import type { Turn } from "../ports/claim-port.ts";
import type { Claim, LaneHold, Settled, Store } from "../ports/port.ts";
import { ClaimTurns } from "./claim-turns.ts";
import { Patience } from "./patience.ts";

/** Calls a method of the store; `isPatient`: on the connection of those that wait for others. */
export type StoreCall = (method: string, args: unknown[], isPatient?: boolean) => Promise<unknown>;

/**
 * Claims and settles of runs that others have locked. They wait a little, as most locks are released soon; then they leave
 * out what is locked, so that one run does not hold up others; what is left waits on a connection of its own.
 */
export function inTurns(call: StoreCall): Pick<Store, "claim" | "settle"> {
  const patience = new Patience();
  const claimTurns = new ClaimTurns();
  /** Lanes that waited in vain: they leave runs out at once, until they find all of them free. */
  const impatientLanes = new WeakSet<LaneHold>();
  const impatience = { settles: false };

  const timed = async <T>(work: Promise<T>): Promise<T> => {
    const begun = performance.now();
    const result = await work;
    patience.took(performance.now() - begun);
    return result;
  };
  const orBusy = <T>(work: Promise<T>): Promise<T | "busy"> =>
    work.catch((error: unknown) => {
      if (isOrbError(error, "database_busy")) return "busy" as const;
      throw error;
    });

  const claim: Store["claim"] = async (hold, options, now) => {
    const claimIn = (turn: Turn, isPatient = false) =>
      call("claim", [hold, { ...options, turn }, now], isPatient) as Promise<Claim | null>;
    if (!impatientLanes.has(hold)) {
      const claimed = await orBusy(timed(claimIn({ waitMs: patience.waitMs })));
      if (claimed !== "busy") return claimed;
      impatientLanes.add(hold);
    }
    const claimed = await timed(claimIn("try"));
    if (claimed?.busy !== true) {
      impatientLanes.delete(hold);
      return claimed;
    }
    const waitMs = claimTurns.begin();
    if (waitMs === null) return claimed;
    let isInVain = false;
    try {
      const waited = await orBusy(claimIn({ waitMs }, true));
      isInVain = waited === "busy";
      if (waited === "busy") return claimed;
      impatientLanes.delete(hold);
      return waited;
    } finally {
      claimTurns.end(isInVain);
    }
  };

  const settle: Store["settle"] = async (batches, now, turn) => {
    const settleIn = (how: Turn | undefined, isPatient = false) =>
      call("settle", [batches, now, how], isPatient) as Promise<Settled>;
    if (turn !== "try") return settleIn(turn, turn !== undefined);
    if (!impatience.settles) {
      const settled = await orBusy(timed(settleIn({ waitMs: patience.waitMs })));
      if (settled !== "busy") return settled;
      impatience.settles = true;
    }
    const settled = await timed(settleIn("try"));
    impatience.settles = (settled.busy?.length ?? 0) > 0;
    return settled;
  };

  return { claim, settle };
}
