/** How the proxies of a pool did at one site. */
import {
  afterUseAtSite,
  avoidedAtSiteUntil,
  type ProxyOutcome,
  type SiteRecordOfProxy,
} from "../domain/proxy/proxy-score.ts";
import type { Roster } from "./roster.ts";

/** The share of turns that avoided proxies keep: enough to notice when they work again. */
const AVOIDED_SHARE = 0.1;

export class SiteView {
  readonly #records = new Map<string, SiteRecordOfProxy>();
  readonly #avoidedUntil = new Map<string, number>();
  /** Their seats, valid until the first avoidance expires; null: stale. */
  #seats: { list: readonly number[]; seating: number; until: number } | null = null;
  /** Accumulated fraction of turns due to avoided proxies. */
  #credit = 0;

  constructor(known: readonly (SiteRecordOfProxy & { id: string })[]) {
    for (const { id, ...record } of known) this.#set(id, record);
  }

  note(id: string, outcome: ProxyOutcome, now: number): void {
    if (outcome.kind === "fault") return;
    this.#set(id, afterUseAtSite(this.#records.get(id) ?? null, outcome, now));
  }

  /**
   * Selects the candidates for this turn: usually the accepted proxies, now and then avoided ones; all where all are
   * avoided. `always`: avoided ones get no turn while there are others.
   */
  narrow(shares: number[], roster: Pick<Roster, "get" | "seating">, now: number, always: boolean): void {
    const avoided = this.#avoidedSeats(roster, now);
    if (avoided.length === 0) return;
    const avoidedShares = avoided.map((seat) => shares[seat]!);
    let avoidedSum = 0;
    for (const share of avoidedShares) avoidedSum += share * AVOIDED_SHARE;
    for (const seat of avoided) shares[seat] = 0;
    let acceptedSum = 0;
    for (const share of shares) acceptedSum += share;
    if (acceptedSum > 0 && (always || !this.#isTheirTurn(avoidedSum / (avoidedSum + acceptedSum)))) return;
    if (acceptedSum > 0) shares.fill(0);
    for (let n = 0; n < avoided.length; n += 1) shares[avoided[n]!] = avoidedShares[n]!;
  }

  /** Recomputed only when the avoided set or the seats change: it takes milliseconds for thousands. */
  #avoidedSeats(roster: Pick<Roster, "get" | "seating">, now: number): readonly number[] {
    const { seating } = roster;
    if (this.#seats !== null && this.#seats.seating === seating && now < this.#seats.until) return this.#seats.list;
    const list: number[] = [];
    let first = Number.POSITIVE_INFINITY;
    for (const [id, until] of this.#avoidedUntil) {
      if (until <= now) {
        this.#avoidedUntil.delete(id);
        continue;
      }
      first = Math.min(first, until);
      const seat = roster.get(id)?.seat;
      if (seat !== undefined) list.push(seat);
    }
    this.#seats = { list, seating, until: first };
    return list;
  }

  #isTheirTurn(fraction: number): boolean {
    this.#credit += fraction;
    if (this.#credit < 1) return false;
    this.#credit -= 1;
    return true;
  }

  #set(id: string, record: SiteRecordOfProxy): void {
    this.#records.set(id, record);
    const until = avoidedAtSiteUntil(record);
    if (until > 0 !== this.#avoidedUntil.has(id)) this.#seats = null;
    if (until > 0) this.#avoidedUntil.set(id, until);
    else this.#avoidedUntil.delete(id);
  }
}
