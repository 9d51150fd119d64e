/** The proxies of a pool, each with a fixed index, their records, and which of them are available. */
import type { Rotation } from "../domain/proxy/proxy-rotation.ts";
import { mayBeUsed, onProbation, type ProxyHealth, REST_MAX_MS, weightOf } from "../domain/proxy/proxy-score.ts";
import type { Upstream } from "../domain/proxy/upstream.ts";
import type { ProxyRecord, ProxySeen } from "../store/ports/proxy-port.ts";

export interface Member {
  readonly id: string;
  readonly seat: number;
  /** Address and sealed credentials, as stored. */
  stored: Pick<ProxyRecord, "scheme" | "hostname" | "port" | "sealed">;
  /** Decrypted on first use; null: not yet. */
  upstream: Upstream | null;
  health: ProxyHealth;
  /** Uses in flight. */
  inUse: number;
  unwritten: ProxySeen[];
  /** Being written: the store may or may not include them yet. */
  inWriting: readonly ProxySeen[];
}

/** The shortest interval between scans: with very many resting proxies, one returns all the time. */
const WAKE_MS = 100;

/** Shares are maintained incrementally: choosing among 10,000 proxies reads an array of numbers, not the proxies. */
export class Roster {
  readonly #rotation: Rotation;
  readonly #members = new Map<string, Member>();
  readonly #seats: (Member | null)[] = [];
  readonly #freeSeats: number[] = [];
  /** Share of the traffic, by seat; 0: unavailable now. */
  readonly #shares: number[] = [];
  /** Unavailable until `restUntil`. */
  readonly #resting = new Set<Member>();
  #seating = 0;
  #firstBackAt = Number.POSITIVE_INFINITY;

  constructor(rotation: Rotation) {
    this.#rotation = rotation;
  }

  get(id: string): Member | undefined {
    return this.#members.get(id);
  }

  get all(): Iterable<Member> {
    return this.#members.values();
  }

  /** Changes whenever a proxy is added or removed. */
  get seating(): number {
    return this.#seating;
  }

  at(seat: number): Member {
    return this.#seats[seat]!;
  }

  add(id: string, proxy: Pick<Member, "stored" | "health">, now: number): void {
    const seat = this.#freeSeats.pop() ?? this.#seats.length;
    const member: Member = { id, seat, ...proxy, upstream: null, inUse: 0, unwritten: [], inWriting: [] };
    this.#members.set(id, member);
    this.#seating += 1;
    this.#seats[seat] = member;
    this.#rotation.seat(seat, id);
    this.update(member, now);
  }

  remove(member: Member): void {
    this.#members.delete(member.id);
    this.#seating += 1;
    this.#resting.delete(member);
    this.#seats[member.seat] = null;
    this.#shares[member.seat] = 0;
    this.#freeSeats.push(member.seat);
  }

  /** Call after every change of its health or uses. */
  update(member: Member, now: number): void {
    const { seat, health, inUse } = member;
    if (!mayBeUsed(health, now)) {
      this.#shares[seat] = 0;
      this.#resting.add(member);
      this.#firstBackAt = Math.min(this.#firstBackAt, health.restUntil);
      return;
    }
    if (this.#resting.delete(member)) this.#rotation.returned(seat);
    // A proxy on probation gets one use at a time.
    this.#shares[seat] = inUse > 0 && onProbation(health, now) ? 0 : weightOf(health);
  }

  /** A copy of all shares at this time. */
  sharesAt(now: number): number[] {
    this.#wake(now);
    return this.#shares.slice();
  }

  hasAnyAt(now: number): boolean {
    this.#wake(now);
    return this.#resting.size < this.#members.size;
  }

  #wake(now: number): void {
    if (now < this.#firstBackAt && this.#firstBackAt <= now + REST_MAX_MS) return;
    this.#firstBackAt = Number.POSITIVE_INFINITY;
    for (const member of this.#resting) this.update(member, now);
    this.#firstBackAt = Math.max(this.#firstBackAt, now + WAKE_MS);
  }
}
