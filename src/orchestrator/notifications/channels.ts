/** Notification channels: where notifications go, and which. */
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../base/clock.ts";
import { type FieldError, OrbError } from "../../base/errors.ts";
import { isoOf, isoOrNull } from "../../base/iso.ts";
import type { Seal } from "../../base/seal.ts";
import type { ChannelKind, Field, Settings } from "../../domain/notify/channel-kind.ts";
import { type Message, messageOf } from "../../domain/notify/message.ts";
import { CLOCK_TIME, type QuietHours } from "../../domain/notify/quiet-hours.ts";
import { CHANNEL_KINDS, channelKind } from "../../domain/notify/registry.ts";
import type { NotificationRule } from "../../domain/notify/rules.ts";
import { readSettings, SEALED_FOR_CHANNEL, splitSettings } from "../../domain/notify/settings.ts";
import type { Severity } from "../../domain/notify/types.ts";
import type { AddressPolicy } from "../../net/address.ts";
import type { ChannelRecord, NewChannel } from "../../store/ports/notify/notify-port.ts";
import type { IdempotencyKey } from "../../store/records/job-records.ts";
import type { Store } from "../../store/ports/port.ts";
import { invalid } from "../invalid.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import { checkUrl } from "../../net/guard.ts";
import { deliverMessage } from "./deliver.ts";

export interface NotificationDeps {
  store: Store;
  clock: Clock;
  seal: Seal;
  notifications: {
    /** Which addresses channels may have. */
    policy: AddressPolicy;
    publicUrl: string | null;
    /** Whether alerts are sent by webhook. */
    deliverAlerts: boolean;
    send(channel: ChannelRecord, message: Message): Promise<string | null>;
  };
}

interface QuietHoursInput {
  from: string;
  to: string;
  timezone?: string;
  except?: Severity | null;
}

export interface ChannelInput {
  name?: string;
  kind?: string;
  settings?: Readonly<Record<string, unknown>>;
  rules?: readonly NotificationRule[];
  quiet_hours?: QuietHoursInput | null;
  group_minutes?: number;
  enabled?: boolean;
}

export interface ChannelView {
  id: string;
  name: string;
  kind: string;
  /** The receiver, without secrets. */
  target: string;
  settings: Settings;
  /** The names of secret settings that are set. */
  secrets: string[];
  rules: readonly NotificationRule[];
  quiet_hours: QuietHours | null;
  group_minutes: number;
  enabled: boolean;
  status: "healthy" | "failing" | "unused" | "disabled";
  failing_since: string | null;
  last_error: string | null;
  last_error_at: string | null;
  last_delivered_at: string | null;
  waiting: number;
  created_at: string;
  updated_at: string;
}

const MINUTE = 60_000;

function statusOf({ enabled, failingSince, lastDeliveredAt }: ChannelRecord): ChannelView["status"] {
  if (!enabled) return "disabled";
  if (failingSince !== null) return "failing";
  return lastDeliveredAt === null ? "unused" : "healthy";
}

function toView(seal: Seal, channel: ChannelRecord): ChannelView {
  return {
    id: channel.id,
    name: channel.name,
    kind: channel.kind,
    target: channel.target,
    settings: channel.settings,
    secrets: Object.keys(openSecrets(seal, channel) ?? {}),
    rules: channel.rules,
    quiet_hours: channel.quiet,
    group_minutes: channel.groupMs / MINUTE,
    enabled: channel.enabled,
    status: statusOf(channel),
    failing_since: isoOrNull(channel.failingSince),
    last_error: channel.lastError,
    last_error_at: isoOrNull(channel.lastErrorAt),
    last_delivered_at: isoOrNull(channel.lastDeliveredAt),
    waiting: channel.waiting,
    created_at: isoOf(channel.createdAt),
    updated_at: isoOf(channel.updatedAt),
  };
}

/** Null: sealed with another key. */
function openSecrets(seal: Seal, { sealed }: Pick<ChannelRecord, "sealed">): Settings | null {
  if (sealed.length === 0) return null;
  try {
    return seal.open(sealed, SEALED_FOR_CHANNEL) as Settings;
  } catch {
    return null;
  }
}

interface FieldView {
  name: string;
  label: string;
  about: string;
  type: Field["type"];
  required: boolean;
  secret: boolean;
  destination: boolean;
  example: string | null;
  choices: string[] | null;
  default: string | number | null;
}

interface KindView {
  kind: string;
  label: string;
  about: string;
  fields: FieldView[];
}

/** The kinds with their settings, as declared: forms and flags are made from it. */
export function channelKinds(): KindView[] {
  return CHANNEL_KINDS.map(({ kind, label, about, fields }) => ({
    kind,
    label,
    about,
    fields: Object.entries(fields).map(([name, field]) => ({
      name,
      label: field.label,
      about: field.about,
      type: field.type,
      required: field.required === true,
      secret: field.secret === true,
      destination: field.destination === true,
      example: field.example ?? null,
      choices: field.type === "choice" ? [...field.choices] : null,
      default: "default" in field ? field.default : null,
    })),
  }));
}

