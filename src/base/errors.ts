/**
 * Every error the product raises on purpose. A code is public: it is documented in docs/errors.md (a test compares
 * both ways) and never reused for something else. The reaction says what the code that catches it should do.
 */
export type Reaction =
  /** The same call may succeed later. */
  | "retry"
  /** Wait until a resource is back (disk space, the database), then continue. */
  | "wait"
  /** This piece of work has failed; others continue. */
  | "give_up"
  /** The caller must change its input. */
  | "fix_input"
  /** The process cannot work until an operator acts. */
  | "stop";

interface CatalogueEntry {
  reaction: Reaction;
  /** What happened, for the reference page. */
  meaning: string;
  /** What to do about it, for the reference page. */
  remedy: string;
}

export const ERROR_CATALOGUE = {
  config_invalid: {
    reaction: "fix_input",
    meaning: "One or more configuration values are invalid.",
    remedy: "Correct the variables named in the message; `orb config` shows the current values.",
  },
  input_invalid: {
    reaction: "fix_input",
    meaning: "A value in a command or request does not have the expected form.",
    remedy: "Correct the field named in the message.",
  },
  usage: {
    reaction: "fix_input",
    meaning: "The command line has an unknown command, option or argument.",
    remedy: "Run the command with --help.",
  },
  not_found: {
    reaction: "fix_input",
    meaning: "There is nothing with that id.",
    remedy: "It may have expired or been deleted. `orb runs list` and `orb jobs list` show what exists.",
  },
  outside_limits: {
    reaction: "fix_input",
    meaning: "The API key is limited to other jobs, sites or tags.",
    remedy: "Use another key, or have an admin change its limits: `orb keys show` prints them.",
  },
  illegal_transition: {
    reaction: "give_up",
    meaning: "The current state of the run or task does not allow this action.",
    remedy: "Check the current state; docs/concepts.md has the table of transitions.",
  },
  recovery_exhausted: {
    reaction: "give_up",
    meaning: "The workflow has used up its `max_recovery_attempts`.",
    remedy: "Rerun it, if need be with other params, or raise `max_recovery_attempts` in its definition.",
  },
  not_archived: {
    reaction: "give_up",
    meaning: "The run did not store HTTP responses, so it cannot be exported as WARC.",
    remedy: "Start the crawl with export_format warc.",
  },
  no_fixtures: {
    reaction: "give_up",
    meaning: "The job has no saved pages to test its rules on.",
    remedy:
      "Run the job once; its setting `fixtures` must not be 0. A page is saved if it gives records without a warning.",
  },
  nothing_to_repair: {
    reaction: "give_up",
    meaning: "The job has no degraded run whose rules could be repaired.",
    remedy: "See `orb jobs health`. A repair is computed from the newest run, if it is degraded and not accepted.",
  },
  image_decoder_missing: {
    reaction: "stop",
    meaning: "The image decoder is missing or does not start on this machine.",
    remedy: "Reinstall with optional packages: `npm ci --include=optional`.",
  },
  alerts_off: {
    reaction: "give_up",
    meaning: "No receiver of alerts is configured.",
    remedy: "Set APP_ALERT_WEBHOOK_URL to the receiver's URL, and restart the server.",
  },
  version_conflict: {
    reaction: "fix_input",
    meaning: "Someone else changed the resource since you read it.",
    remedy: "Read it again, apply your changes, and send them with the new version.",
  },
  idempotency_conflict: {
    reaction: "fix_input",
    meaning: "The Idempotency-Key was used before for a different request.",
    remedy: "Use a new key for every new request, and the same key only to repeat one.",
  },
  site_waits: {
    reaction: "give_up",
    meaning: "The site is paused or rate limited.",
    remedy: "Wait until the site accepts requests again; `orb sites list` shows the time.",
  },
  secret_key_wrong: {
    reaction: "fix_input",
    meaning:
      "A stored session cannot be decrypted with the current key, or processes of one deployment have different keys.",
    remedy: "Set APP_SECRET_KEY to the original key (the same on all machines), or add the session again.",
  },
  database_newer: {
    reaction: "stop",
    meaning: "The database was written by a newer version of the program.",
    remedy: "Upgrade the program, or restore a backup made by this version.",
  },
  database_foreign: {
    reaction: "stop",
    meaning: "The configured file is not an Orbweaver database.",
    remedy: "Point APP_DATABASE_URL at another file.",
  },
  database_unfinished: {
    reaction: "stop",
    meaning: "A copy into this Postgres schema is in progress, was interrupted, or failed its check.",
    remedy: "Wait until `orb migrate --to` has ended, or run it again; it starts over.",
  },
  database_busy: {
    reaction: "retry",
    meaning:
      "Another process locked the database longer than the busy timeout, or, during an upgrade, workers of an older version are still running.",
    remedy:
      "Retry; if it persists, look for a process that keeps a transaction open. During an upgrade, stop all older workers first.",
  },
  database_unavailable: {
    reaction: "wait",
    meaning: "The database cannot be opened or written.",
    remedy: "Check the path, its permissions and the disk; `orb doctor` checks each.",
  },
  disk_full: {
    reaction: "wait",
    meaning: "The disk of the database or the artifacts is full, or has less than APP_MIN_FREE_DISK_MB free.",
    remedy: "Free some space. Running work pauses and resumes automatically; nothing acknowledged is lost.",
  },
  memory_full: {
    reaction: "wait",
    meaning: "The process and its browsers use more memory than APP_MAX_MEMORY_MB.",
    remedy: "Wait: tasks run one at a time until memory is free again. Raise the limit if it is too low.",
  },
  artifacts_unavailable: {
    reaction: "wait",
    meaning: "The artifacts folder is not writable, or the bucket is unreachable or unusable.",
    remedy: "Follow the message; `orb doctor` checks it. Running work pauses and resumes automatically.",
  },
  engine_lost: {
    reaction: "give_up",
    meaning: "Another process now owns the engine or the lane that this process was writing for.",
    remedy: "Nothing to do: the other process continues the work.",
  },
  service_unavailable: {
    reaction: "wait",
    meaning:
      "A required service (Redis, Postgres) is not installed, does not start, does not answer, or refuses the login.",
    remedy: "Follow the message; `orb doctor` checks it. For services of `orb up`, see `logs/` in the data directory.",
  },
  search_unavailable: {
    reaction: "give_up",
    meaning: "Web search is not set up, or the search server refused or did not answer.",
    remedy: "The message says what to do: set APP_SEARCH_URL, or allow JSON in the settings of the SearXNG.",
  },
  demo_unavailable: {
    reaction: "give_up",
    meaning: "The demo cannot be started here.",
    remedy: "Follow the message. If the server runs no worker, run `orb demo`, which starts its own server and site.",
  },
  live_view_unavailable: {
    reaction: "give_up",
    meaning: "A live view cannot be opened now: too many are open, or the browser or the proxy cannot be used.",
    remedy: "Follow the message; `orb doctor` checks the browser.",
  },
  forbidden_target: {
    reaction: "give_up",
    meaning: "The network guard refused the address: it is not on the public internet, or not http/https.",
    remedy: "If the target is yours, allow its network with APP_ALLOW_PRIVATE_NETWORKS.",
  },
  fetch_failed: {
    reaction: "retry",
    meaning: "A request to a site failed; failure_code and failure_reason say why.",
    remedy: "See the failure codes in docs/concepts.md.",
  },
  handlers_invalid: {
    reaction: "fix_input",
    meaning: "The module in APP_HANDLERS did not load, or exports something that is not a handler.",
    remedy: "Correct the module; the message names the file and the export.",
  },
  handler_failed: {
    reaction: "retry",
    meaning: "A user handler threw, ran out of time or memory, or ended its process; failure_reason says which.",
    remedy: "See the task's attempts with `orb queue show`.",
  },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

export interface FieldError {
  path: string;
  message: string;
}

export class OrbError extends Error {
  readonly code: ErrorCode;
  readonly reaction: Reaction;
  /** The remedy, if it is more specific than the catalogue's. */
  readonly hint: string | undefined;
  readonly fields: readonly FieldError[];

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; hint?: string; fields?: readonly FieldError[] } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "OrbError";
    this.code = code;
    this.reaction = ERROR_CATALOGUE[code].reaction;
    this.hint = options.hint;
    this.fields = options.fields ?? [];
  }
}

export function isOrbError(error: unknown, code?: ErrorCode): error is OrbError {
  return error instanceof OrbError && (code === undefined || error.code === code);
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The system error code (`ENOSPC`, `ECONNRESET` …) of an error or its cause. */
export function systemCode(error: unknown): string | undefined {
  for (let current = error, depth = 0; current instanceof Error && depth < 5; depth += 1) {
    const code = (current as NodeJS.ErrnoException).code;
    if (typeof code === "string") return code;
    current = current.cause;
  }
  return undefined;
}

export function isDiskFull(error: unknown): boolean {
  if (isOrbError(error, "disk_full")) return true;
  const code = systemCode(error);
  return code === "ENOSPC" || code === "EDQUOT";
}
