/** The proxies that this process chooses from, and what it has seen of them since it last wrote that down. */
import type { Clock, Timer } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Seal } from "../base/seal.ts";
import { createRotation, type ProxyRotation, type Rotation } from "../domain/proxy-rotation.ts";
import {
  afterUse,
  afterUseAtSite,
  isAvoidedAtSite,
  mayBeUsed,
  onProbation,
  type ProxyHealth,
  type ProxyOutcome,
  type SiteRecordOfProxy,
  UNKNOWN_AT_SITE,
  weightOf,
} from "../domain/proxy-score.ts";
import { Recent } from "../domain/recent.ts";
import { shownUpstream, type Upstream } from "../domain/upstream.ts";
import type { ProxyNote, ProxyRecord, ProxyVerbs } from "../store/proxy-port.ts";
import { upstreamOf } from "./sealed-upstream.ts";

export interface PoolDeps {
  store: Pick<ProxyVerbs, "proxyPool" | "proxySites" | "proxyVersion" | "noteProxies">;
  clock: Clock;
  seal: Seal;
  log: Log;
  rotation: ProxyRotation;
}

export interface Picked {
  id: string;
  site: string;
  upstream: Upstream;
  /** As it may be shown. */
  shown: string;
}

export interface Wanted {
  site: string;
  /** Who keeps the same proxy at a site, where proxies stick. */
  sessionKey: string;
  /** Ids of those that have been tried. */
  exclude: ReadonlySet<string>;
}

type Counts = Pick<ProxyNote, "successes" | "failures" | "blocks">;

interface Member {
  id: string;
  upstream: Upstream;
  shown: string;
  health: ProxyHealth;
  /** Uses that have not ended. */
  inUse: number;
  /** What is not written yet; null: nothing. */
  unwritten: (Counts & { usedAt: number; sites: Map<string, Counts> }) | null;
}

const LOOK_EVERY_MS = 1_000;
const WRITE_EVERY_MS = 1_000;
/** Proxies at sites, of which it is known how they did there. */
const MOST_SITES = 1_000;

export class ProxyPool {
  readonly #deps: PoolDeps;
  readonly #rotation: Rotation;
  #members = new Map<string, Member>();
  /** How proxies did at sites, by site. */
  readonly #sites = new Recent<Promise<Map<string, SiteRecordOfProxy>>>(MOST_SITES);
  #version: number | null = null;
  #lookAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;
  #timer: Timer | null = null;
  #writing: Promise<void> = Promise.resolve();
  /** Ids of those that are being written: what the store says of them may be older. */
  #inWriting: ReadonlySet<string> = new Set();
  /** Proxies whose credentials cannot be opened were told of. */
  readonly #told = new Set<string>();

  constructor(deps: PoolDeps) {
    this.#deps = deps;
    this.#rotation = createRotation(deps.rotation);
  }

  /** The next proxy; null: there is none that could be used now. Its outcome has to be reported, or its use undone. */
  async pick(wanted: Wanted): Promise<Picked | null> {
    await this.#look();
    const atSite = await this.#atSite(wanted.site);
    const picked = this.#choose(wanted, atSite);
    if (picked !== null) return picked;
    // Somebody may have brought or checked some a moment ago.
    await this.#load();
    return this.#choose(wanted, atSite);
  }

