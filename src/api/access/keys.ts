import type { Clock } from "../../base/clock.ts";
import { isoOf } from "../../base/iso.ts";
import { hashOfSecret, isKeySecret } from "../../domain/access/key-secret.ts";
import type { Principal } from "../../domain/access/principal.ts";
import type { ApiDeps } from "../deps.ts";

/** With the interval of streams below, a revocation holds everywhere within a second. */
export const FRESH_MS = 400;
export const RECHECK_MS = 400;
const MOST = 2000;
const NOTE_EVERY_MS = 60_000;

type Store = ApiDeps["store"];
export type KeyRecord = NonNullable<Awaited<ReturnType<Store["key"]>>>;

interface Known {
  key: KeyRecord | null;
  readAt: number;
}

/** Keys by secret or id. A read key is used again for less than half a second, so that a burst costs one query. */
export class Keys {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();
  readonly #notedAt = new Map<string, number>();

  constructor({ store, clock }: Pick<ApiDeps, "store" | "clock">) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Null: no key, an expired or a revoked one. */
  async bySecret(secret: string): Promise<KeyRecord | null> {
    if (!isKeySecret(secret)) return null;
    const hash = hashOfSecret(secret);
    return this.#usable(await this.#read(`hash ${hash}`, () => this.#store.keyByHash(hash)));
  }

  /** Why a key is refused; null: it is none, or valid. Who asks has the secret, so this gives nothing away. */
  async whyRefused(secret: string): Promise<string | null> {
    if (!isKeySecret(secret)) return null;
    const hash = hashOfSecret(secret);
    const key = await this.#read(`hash ${hash}`, () => this.#store.keyByHash(hash));
    if (key === null || this.#usable(key) !== null) return null;
    if (key.revokedAt !== null) return `the key ${key.name} was revoked`;
    return `the key ${key.name} expired at ${isoOf(key.expiresAt!)}`;
  }

  async byId(id: string): Promise<KeyRecord | null> {
    return this.#usable(await this.#read(`id ${id}`, () => this.#store.key(id)));
  }

  /** A key was changed here: this server knows at once. */
  forget(): void {
    this.#known.clear();
  }

  /** Notes that it was used; once a minute, and nobody waits for it. */
  noteUse({ id, lastUsedAt }: KeyRecord): void {
    const now = this.#clock.now();
    const last = Math.max(this.#notedAt.get(id) ?? 0, lastUsedAt ?? 0);
    if (now - last < NOTE_EVERY_MS) return;
    this.#notedAt.set(id, now);
    if (this.#notedAt.size > MOST) this.#notedAt.clear();
    this.#store.noteKeyUse(id, now).catch(() => this.#notedAt.delete(id));
  }

  #usable(key: KeyRecord | null): KeyRecord | null {
    if (key === null || key.revokedAt !== null) return null;
    return key.expiresAt !== null && key.expiresAt <= this.#clock.now() ? null : key;
  }

  async #read(name: string, read: () => Promise<KeyRecord | null>): Promise<KeyRecord | null> {
    const known = this.#known.get(name);
    // Counted from before the read: what was committed before it is seen.
    const readAt = this.#clock.monotonic();
    if (known !== undefined && readAt - known.readAt < FRESH_MS) return known.key;
    const key = await read();
    // Wrong keys are not kept: they would displace the others.
    if (key === null) this.#known.delete(name);
    else this.#known.set(name, { key, readAt });
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST && oldest !== undefined) this.#known.delete(oldest);
    return key;
  }
}

export function principalOf(key: KeyRecord): Principal {
  const { id, name, role, limits, requestsPerMinute } = key;
  const isLimited = Object.values(limits).some((limit) => limit !== null);
  return { kind: "key", id, name, role, limits: isLimited ? limits : null, requestsPerMinute };
}