export async function createChannel(
  deps: NotificationDeps,
  input: ChannelInput & { name: string; kind: string },
  once?: IdempotencyKey,
): Promise<ChannelView> {
  const kind = channelKind(input.kind);
  const channel = await readChannel(deps, kind, input, input.settings ?? {}, []);
  const { created } = await deps.store.createChannel(channel, deps.clock.now(), once);
  return toView(deps.seal, { ...created, sealed: channel.sealed });
}

type About = Pick<NewChannel, "name" | "rules" | "quiet" | "groupMs" | "enabled">;
type Receiver = Pick<NewChannel, "settings" | "sealed" | "target">;

/** Every problem of the request in one error. */
async function readChannel(
  deps: NotificationDeps,
  kind: ChannelKind,
  input: ChannelInput,
  settings: Readonly<Record<string, unknown>>,
  rulesBefore: readonly NotificationRule[],
): Promise<NewChannel> {
  const problems: FieldError[] = [];
  const about = await readAbout(deps.store, input, rulesBefore, problems);
  const receiver = readReceiver(deps, kind, settings, problems);
  if (problems.length > 0 || receiver === null) throw invalid(problems);
  return { kind: kind.kind, ...about, ...receiver };
}

async function readAbout(
  store: Store,
  input: ChannelInput,
  rulesBefore: readonly NotificationRule[],
  problems: FieldError[],
): Promise<About> {
  const { name = "", rules = [{}], group_minutes: minutes = 0, enabled = true } = input;
  if (name.trim() !== name || name === "" || /[\p{Cc}\p{Cf}]/u.test(name))
    problems.push({
      path: "name",
      message: "must not be empty, begin or end with a space, or have control characters",
    });
  if (/^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(name))
    problems.push({ path: "name", message: "must not have the form of an id" });
  const quiet = readQuietHours(input.quiet_hours ?? null, problems);
  await checkJobs(store, rules, rulesBefore, problems);
  return { name, rules, quiet, groupMs: Math.round(minutes * MINUTE), enabled };
}

function readReceiver(
  { seal, notifications }: NotificationDeps,
  kind: ChannelKind,
  input: Readonly<Record<string, unknown>>,
  problems: FieldError[],
): Receiver | null {
  const read = readSettings(kind, input);
  if ("problems" in read) {
    problems.push(...read.problems.map(({ path, message }) => ({ path: `settings.${path}`, message })));
    return null;
  }
  const { settings } = read;
  for (const [key, { type }] of Object.entries(kind.fields))
    if (type === "url" && typeof settings[key] === "string")
      refusePrivate(`settings.${key}`, settings[key], notifications.policy, problems);
  const { shown, secret } = splitSettings(kind, settings);
  return { settings: shown, sealed: seal.close(secret, SEALED_FOR_CHANNEL), target: kind.target(settings) };
}

/** An address is refused at once; what a name leads to, when a message is sent. */
function refusePrivate(path: string, url: string, policy: AddressPolicy, problems: FieldError[]): void {
  try {
    checkUrl(url, policy);
  } catch (error) {
    if (!(error instanceof FetchFailure)) throw error;
    const { reason, message } = error.failure;
    const isPrivate = reason === "private_address";
    problems.push({
      path,
      message: isPrivate ? "is not on the public internet; APP_NOTIFY_PRIVATE_NETWORKS can allow its network" : message,
    });
  }
}

function readQuietHours(input: QuietHoursInput | null, problems: FieldError[]): QuietHours | null {
  if (input === null) return null;
  const { from, to, timezone = "UTC", except = null } = input;
  for (const [path, value] of Object.entries({ from, to }))
    if (!CLOCK_TIME.test(value))
      problems.push({ path: `quiet_hours.${path}`, message: "expected a time such as 22:00" });
  if (from === to) problems.push({ path: "quiet_hours.to", message: "must differ from `from`" });
  try {
    Intl.DateTimeFormat("en", { timeZone: timezone });
  } catch {
    problems.push({ path: "quiet_hours.timezone", message: "expected a time zone, such as Europe/Berlin" });
  }
  return { from, to, timezone, except };
}

/** A job that was deleted since does not block other changes. */
async function checkJobs(
  store: Store,
  rules: readonly NotificationRule[],
  rulesBefore: readonly NotificationRule[],
  problems: FieldError[],
): Promise<void> {
  const known = new Set(rulesBefore.flatMap(({ jobs = [] }) => jobs));
  for (const [n, { jobs = [] }] of rules.entries())
    for (const [m, id] of jobs.entries())
      if (!known.has(id) && (await store.job(id)) === null)
        problems.push({ path: `rules[${n}].jobs[${m}]`, message: `there is no job with the id ${id}` });
}

