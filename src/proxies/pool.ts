/** The proxies that this process chooses from, and its observations since the last write. */
import { setImmediate } from "node:timers/promises";
import type { Clock, Timer } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Seal } from "../base/seal.ts";
import { createRotation, type ProxyRotation, type Rotation } from "../domain/proxy/proxy-rotation.ts";
import { afterUse, type ProxyOutcome } from "../domain/proxy/proxy-score.ts";
import { Recent } from "../domain/lane/recent.ts";
import { shownUpstream, type Upstream } from "../domain/proxy/upstream.ts";
import type { ProxyRecord, ProxyStore } from "../store/ports/proxy-port.ts";
import { type Member, Roster } from "./roster.ts";
import { upstreamOf } from "./sealed-upstream.ts";
import { SiteView } from "./site-view.ts";

interface PoolDeps {
  store: Pick<ProxyStore, "changedProxies" | "proxySites" | "proxyVersion" | "noteProxies">;
  clock: Clock;
  seal: Seal;
  log: Log;
  rotation: ProxyRotation;
}

export interface Picked {
  id: string;
  site: string;
  upstream: Upstream;
  /** Without the password. */
  shown: string;
}

export interface Wanted {
  site: string;
  /** Sticky rotation keeps one proxy per session key and site. */
  sessionKey: string;
  /** Ids of proxies already tried. */
  exclude: ReadonlySet<string>;
}

const REFRESH_MS = 1_000;
const WRITE_DELAY_MS = 1_000;
/** Sites with cached per-proxy records. */
const MAX_SITES = 1_000;
/** Proxies read, or opened, before yielding to the event loop. */
const READ_BATCH = 500;
const OPEN_BATCH = 50;

export class ProxyPool {
  readonly #deps: PoolDeps;
  readonly #rotation: Rotation;
  readonly #roster: Roster;
  readonly #sites = new Recent<Promise<SiteView>>(MAX_SITES);
  /** The last change that was read; null: none yet. */
  #version: number | null = null;
  #refreshAt = Number.NEGATIVE_INFINITY;
  #loading: Promise<void> | null = null;
  #timer: Timer | null = null;
  #writing: Promise<void> = Promise.resolve();
  /** Whether undecryptable proxy credentials were logged. */
  #warned = false;

  constructor(deps: PoolDeps) {
    this.#deps = deps;
    this.#rotation = createRotation(deps.rotation);
    this.#roster = new Roster(this.#rotation);
  }

  /** The next proxy; null: none is usable now. The caller must `report` its outcome. */
  async pick(wanted: Wanted): Promise<Picked | null> {
    await this.#refresh();
    const atSite = await this.#atSite(wanted.site);
    const picked = await this.#acquire(wanted, atSite);
    if (picked !== null) return picked;
    // Proxies may have been added or checked since the last read.
    await this.#load();
    return this.#acquire(wanted, atSite);
  }

