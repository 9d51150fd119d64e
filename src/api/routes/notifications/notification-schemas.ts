/** Schemas of notification channels and rules. */
import { CHANNEL_KIND_NAMES } from "../../../domain/notify/registry.ts";
import type { JobNotify, NotificationRule } from "../../../domain/notify/rules.ts";
import {
  DELIVERY_STATES,
  NOTIFICATION_TYPES,
  type NotificationType,
  SEVERITIES,
} from "../../../domain/notify/types.ts";
import type { Settings } from "../../../domain/notify/channel-kind.ts";
import { Count, nullable, oneOf, strict, Time, Uuid } from "../../schemas.ts";
import { Type } from "../../type.ts";

const Types = Type.Array(oneOf(NOTIFICATION_TYPES), {
  minItems: 1,
  maxItems: 50,
  description: "absent: all but run_completed and run_cancelled",
});

/** Of a job. */
export const Notify = Type.Unsafe<readonly JobNotify[]>(
  Type.Array(
    strict({
      channel: Type.String({ minLength: 1, maxLength: 200, description: "id or name of a notification channel" }),
      types: Type.Optional(Types),
    }),
    { maxItems: 20, description: "channels to notify about this job, besides those whose rules match" },
  ),
);

export const Rules = Type.Unsafe<readonly NotificationRule[]>(
  Type.Array(
    strict({
      types: Type.Optional(Types),
      min_severity: Type.Optional(oneOf(SEVERITIES)),
      tags: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
          minItems: 1,
          maxItems: 50,
          description: "jobs with one of these tags",
        }),
      ),
      sites: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 253 }), {
          minItems: 1,
          maxItems: 100,
          description: "sites with their subdomains",
        }),
      ),
      jobs: Type.Optional(Type.Array(Uuid, { minItems: 1, maxItems: 100, description: "ids of jobs" })),
    }),
    {
      maxItems: 50,
      description:
        "a notification that matches one of them is sent; [{}]: all but run_completed and run_cancelled (the default), []: only for jobs that name the channel",
    },
  ),
);

const quietKeys = {
  from: Type.String({ maxLength: 5, description: "local time, such as 22:00" }),
  to: Type.String({ maxLength: 5, description: "local time, such as 07:00" }),
  timezone: Type.String({ maxLength: 100, description: "such as Europe/Berlin (default: UTC)" }),
  except: nullable(oneOf(SEVERITIES, { description: "sent at once all the same, from this severity" })),
};
const { from, to, timezone, except } = quietKeys;
const QuietHours = nullable(strict({ from, to, timezone: Type.Optional(timezone), except: Type.Optional(except) }));

const keys = {
  name: Type.String({ minLength: 1, maxLength: 100, description: "unique; can be used instead of the id" }),
  kind: oneOf(CHANNEL_KIND_NAMES),
  settings: Type.Record(Type.String({ maxLength: 50 }), Type.Unknown(), {
    description: "depends on the kind: GET /notifications/kinds lists them; secrets are never returned",
  }),
  rules: Type.Optional(Rules),
  quiet_hours: Type.Optional(QuietHours),
  group_minutes: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1440, description: "at most one message in this time (default: 0)" }),
  ),
  enabled: Type.Optional(Type.Boolean({ description: "default: true" })),
};

export const ChannelBody = strict(keys);
export const ChannelChange = Type.Partial(strict(keys), { additionalProperties: false, minProperties: 1 });

export const Channel = strict({
  id: Uuid,
  name: Type.String(),
  kind: oneOf(CHANNEL_KIND_NAMES),
  target: Type.String({ description: "the receiver, without secrets" }),
  settings: Type.Unsafe<Settings>(Type.Record(Type.String(), Type.Unknown())),
  secrets: Type.Array(Type.String(), { description: "secret settings that are set" }),
  rules: Rules,
  quiet_hours: nullable(strict(quietKeys)),
  group_minutes: Type.Number(),
  enabled: Type.Boolean(),
  status: oneOf(["healthy", "failing", "unused", "disabled"]),
  failing_since: nullable(Time),
  last_error: nullable(Type.String()),
  last_error_at: nullable(Time),
  last_delivered_at: nullable(Time),
  waiting: { ...Count, description: "deliveries that wait" },
  created_at: Time,
  updated_at: Time,
});

export const Kind = strict({
  kind: oneOf(CHANNEL_KIND_NAMES),
  label: Type.String(),
  about: Type.String(),
  fields: Type.Array(
    strict({
      name: Type.String(),
      label: Type.String(),
      about: Type.String(),
      type: oneOf(["text", "url", "integer", "choice", "list"]),
      required: Type.Boolean(),
      secret: Type.Boolean(),
      destination: Type.Boolean({ description: "when it changes, secrets must be entered again" }),
      example: nullable(Type.String()),
      choices: nullable(Type.Array(Type.String())),
      default: nullable(Type.Union([Type.String(), Type.Number()])),
    }),
  ),
});

export const TestResult = strict({
  delivered: Type.Boolean(),
  error: nullable(Type.String()),
  channel: Channel,
});

const ALL_TYPES: readonly NotificationType[] = [...NOTIFICATION_TYPES, "test"];

export const Delivery = strict({
  id: Uuid,
  channel_id: Uuid,
  channel: Type.String(),
  notification_id: { ...Uuid, description: "the same in every channel and attempt" },
  message_id: nullable({ ...Uuid, description: "of the message it is part of; null: not sent yet" }),
  type: oneOf(ALL_TYPES),
  subject: Type.String(),
  message: Type.String(),
  job_id: nullable(Type.String()),
  job_name: nullable(Type.String({ description: "of its job when it was written" })),
  site: nullable(Type.String()),
  run_id: nullable(Type.String()),
  state: oneOf(DELIVERY_STATES),
  tries: Count,
  next_try_at: nullable(Time),
  last_error: nullable(Type.String()),
  created_at: Time,
  delivered_at: nullable(Time),
});