async function requireChannel(store: Store, id: string): Promise<ChannelRecord> {
  const channel = await store.channel(id);
  if (channel === null)
    throw new OrbError("not_found", `there is no notification channel with the id or name ${id}`, {
      hint: "See all: orb notifications list",
    });
  return channel;
}

export async function listChannels({ store, seal }: NotificationDeps): Promise<ChannelView[]> {
  return (await store.channels()).map((channel) => toView(seal, channel));
}

export async function showChannel({ store, seal }: NotificationDeps, id: string): Promise<ChannelView> {
  return toView(seal, await requireChannel(store, id));
}

/**
 * Changes the fields in the request. Settings are changed one by one; null removes one. Secrets stay, unless they would
 * be sent to another server than before.
 */
export async function changeChannel(deps: NotificationDeps, id: string, change: ChannelInput): Promise<ChannelView> {
  const before = await requireChannel(deps.store, id);
  const kind = channelKind(before.kind);
  if (change.kind !== undefined && change.kind !== before.kind)
    throw invalid([{ path: "kind", message: `cannot be changed from ${before.kind}: add another channel instead` }]);
  const input: ChannelInput = {
    name: before.name,
    rules: before.rules,
    quiet_hours: before.quiet,
    group_minutes: before.groupMs / MINUTE,
    enabled: before.enabled,
    ...change,
  };
  const now = deps.clock.now();
  if (change.settings === undefined) {
    const problems: FieldError[] = [];
    const about = await readAbout(deps.store, input, before.rules, problems);
    if (problems.length > 0) throw invalid(problems);
    return toView(deps.seal, await deps.store.updateChannel(before.id, onlyAsked(change, about), now));
  }
  const secrets = openSecrets(deps.seal, before);
  const settings = { ...before.settings, ...secrets, ...change.settings };
  refuseMovedSecrets(kind, before, change.settings, settings);
  const after = await readChannel(deps, kind, input, settings, before.rules);
  const receiver = { settings: after.settings, sealed: after.sealed, target: after.target };
  const isSame =
    secrets !== null && isDeepStrictEqual([after.settings, openSecrets(deps.seal, after)], [before.settings, secrets]);
  const asked = { ...onlyAsked(change, after), ...(isSame ? {} : receiver) };
  return toView(deps.seal, await deps.store.updateChannel(before.id, asked, now));
}

/** Nothing else is written: another request may change it at the same time. */
function onlyAsked(change: ChannelInput, { name, rules, quiet, groupMs, enabled }: About): Partial<About> {
  return {
    ...(change.name === undefined ? {} : { name }),
    ...(change.rules === undefined ? {} : { rules }),
    ...(change.quiet_hours === undefined ? {} : { quiet }),
    ...(change.group_minutes === undefined ? {} : { groupMs }),
    ...(change.enabled === undefined ? {} : { enabled }),
  };
}

function refuseMovedSecrets(
  kind: ChannelKind,
  before: ChannelRecord,
  change: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): void {
  const moved = Object.entries(kind.fields).find(
    ([name, field]) => field.destination === true && name in change && after[name] !== before.settings[name],
  );
  if (moved === undefined) return;
  const left = Object.entries(kind.fields).filter(
    ([name, field]) => field.secret === true && (after[name] ?? "") !== "" && !(name in change),
  );
  if (left.length > 0)
    throw invalid(
      left.map(([name]) => ({
        path: `settings.${name}`,
        message: `must be entered again, because ${moved[0]} changes and it would be sent there`,
      })),
    );
}

export async function deleteChannel({ store }: NotificationDeps, id: string): Promise<void> {
  await store.deleteChannel((await requireChannel(store, id)).id);
}

/** Longer than one attempt. */
const TEST_MS = 60_000;

interface TestView {
  delivered: boolean;
  error: string | null;
  channel: ChannelView;
}

/** Sends a test message at once, in quiet hours, too; it is not retried. */
export async function testChannel(deps: NotificationDeps, id: string): Promise<TestView> {
  const { store, clock, notifications } = deps;
  const { id: channelId } = await requireChannel(store, id);
  const due = await store.startTest(channelId, clock.now() + TEST_MS, clock.now());
  const failure = await deliverMessage(
    { store, clock, retry: { baseMs: 0, maxMs: 0, tries: 1 }, deliver: notifications.deliverAlerts },
    due,
    () => notifications.send(due.channel, messageOf(due.notices, notifications.publicUrl)),
  );
  return {
    delivered: failure === null,
    error: failure === null ? null : (failure.error as Error).message,
    channel: await showChannel(deps, channelId),
  };
}