  #choose({ site, sessionKey, exclude }: Wanted, atSite: ReadonlyMap<string, SiteRecordOfProxy>): Picked | null {
    const now = this.#deps.clock.now();
    const free = [...this.#members.values()].filter(
      ({ id, health, inUse }) =>
        !exclude.has(id) && mayBeUsed(health, now) && (inUse === 0 || !onProbation(health, now)),
    );
    const welcome = free.filter(({ id }) => !isAvoidedAtSite(atSite.get(id) ?? UNKNOWN_AT_SITE));
    const choice = (welcome.length > 0 ? welcome : free).map((member) => ({
      id: member.id,
      weight: weightOf(member.health),
      member,
    }));
    if (choice.length === 0) return null;
    const { member } = this.#rotation.next(choice, `${sessionKey}\n${site}`);
    member.inUse += 1;
    const { id, upstream, shown } = member;
    return { id, site, upstream, shown };
  }

  /** Whether any proxy could be used now or is being tried just now; without one, nobody needs to ask again soon. */
  async hasAny(): Promise<boolean> {
    await this.#look();
    const now = this.#deps.clock.now();
    return [...this.#members.values()].some(({ health }) => mayBeUsed(health, now));
  }

  /** null: nothing was seen of it, as when the work was called off. Never fails: the page that came through it counts. */
  report(picked: Picked, outcome: ProxyOutcome | null): void {
    const member = this.#members.get(picked.id);
    if (member !== undefined) member.inUse = Math.max(0, member.inUse - 1);
    if (member === undefined || outcome === null) return;
    const now = this.#deps.clock.now();
    member.health = afterUse(member.health, outcome, now);
    member.unwritten ??= { successes: 0, failures: 0, blocks: 0, usedAt: now, sites: new Map() };
    member.unwritten.usedAt = now;
    count(member.unwritten, outcome);
    const site = member.unwritten.sites.get(picked.site) ?? { successes: 0, failures: 0, blocks: 0 };
    if (outcome.kind !== "fault") count(site, outcome);
    member.unwritten.sites.set(picked.site, site);
    this.#timer ??= this.#deps.clock.after(WRITE_EVERY_MS, () => void this.#write());
    this.#noteAtSite(picked, outcome);
  }

  /** What cannot be read just now is read with this use in it, when it is next asked for. */
  #noteAtSite({ id, site }: Picked, outcome: ProxyOutcome): void {
    this.#atSite(site).then(
      (atSite) => atSite.set(id, afterUseAtSite(atSite.get(id) ?? UNKNOWN_AT_SITE, outcome)),
      () => {},
    );
  }

  /** Writes what was seen. */
  async stop(): Promise<void> {
    await this.#write();
    this.#timer?.cancel();
    this.#timer = null;
  }

  /** What others have changed is seen within a second, as long as somebody asks. */
  async #look(): Promise<void> {
    const now = this.#deps.clock.monotonic();
    if (now >= this.#lookAt) {
      this.#lookAt = now + LOOK_EVERY_MS;
      this.#looking = this.#load();
      // Who has proxies goes on with them meanwhile.
      this.#looking.catch((error: unknown) => {
        this.#lookAt = Number.NEGATIVE_INFINITY;
        this.#deps.log.warn("the proxies could not be read anew", { error: messageOf(error) });
      });
    }
    if (this.#version === null) await this.#looking;
  }

  async #load(): Promise<void> {
    const { store, clock } = this.#deps;
    const version = await store.proxyVersion();
    if (version === this.#version) return;
    const records = await store.proxyPool(clock.now());
    const members = new Map<string, Member>();
    for (const record of records) {
      const member = this.#member(record);
      if (member !== null) members.set(member.id, member);
    }
    // What was seen of one that is gone is of no use to anybody.
    this.#members = members;
    this.#version = version;
  }

  #member(record: ProxyRecord): Member | null {
    const { id, state, score, latencyMs, restUntil, restStep, lastError } = record;
    const health = { state, score, latencyMs, restUntil, restStep, lastError };
    const known = this.#members.get(id);
    if (known !== undefined) {
      // What was seen here and is not written yet is newer; but what an operator says holds at once.
      const isNewer = known.unwritten !== null || this.#inWriting.has(id);
      if (!isNewer || state === "disabled" || known.health.state === "disabled") known.health = health;
      return known;
    }
    try {
      const upstream = upstreamOf(this.#deps.seal, record);
      return { id, upstream, shown: shownUpstream(upstream), health, inUse: 0, unwritten: null };
    } catch (error) {
      if (!this.#told.has(id)) this.#deps.log.warn("a proxy is left out", { proxy: id, error: messageOf(error) });
      this.#told.add(id);
      return null;
    }
  }

  #atSite(site: string): Promise<Map<string, SiteRecordOfProxy>> {
    let known = this.#sites.get(site);
    if (known === undefined) {
      known = this.#deps.store.proxySites(site).then((list) => new Map(list.map(({ id, ...rest }) => [id, rest])));
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
    const changed = [...this.#members.values()].filter(({ unwritten }) => unwritten !== null);
    if (changed.length === 0) return;
    const notes = changed.map((member) => noteOf(member, member.unwritten!));
    for (const member of changed) member.unwritten = null;
    this.#inWriting = new Set(notes.map(({ id }) => id));
    try {
      await this.#deps.store.noteProxies(notes, this.#deps.clock.now());
    } catch (error) {
      // It is a hint, not a truth: what cannot be written now (a full disk) is not worth failing pages for.
      this.#deps.log.warn("what was seen of proxies could not be written", { error: messageOf(error) });
    } finally {
      this.#inWriting = new Set();
    }
  }
}

function count(counts: Counts, { kind }: ProxyOutcome): void {
  if (kind === "good") counts.successes += 1;
  else if (kind === "blocked") counts.blocks += 1;
  else counts.failures += 1;
}

function noteOf({ id, health }: Member, what: NonNullable<Member["unwritten"]>): ProxyNote {
  const { successes, failures, blocks, usedAt, sites } = what;
  return {
    id,
    ...health,
    successes,
    failures,
    blocks,
    checkedAt: null,
    usedAt,
    sites: [...sites].map(([site, counts]) => ({ site, ...counts })),
  };
}
