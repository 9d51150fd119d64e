/** How the proxies of a pool did at one site. */
import {
  afterUseAtSite,
  avoidedAtSiteUntil,
  type ProxyOutcome,
  type SiteRecordOfProxy,
} from "../domain/proxy-score.ts";

/** What those that are avoided get of what they would get elsewhere: enough to see when it has become better. */
const AVOIDED_SHARE = 0.1;

export class SiteView {
  readonly #records = new Map<string, SiteRecordOfProxy>();
  readonly #avoidedUntil = new Map<string, number>();
  /** Turns that the avoided ones have a right to, and did not get yet. */
  #owed = 0;

  constructor(known: readonly (SiteRecordOfProxy & { id: string })[]) {
    for (const { id, ...record } of known) this.#set(id, record);
  }

  note(id: string, outcome: ProxyOutcome, now: number): void {
    if (outcome.kind === "fault") return;
    this.#set(id, afterUseAtSite(this.#records.get(id) ?? null, outcome, now));
  }

  /**
   * Leaves those whose turn it is: as a rule the welcome ones, now and then the avoided ones; everybody where all are avoided.
   * `seatOf`: undefined for who is not in the pool. `always`: the avoided ones get no turn as long as there are others.
   */
  narrow(shares: number[], seatOf: (id: string) => number | undefined, now: number, always: boolean): void {
    const avoided: { seat: number; share: number }[] = [];
    let avoidedTotal = 0;
    for (const [id, until] of this.#avoidedUntil) {
      if (until <= now) {
        this.#avoidedUntil.delete(id);
        continue;
      }
      const seat = seatOf(id);
      const share = seat === undefined ? 0 : shares[seat]!;
      if (seat === undefined || share === 0) continue;
      avoided.push({ seat, share });
      avoidedTotal += share * AVOIDED_SHARE;
      shares[seat] = 0;
    }
    if (avoided.length === 0) return;
    let welcome = 0;
    for (const share of shares) welcome += share;
    if (welcome > 0 && (always || !this.#isTheirTurn(avoidedTotal / (avoidedTotal + welcome)))) return;
    if (welcome > 0) shares.fill(0);
    for (const { seat, share } of avoided) shares[seat] = share;
  }

  #isTheirTurn(part: number): boolean {
    this.#owed += part;
    if (this.#owed < 1) return false;
    this.#owed -= 1;
    return true;
  }

  #set(id: string, record: SiteRecordOfProxy): void {
    this.#records.set(id, record);
    const until = avoidedAtSiteUntil(record);
    if (until > 0) this.#avoidedUntil.set(id, until);
    else this.#avoidedUntil.delete(id);
  }
}
