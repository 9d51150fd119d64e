import { randomBytes } from "node:crypto";
import type { Actor } from "../../domain/access/caller.ts";
import { OrbError } from "../../base/errors.ts";
import { isoOf, isoOrNull } from "../../base/iso.ts";
import { keySecret } from "../../domain/access/key-secret.ts";
import type { Role } from "../../domain/access/roles.ts";
import type { KeyChange, KeyRecord } from "../../store/ports/security/access-port.ts";
import { siteOf } from "../../domain/text/url.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { siteName } from "../sites/sites.ts";

type Deps = Pick<OrchestratorDeps, "store" | "clock">;

/** A key as the API returns it, never with its secret. */
interface KeyView {
  id: string;
  name: string;
  prefix: string;
  role: Role;
  jobs: string[] | null;
  sites: string[] | null;
  tags: string[] | null;
  requests_per_minute: number | null;
  status: "active" | "expired" | "revoked";
  created_at: string;
  created_by: Actor | null;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
}

interface KeyInput {
  name: string;
  role: Role;
  jobs?: readonly string[] | null;
  sites?: readonly string[] | null;
  tags?: readonly string[] | null;
  requests_per_minute?: number | null;
  expires_at?: string | null;
}

function toKeyView(key: KeyRecord, now: number): KeyView {
  const { jobs, sites, tags } = key.limits;
  const listOf = (list: readonly string[] | null) => (list === null ? null : [...list]);
  const isExpired = key.expiresAt !== null && key.expiresAt <= now;
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    role: key.role,
    jobs: listOf(jobs),
    sites: listOf(sites),
    tags: listOf(tags),
    requests_per_minute: key.requestsPerMinute,
    status: key.revokedAt !== null ? "revoked" : isExpired ? "expired" : "active",
    created_at: isoOf(key.createdAt),
    created_by: key.createdBy,
    expires_at: isoOrNull(key.expiresAt),
    last_used_at: isoOrNull(key.lastUsedAt),
    revoked_at: isoOrNull(key.revokedAt),
  };
}

/** The only place that returns the secret. */
export async function createKey(deps: Deps, input: KeyInput): Promise<KeyView & { key: string }> {
  const now = deps.clock.now();
  const { secret, prefix, hash } = keySecret(randomBytes(32));
  const limits = { jobs: input.jobs ?? null, sites: sitesOf(input.sites), tags: input.tags ?? null };
  refuseLimitedAdmin(input.role, limits);
  await requireJobs(deps, limits.jobs);
  const created = await deps.store.createKey(
    {
      name: input.name,
      hash,
      prefix,
      role: input.role,
      limits,
      requestsPerMinute: input.requests_per_minute ?? null,
      expiresAt: expiryOf(input.expires_at, now),
    },
    now,
  );
  return { ...toKeyView(created, now), key: secret };
}

export async function listKeys(
  deps: Deps,
  filter: { after?: string; limit: number; revoked?: boolean },
): Promise<KeyView[]> {
  const now = deps.clock.now();
  return (await deps.store.keys(filter)).map((key) => toKeyView(key, now));
}

export async function showKey(deps: Deps, id: string): Promise<KeyView> {
  return toKeyView(await requireKey(deps, id), deps.clock.now());
}

export async function changeKey(deps: Deps, id: string, input: Partial<KeyInput>): Promise<KeyView> {
  const now = deps.clock.now();
  const change: KeyChange = {
    limits: {
      ...(input.jobs === undefined ? {} : { jobs: input.jobs }),
      ...(input.sites === undefined ? {} : { sites: sitesOf(input.sites) }),
      ...(input.tags === undefined ? {} : { tags: input.tags }),
    },
    ...(input.name === undefined ? {} : { name: input.name }),
    ...(input.role === undefined ? {} : { role: input.role }),
    ...(input.requests_per_minute === undefined ? {} : { requestsPerMinute: input.requests_per_minute }),
    ...(input.expires_at === undefined ? {} : { expiresAt: expiryOf(input.expires_at, now) }),
  };
  // Those that it has may be of jobs that were deleted.
  if (input.jobs) await requireJobs(deps, input.jobs, (await requireKey(deps, id)).limits.jobs);
  return toKeyView(await deps.store.changeKey(id, change, now), now);
}

export async function revokeKey(deps: Deps, id: string): Promise<KeyView> {
  const now = deps.clock.now();
  return toKeyView(await deps.store.revokeKey(id, now), now);
}

async function requireKey({ store }: Deps, id: string): Promise<KeyRecord> {
  const key = await store.key(id);
  if (key === null)
    throw new OrbError("not_found", `there is no key with the id ${id}`, {
      hint: "`orb keys list` shows the ids of all keys.",
    });
  return key;
}

function expiryOf(text: string | null | undefined, now: number): number | null {
  if (text === null || text === undefined) return null;
  const at = Date.parse(text);
  if (at > now) return at;
  throw invalid("expires_at", "must be in the future");
}

/** An admin could create a key without limits. */
function refuseLimitedAdmin(role: Role, limits: KeyRecord["limits"]): void {
  if (role === "admin" && Object.values(limits).some((limit) => limit !== null))
    throw invalid("role", "an admin cannot be limited to jobs, sites or tags: choose operator or viewer");
}

/** As the queue names them; the address of a page is its site. */
function sitesOf(sites: readonly string[] | null | undefined): string[] | null {
  const named = sites?.map((text, index) => siteAt(text.trim(), `sites[${index}]`));
  return named === undefined ? null : [...new Set(named)];
}

function siteAt(text: string, path: string): string {
  const page = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  return page === null ? siteName(text, path) : siteOf(page);
}

async function requireJobs({ store }: Deps, jobs: readonly string[] | null, known: readonly string[] | null = null) {
  for (const [index, id] of (jobs ?? []).entries())
    if (known?.includes(id) !== true && (await store.job(id)) === null)
      throw invalid(`jobs[${index}]`, `there is no job with the id ${id}`);
}

function invalid(path: string, message: string): OrbError {
  return new OrbError("input_invalid", `${path}: ${message}`, { fields: [{ path, message }] });
}
