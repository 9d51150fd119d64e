/** Which notifications a channel receives. */
import { notificationKind, type NotificationType, SEVERITIES, type Severity, USUAL_TYPES } from "./types.ts";

/** Every condition that is set must hold; a list holds if one of its entries does. */
export interface NotificationRule {
  /** Absent: all but those that come with every run. */
  types?: readonly NotificationType[];
  min_severity?: Severity;
  /** Of the job. */
  tags?: readonly string[];
  /** A site includes its subdomains. */
  sites?: readonly string[];
  /** Ids of jobs. */
  jobs?: readonly string[];
}

/** A job's own request. */
export interface JobNotify {
  /** The id of a channel. */
  channel: string;
  /** Absent: `JOB_TYPES`. */
  types?: readonly NotificationType[];
}

/** What a job that names a channel notifies of by default. */
const JOB_TYPES: readonly NotificationType[] = USUAL_TYPES;

export interface NotificationFacts {
  type: NotificationType;
  site: string | null;
  job: { id: string; tags: readonly string[]; notify: readonly JobNotify[] } | null;
}

const ofSite = (site: string, rule: string) => site === rule || site.endsWith(`.${rule}`);

function ruleMatches(rule: NotificationRule, { type, site, job }: NotificationFacts): boolean {
  const { types = USUAL_TYPES, min_severity: least = "info", tags, sites, jobs } = rule;
  if (!types.includes(type)) return false;
  if (SEVERITIES.indexOf(notificationKind(type).severity) < SEVERITIES.indexOf(least)) return false;
  if (tags !== undefined && !tags.some((tag) => job?.tags.includes(tag) === true)) return false;
  if (sites !== undefined && !(site !== null && sites.some((one) => ofSite(site.toLowerCase(), one.toLowerCase()))))
    return false;
  return jobs === undefined || (job !== null && jobs.includes(job.id));
}

/** Whether a channel receives it: by a rule of its own, or because the job names the channel. */
export function channelReceives(
  channel: { id: string; rules: readonly NotificationRule[] },
  facts: NotificationFacts,
): boolean {
  if (channel.rules.some((rule) => ruleMatches(rule, facts))) return true;
  const asked = facts.job?.notify.filter(({ channel: id }) => id === channel.id) ?? [];
  return asked.some(({ types = JOB_TYPES }) => types.includes(facts.type));
}