  async #acquire(wanted: Wanted, atSite: SiteView): Promise<Picked | null> {
    for (let tries = 1; ; tries += 1) {
      const member = this.#choose(wanted, atSite);
      if (member === null) return null;
      const upstream = this.#openUpstream(member);
      if (upstream !== null) {
        member.inUse += 1;
        this.#roster.update(member, this.#deps.clock.now());
        return { id: member.id, site: wanted.site, upstream, shown: shownUpstream(upstream) };
      }
      if (tries % OPEN_BATCH === 0) await setImmediate();
    }
  }

  #choose({ site, sessionKey, exclude }: Wanted, atSite: SiteView): Member | null {
    const roster = this.#roster;
    const now = this.#deps.clock.now();
    const shares = roster.sharesAt(now);
    for (const id of exclude) {
      const seat = roster.get(id)?.seat;
      if (seat !== undefined) shares[seat] = 0;
    }
    if (!shares.some((share) => share > 0)) return null;
    atSite.narrow(shares, roster, now, this.#rotation.keeps);
    return roster.at(this.#rotation.next(shares, `${sessionKey}\n${site}`));
  }

  /** null: the current key cannot decrypt it; it rests like a proxy that refuses its credentials. */
  #openUpstream(member: Member): Upstream | null {
    try {
      member.upstream ??= upstreamOf(this.#deps.seal, member.stored);
      return member.upstream;
    } catch (error) {
      const why = messageOf(error);
      if (!this.#warned)
        this.#deps.log.warn("proxies skipped: their credentials cannot be decrypted", { first: member.id, error: why });
      this.#warned = true;
      this.#record(member, { kind: "fault", why }, null);
      return null;
    }
  }

  /** Whether any proxy is usable now or is being tried; without one, asking again soon is pointless. */
  async hasAny(): Promise<boolean> {
    await this.#refresh();
    return this.#roster.hasAnyAt(this.#deps.clock.now());
  }

  /** null: no observation, as after a cancellation. Never fails: the fetched page counts. */
  report(picked: Picked, outcome: ProxyOutcome | null): void {
    const member = this.#roster.get(picked.id);
    if (member === undefined) return;
    member.inUse = Math.max(0, member.inUse - 1);
    if (outcome === null) this.#roster.update(member, this.#deps.clock.now());
    else this.#record(member, outcome, picked.site);
  }

  /** `site`: null: not used at a site. */
  #record(member: Member, outcome: ProxyOutcome, site: string | null): void {
    const now = this.#deps.clock.now();
    member.health = afterUse(member.health, outcome, now);
    member.unwritten.push({ id: member.id, outcome, at: now, site });
    this.#roster.update(member, now);
    this.#timer ??= this.#deps.clock.after(WRITE_DELAY_MS, () => void this.#write());
    if (site === null) return;
    // If the read fails, the next one includes this use.
    this.#atSite(site).then(
      (atSite) => atSite.note(member.id, outcome, now),
      () => {},
    );
  }

  /** Flushes the observations. */
  async stop(): Promise<void> {
    await this.#write();
    this.#timer?.cancel();
    this.#timer = null;
  }

  /** Changes by others are seen within a second, as long as proxies are requested. */
  async #refresh(): Promise<void> {
    const now = this.#deps.clock.monotonic();
    if (now >= this.#refreshAt) {
      this.#refreshAt = now + REFRESH_MS;
      // With known proxies, callers do not wait for the read.
      this.#load().catch((error: unknown) => {
        this.#refreshAt = Number.NEGATIVE_INFINITY;
        this.#deps.log.warn("cannot reload the proxies", { error: messageOf(error) });
      });
    }
    if (this.#version === null) await this.#load();
  }

  #load(): Promise<void> {
    this.#loading ??= this.#loadChanged().finally(() => (this.#loading = null));
    return this.#loading;
  }

  async #loadChanged(): Promise<void> {
    const { store } = this.#deps;
    const { changed, removed } = await store.proxyVersion();
    if (changed === this.#version) return;
    // A removed proxy cannot be read individually: it is missing in the full list.
    const all = this.#version === null || removed > this.#version ? new Set<string>() : null;
    let since = all === null ? this.#version! : 0;
    for (;;) {
      const { proxies, next } = await store.changedProxies(since, READ_BATCH);
      for (const record of proxies) {
        all?.add(record.id);
        this.#merge(record);
      }
      if (proxies.length < READ_BATCH) break;
      since = next;
      await setImmediate();
    }
    // Observations about removed proxies are dropped.
    if (all !== null) for (const member of this.#roster.all) if (!all.has(member.id)) this.#roster.remove(member);
    this.#version = changed;
  }

  #merge(record: ProxyRecord): void {
    const now = this.#deps.clock.now();
    const { id, scheme, hostname, port, sealed, state, score, latencyMs, restUntil, restStep, lastError } = record;
    const stored = { scheme, hostname, port, sealed };
    const health = { state, score, latencyMs, restUntil, restStep, lastError };
    const known = this.#roster.get(id);
    if (state === "disabled") {
      if (known !== undefined) this.#roster.remove(known);
      return;
    }
    if (known === undefined) return this.#roster.add(id, { stored, health }, now);
    if (!sameBytes(known.stored.sealed, sealed)) {
      // Observations with another password do not apply.
      Object.assign(known, { stored, upstream: null, unwritten: [] });
      known.health = health;
    } else
      known.health = [...known.inWriting, ...known.unwritten].reduce(
        (current, seen) => afterUse(current, seen.outcome, seen.at),
        health,
      );
    this.#roster.update(known, now);
  }

  #atSite(site: string): Promise<SiteView> {
    let known = this.#sites.get(site);
    if (known === undefined) {
      known = this.#deps.store.proxySites(site).then((list) => new SiteView(list));
      this.#sites.set(site, known);
      known.catch(() => this.#sites.delete(site));
    }
    return known;
  }

  #write(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
    this.#writing = this.#writing.then(() => this.#writeNow());
    return this.#writing;
  }

  async #writeNow(): Promise<void> {
    const changed = [...this.#roster.all].filter(({ unwritten }) => unwritten.length > 0);
    if (changed.length === 0) return;
    for (const member of changed) [member.inWriting, member.unwritten] = [member.unwritten, []];
    try {
      const seen = changed.flatMap(({ inWriting }) => inWriting);
      await this.#deps.store.noteProxies(seen, this.#deps.clock.now());
    } catch (error) {
      // Only a hint: a failed write (a full disk) must not fail pages.
      this.#deps.log.warn("cannot write the statistics of proxies", { error: messageOf(error) });
    } finally {
      for (const member of changed) member.inWriting = [];
    }
  }
}

function sameBytes(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === null || b === null ? a === b : Buffer.compare(a, b) === 0;
}
