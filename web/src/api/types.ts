// Made from the API's description by `node scripts/web-types.mjs`; do not edit.

export type Problem = {
  type: string;
  title: string;
  status: number;
  detail: string;
  /** stable; docs/api.md and docs/errors.md list them */
  code: string;
  errors?: {
    /** the field: items[0].url, query.limit, path.site, header.idempotency-key */
    path: string;
    message: string;
  }[];
  hint?: string;
  error_id?: string;
  failure_code?: string;
  failure_reason?: string;
};

export type Crawl = {
  task_id: string;
  url: string | null;
  status:
    | "pending"
    | "running"
    | "paused"
    | "waiting_for_human"
    | "recovering"
    | "completed"
    | "partial"
    | "failed"
    | "cancelled";
  /** percent of the pages known by now, never falling; 100 only at the end, however it ends */
  progress: number;
  /** pages that are known by now, all of those below */
  total_items: number;
  /** waiting for their turn or their next try */
  queued_items: number;
  /** of the queued ones: they have failed, and are tried again */
  retrying_items: number;
  /** under way */
  running_items: number;
  /** got */
  completed_items: number;
  /** failed for good */
  failed_items: number;
  /** left, because another page of the crawl is the same */
  skipped_items: number;
  /** not done when the crawl was cancelled or its time was over */
  cancelled_items: number;
  /** of the completed ones: as they were when the job came to them before */
  unchanged_items: number;
  /** the completed ones of those that completed or failed */
  success_rate: number;
  /** running time: waiting and pauses do not count */
  duration_seconds: number;
  time_remaining_seconds: number | null;
  /** pages that ended by running time, from the beginning */
  pages_per_second: number;
  errors: {
    timeout: number;
    connection: number;
    general: number;
  };
  end_reason: "exhausted" | "limit_pages" | "limit_depth" | "limit_time" | "breaker_open" | "no_proxies" | null;
  /** as it was asked for; orb crawl --resume writes its results so */
  export_format: "json" | "jsonl" | "csv" | "markdown" | "parquet" | "warc";
  /** UTC, ISO 8601 */
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  expires_at: string | null;
  message: string | null;
  waiting_for: {
    reason:
      | "run_paused"
      | "turn"
      | "person"
      | "previous_run"
      | "proxies"
      | "no_worker"
      | "workers_drained"
      | "worker_paused"
      | "site_paused"
      | "circuit_open"
      | "rate_limited"
      | "probing"
      | "depends_on"
      | "page_limit"
      | "retry"
      | "memory"
      | "crawl_delay"
      | "min_delay"
      | "rate"
      | "concurrency";
    until: string | null;
    message: string;
  } | null;
  /** what failed, by reason, the 20 most frequent */
  error_groups: {
    failure_code:
      | "blocked"
      | "rate_limited"
      | "timeout"
      | "network"
      | "bad_response"
      | "extraction"
      | "forbidden_target"
      | "robots"
      | "circuit_open"
      | "cancelled"
      | "unknown";
    failure_reason:
      | "timeout_connect"
      | "timeout_headers"
      | "timeout_idle"
      | "timeout_total"
      | "dns_failed"
      | "connection_refused"
      | "connection_reset"
      | "connection_failed"
      | "tls_failed"
      | "no_proxies"
      | "proxy_unreachable"
      | "proxy_auth"
      | "proxy_refused"
      | "proxy_timeout"
      | "truncated_body"
      | "malformed_response"
      | "headers_too_large"
      | "body_too_large"
      | "decompression_limit"
      | "decompression_failed"
      | "unsupported_encoding"
      | "too_many_redirects"
      | "bad_redirect"
      | "not_html"
      | "http_not_found"
      | "http_client_error"
      | "http_server_error"
      | "http_unexpected"
      | "http_unauthorized"
      | "http_forbidden"
      | "challenge_page"
      | "captcha_page"
      | "empty_shell"
      | "login_page"
      | "human_skipped"
      | "http_too_many_requests"
      | "http_unavailable"
      | "retry_after_too_long"
      | "private_address"
      | "scheme_not_allowed"
      | "url_not_allowed"
      | "proxy_forbidden"
      | "field_missing"
      | "field_invalid"
      | "schema_mismatch"
      | "extraction_failed"
      | "extraction_timeout"
      | "robots_disallowed"
      | "robots_unreachable"
      | "breaker_open"
      | "run_cancelled"
      | "task_stopped"
      | "browser_missing"
      | "browser_failed"
      | "browser_crashed"
      | "page_crashed"
      | "session_unusable"
      | "request_invalid"
      | "handler_threw"
      | "handler_refused"
      | "handler_timeout"
      | "handler_out_of_memory"
      | "handler_exited"
      | "handler_missing"
      | "handler_bad_result"
      | "step_timeout"
      | "step_params"
      | "step_bad_result"
      | "step_child_failed"
      | "step_child_cancelled"
      | "step_entries_failed"
      | "internal";
    class: "timeout" | "connection" | "general";
    count: number;
    example: {
      url: string | null;
      message: string;
      task_id: string;
    };
  }[];
  /** why pages that are tried again have failed, most frequent first; of very many, of the first 1,000 */
  retrying_groups: {
    failure_code:
      | "blocked"
      | "rate_limited"
      | "timeout"
      | "network"
      | "bad_response"
      | "extraction"
      | "forbidden_target"
      | "robots"
      | "circuit_open"
      | "cancelled"
      | "unknown";
    failure_reason:
      | "timeout_connect"
      | "timeout_headers"
      | "timeout_idle"
      | "timeout_total"
      | "dns_failed"
      | "connection_refused"
      | "connection_reset"
      | "connection_failed"
      | "tls_failed"
      | "no_proxies"
      | "proxy_unreachable"
      | "proxy_auth"
      | "proxy_refused"
      | "proxy_timeout"
      | "truncated_body"
      | "malformed_response"
      | "headers_too_large"
      | "body_too_large"
      | "decompression_limit"
      | "decompression_failed"
      | "unsupported_encoding"
      | "too_many_redirects"
      | "bad_redirect"
      | "not_html"
      | "http_not_found"
      | "http_client_error"
      | "http_server_error"
      | "http_unexpected"
      | "http_unauthorized"
      | "http_forbidden"
      | "challenge_page"
      | "captcha_page"
      | "empty_shell"
      | "login_page"
      | "human_skipped"
      | "http_too_many_requests"
      | "http_unavailable"
      | "retry_after_too_long"
      | "private_address"
      | "scheme_not_allowed"
      | "url_not_allowed"
      | "proxy_forbidden"
      | "field_missing"
      | "field_invalid"
      | "schema_mismatch"
      | "extraction_failed"
      | "extraction_timeout"
      | "robots_disallowed"
      | "robots_unreachable"
      | "breaker_open"
      | "run_cancelled"
      | "task_stopped"
      | "browser_missing"
      | "browser_failed"
      | "browser_crashed"
      | "page_crashed"
      | "session_unusable"
      | "request_invalid"
      | "handler_threw"
      | "handler_refused"
      | "handler_timeout"
      | "handler_out_of_memory"
      | "handler_exited"
      | "handler_missing"
      | "handler_bad_result"
      | "step_timeout"
      | "step_params"
      | "step_bad_result"
      | "step_child_failed"
      | "step_child_cancelled"
      | "step_entries_failed"
      | "internal";
    class: "timeout" | "connection" | "general";
    count: number;
    example: {
      url: string | null;
      message: string;
      task_id: string;
    };
  }[];
  /** sites at which it cannot go on now, and why: up to 5 of them */
  waiting_sites: {
    site: string;
    waiting_for: {
      reason:
        | "run_paused"
        | "turn"
        | "person"
        | "previous_run"
        | "proxies"
        | "no_worker"
        | "workers_drained"
        | "worker_paused"
        | "site_paused"
        | "circuit_open"
        | "rate_limited"
        | "probing"
        | "depends_on"
        | "page_limit"
        | "retry"
        | "memory"
        | "crawl_delay"
        | "min_delay"
        | "rate"
        | "concurrency";
      until: string | null;
      message: string;
    } | null;
    last_failure: {
      failure_reason:
        | "timeout_connect"
        | "timeout_headers"
        | "timeout_idle"
        | "timeout_total"
        | "dns_failed"
        | "connection_refused"
        | "connection_reset"
        | "connection_failed"
        | "tls_failed"
        | "no_proxies"
        | "proxy_unreachable"
        | "proxy_auth"
        | "proxy_refused"
        | "proxy_timeout"
        | "truncated_body"
        | "malformed_response"
        | "headers_too_large"
        | "body_too_large"
        | "decompression_limit"
        | "decompression_failed"
        | "unsupported_encoding"
        | "too_many_redirects"
        | "bad_redirect"
        | "not_html"
        | "http_not_found"
        | "http_client_error"
        | "http_server_error"
        | "http_unexpected"
        | "http_unauthorized"
        | "http_forbidden"
        | "challenge_page"
        | "captcha_page"
        | "empty_shell"
        | "login_page"
        | "human_skipped"
        | "http_too_many_requests"
        | "http_unavailable"
        | "retry_after_too_long"
        | "private_address"
        | "scheme_not_allowed"
        | "url_not_allowed"
        | "proxy_forbidden"
        | "field_missing"
        | "field_invalid"
        | "schema_mismatch"
        | "extraction_failed"
        | "extraction_timeout"
        | "robots_disallowed"
        | "robots_unreachable"
        | "breaker_open"
        | "run_cancelled"
        | "task_stopped"
        | "browser_missing"
        | "browser_failed"
        | "browser_crashed"
        | "page_crashed"
        | "session_unusable"
        | "request_invalid"
        | "handler_threw"
        | "handler_refused"
        | "handler_timeout"
        | "handler_out_of_memory"
        | "handler_exited"
        | "handler_missing"
        | "handler_bad_result"
        | "step_timeout"
        | "step_params"
        | "step_bad_result"
        | "step_child_failed"
        | "step_child_cancelled"
        | "step_entries_failed"
        | "internal";
      message: string;
    } | null;
  }[];
};

export type CrawlHealth = {
  /** false: see problems */
  healthy: boolean;
  problems: string[];
  /** every part that is not as it should be, as GET /ready names them, and since when that has been known */
  degraded: {
    what: string;
    why: string;
    /** UTC, ISO 8601 */
    since: string;
  }[];
  active_tasks: number;
  pending_tasks: number;
  max_concurrent_tasks: number;
  available_slots: number;
  /** sites that are left alone after failures, those that stay so longest first, 100 at most */
  blocked_domains: {
    domain: string;
    failures: number;
    reopens_at: string | null;
  }[];
  error_counts: {
    timeout: number;
    connection: number;
    general: number;
  };
  error_rate: number;
  pages_per_second: number;
  /** what the counts and rates are about: five minutes at most */
  window_seconds: number;
  uptime_seconds: number;
};

export type DemoSite = {
  available: boolean;
  why_not: string | null;
  url: string | null;
};

export type Health = {
  status: "ok";
  version: string;
  database: "sqlite" | "postgres";
  /** bullmq: several processes work, on any machine */
  engine: "embedded" | "bullmq";
  uptime_seconds: number;
};

export type Job = {
  id: string;
  name: string | null;
  strategy: "auto" | "http" | "browser" | "api_replay";
  requires_auth: boolean;
  /** names of well-known fields (title, price, markdown …), or rules by field name; docs/extraction.md has both. Without: title, description, author, published_at and markdown */
  fields: string[] | Record<string, unknown> | null;
  items: string | Record<string, unknown> | null;
  schema: boolean | Record<string, unknown> | null;
  max_attempts: number | null;
  timezone: string | null;
  tags: string[];
  /** after a block or an empty shell, the next attempt uses a browser */
  escalate: boolean;
  respect_robots: boolean;
  timeout_seconds: number | null;
  session_id: string | null;
  proxy: string | null;
  /** what api_replay sends: {request, items, pagination}; docs/jobs.md describes it */
  replay: unknown;
  kind: "page" | "crawl" | "workflow";
  target_url: string | null;
  site: string | null;
  schedule: {
    cron: string;
    timezone: string | null;
    overlap: "skip" | "queue" | "cancel";
    missed: "skip" | "run_once";
    jitter_seconds: number;
  } | null;
  browser: {
    wait_for: string | null;
    /** leave out pictures, fonts and media */
    block_resources: boolean;
  } | null;
  header_names: string[];
  cookie_names: string[];
  crawl: {
    url: string | string[];
    /** link hops; 0 is that page alone */
    max_depth: number;
    max_pages: number;
    timeout_minutes: number;
    max_concurrent_articles: number;
    /** tries after the first */
    retry_attempts: number;
    partial_results_ok: boolean;
    export_format: "json" | "jsonl" | "csv" | "markdown" | "parquet" | "warc";
    include: string[];
    exclude: string[];
    same_site: boolean;
    /** with same_site: all of the site, the start's host, or addresses of it that begin as the start does */
    stay_within: "site" | "host" | "path";
    /** false: only the starts, and the pages that sitemaps name */
    follow_links: boolean;
    /** a pause between two pages of this crawl, which then come one at a time */
    delay_seconds: number;
    /** also begin with the pages that the site's sitemaps name */
    use_sitemap: boolean;
    strategy: "auto" | "http" | "browser";
    /** names of well-known fields (title, price, markdown …), or rules by field name; docs/extraction.md has both. Without: title, description, author, published_at and markdown */
    fields: string[] | Record<string, unknown> | null;
    items: string | Record<string, unknown> | null;
    schema: boolean | Record<string, unknown> | null;
    article: boolean | null;
    respect_robots: boolean;
    proxy: string | null;
  } | null;
  workflow: {
    definition?: Record<string, unknown> | null;
    template?: string | null;
    template_version?: number | null;
    params?: Record<string, unknown> | null;
  } | null;
  last_run: {
    id: string;
    kind: string;
    status:
      | "queued"
      | "running"
      | "paused"
      | "waiting_for_human"
      | "recovering"
      | "completed"
      | "partial"
      | "failed"
      | "cancelled";
    progress: number;
    /** UTC, ISO 8601 */
    created_at: string;
    started_at: string | null;
    finished_at: string | null;
  } | null;
  next_run_at: string | null;
  /** UTC, ISO 8601 */
  created_at: string;
  /** UTC, ISO 8601 */
  updated_at: string;
};

export type JobWorkflow = {
  id: string;
  job_id: string | null;
  name: string;
  status: "pending" | "running" | "paused" | "recovering" | "completed" | "failed" | "cancelled";
  /** the index of the first step that has not ended */
  current_step: number;
  total_steps: number;
  /** weighted by the steps' estimates; 100 when it has completed */
  progress: number;
  metadata: Record<string, unknown>;
  error_message: string | null;
  recovery_attempts: number;
  max_recovery_attempts: number;
  template: {
    name: string;
    version: number;
  } | null;
  rerun_of: string | null;
  message: string | null;
  /** UTC, ISO 8601 */
  created_at: string;
  started_at: string | null;
  completed_at: string | null;
  last_checkpoint: string | null;
  /** UTC, ISO 8601 */
  updated_at: string;
  /** as it was checked, with every default */
  definition: Record<string, unknown>;
  params: Record<string, unknown>;
};

export type Login = {
  token_needed: boolean;
  logged_in: boolean;
};

export type Overview = {
  /** that ended, over the last ten seconds */
  pages_per_second: {
    good: number;
    bad: number;
  };
  success_rate: number | null;
  /** what workers have under way, as they said last */
  in_flight: number;
  queued: number;
  /** of the queued ones: failed, and tried again later */
  retrying: number;
  oldest_queued_at: string | null;
  /** runs that have not ended, by status */
  runs: {
    queued: number;
    running: number;
    paused: number;
    waiting_for_human: number;
    recovering: number;
  };
  /** up to 20: those at work first, then those that wait, newest first */
  active_runs: {
    id: string;
    job_id: string | null;
    kind: "queue" | "page" | "crawl" | "workflow" | "download" | "proxy_refresh";
    name: string | null;
    url: string | null;
    site: string | null;
    status:
      | "queued"
      | "running"
      | "paused"
      | "waiting_for_human"
      | "recovering"
      | "completed"
      | "partial"
      | "failed"
      | "cancelled";
    progress: number;
    waiting_for: {
      reason:
        | "run_paused"
        | "turn"
        | "person"
        | "previous_run"
        | "proxies"
        | "no_worker"
        | "workers_drained"
        | "worker_paused"
        | "site_paused"
        | "circuit_open"
        | "rate_limited"
        | "probing"
        | "depends_on"
        | "page_limit"
        | "retry"
        | "memory"
        | "crawl_delay"
        | "min_delay"
        | "rate"
        | "concurrency";
      until: string | null;
      message: string;
    } | null;
    message: string | null;
    failure_code:
      | "blocked"
      | "rate_limited"
      | "timeout"
      | "network"
      | "bad_response"
      | "extraction"
      | "forbidden_target"
      | "robots"
      | "circuit_open"
      | "cancelled"
      | "unknown"
      | null;
    failure_reason:
      | "timeout_connect"
      | "timeout_headers"
      | "timeout_idle"
      | "timeout_total"
      | "dns_failed"
      | "connection_refused"
      | "connection_reset"
      | "connection_failed"
      | "tls_failed"
      | "no_proxies"
      | "proxy_unreachable"
      | "proxy_auth"
      | "proxy_refused"
      | "proxy_timeout"
      | "truncated_body"
      | "malformed_response"
      | "headers_too_large"
      | "body_too_large"
      | "decompression_limit"
      | "decompression_failed"
      | "unsupported_encoding"
      | "too_many_redirects"
      | "bad_redirect"
      | "not_html"
      | "http_not_found"
      | "http_client_error"
      | "http_server_error"
      | "http_unexpected"
      | "http_unauthorized"
      | "http_forbidden"
      | "challenge_page"
      | "captcha_page"
      | "empty_shell"
      | "login_page"
      | "human_skipped"
      | "http_too_many_requests"
      | "http_unavailable"
      | "retry_after_too_long"
      | "private_address"
      | "scheme_not_allowed"
      | "url_not_allowed"
      | "proxy_forbidden"
      | "field_missing"
      | "field_invalid"
      | "schema_mismatch"
      | "extraction_failed"
      | "extraction_timeout"
      | "robots_disallowed"
      | "robots_unreachable"
      | "breaker_open"
      | "run_cancelled"
      | "task_stopped"
      | "browser_missing"
      | "browser_failed"
      | "browser_crashed"
      | "page_crashed"
      | "session_unusable"
      | "request_invalid"
      | "handler_threw"
      | "handler_refused"
      | "handler_timeout"
      | "handler_out_of_memory"
      | "handler_exited"
      | "handler_missing"
      | "handler_bad_result"
      | "step_timeout"
      | "step_params"
      | "step_bad_result"
      | "step_child_failed"
      | "step_child_cancelled"
      | "step_entries_failed"
      | "internal"
      | null;
    /** UTC, ISO 8601 */
    created_at: string;
    started_at: string | null;
    finished_at: string | null;
    counts: {
      queued: number;
      /** in the hands of those who work, begun or about to be */
      running: number;
      retrying: number;
      completed: number;
      failed: number;
      skipped: number;
    };
    /** what ended of it, over the last ten seconds */
    per_second: number;
    eta_seconds: number | null;
  }[];
  sites: {
    known: number;
    active: number;
    waiting: number;
    paused: number;
    blocked: number;
  };
  troubled_sites: {
    site: string;
    /** failing: many of the last requests did not end well; held: it asked to be left alone */
    trouble: "breaker_open" | "paused" | "held" | "failing";
    /** a sentence for people */
    message: string;
    until: string | null;
    error_rate: number | null;
    /** pages that wait there */
    waiting: number;
  }[];
  /** of runs that go on or have ended within the hour, by reason, with an example of the newest run */
  failures: {
    failure_code:
      | "blocked"
      | "rate_limited"
      | "timeout"
      | "network"
      | "bad_response"
      | "extraction"
      | "forbidden_target"
      | "robots"
      | "circuit_open"
      | "cancelled"
      | "unknown";
    failure_reason:
      | "timeout_connect"
      | "timeout_headers"
      | "timeout_idle"
      | "timeout_total"
      | "dns_failed"
      | "connection_refused"
      | "connection_reset"
      | "connection_failed"
      | "tls_failed"
      | "no_proxies"
      | "proxy_unreachable"
      | "proxy_auth"
      | "proxy_refused"
      | "proxy_timeout"
      | "truncated_body"
      | "malformed_response"
      | "headers_too_large"
      | "body_too_large"
      | "decompression_limit"
      | "decompression_failed"
      | "unsupported_encoding"
      | "too_many_redirects"
      | "bad_redirect"
      | "not_html"
      | "http_not_found"
      | "http_client_error"
      | "http_server_error"
      | "http_unexpected"
      | "http_unauthorized"
      | "http_forbidden"
      | "challenge_page"
      | "captcha_page"
      | "empty_shell"
      | "login_page"
      | "human_skipped"
      | "http_too_many_requests"
      | "http_unavailable"
      | "retry_after_too_long"
      | "private_address"
      | "scheme_not_allowed"
      | "url_not_allowed"
      | "proxy_forbidden"
      | "field_missing"
      | "field_invalid"
      | "schema_mismatch"
      | "extraction_failed"
      | "extraction_timeout"
      | "robots_disallowed"
      | "robots_unreachable"
      | "breaker_open"
      | "run_cancelled"
      | "task_stopped"
      | "browser_missing"
      | "browser_failed"
      | "browser_crashed"
      | "page_crashed"
      | "session_unusable"
      | "request_invalid"
      | "handler_threw"
      | "handler_refused"
      | "handler_timeout"
      | "handler_out_of_memory"
      | "handler_exited"
      | "handler_missing"
      | "handler_bad_result"
      | "step_timeout"
      | "step_params"
      | "step_bad_result"
      | "step_child_failed"
      | "step_child_cancelled"
      | "step_entries_failed"
      | "internal";
    class: "timeout" | "connection" | "general";
    count: number;
    example: {
      url: string | null;
      message: string;
      task_id: string;
      run_id: string;
    };
  }[];
  workers: {
    working: number;
    draining: number;
    drained: number;
    lost: number;
    in_flight: number;
    /** how many tasks those that work may have under way */
    capacity: number;
  };
  standstill: {
    reason: "no_worker" | "workers_drained" | "worker_paused";
    message: string;
  } | null;
  disk: {
    what: string;
    free_bytes: number;
    least_free_bytes: number;
  }[];
  /** of the process that answers, with its browsers */
  memory: {
    used_bytes: number;
    limit_bytes: number | null;
  };
  /** of the last hour, as far as this process has counted; good and bad are pages a second */
  series: {
    step_seconds: number;
    first_at: string | null;
    /** one for each step; null: nobody counted */
    good: (number | null)[];
    /** one for each step; null: nobody counted */
    bad: (number | null)[];
    /** one for each step; null: nobody counted */
    in_flight: (number | null)[];
    /** one for each step; null: nobody counted */
    queued: (number | null)[];
  };
};

export type Proxy = {
  id: string;
  /** *** stands for a user name and a password */
  proxy: string;
  scheme: "http" | "https" | "socks5";
  host: string;
  port: number;
  has_credentials: boolean;
  state: "unchecked" | "usable" | "resting" | "disabled";
  /** how well it has served, the newest counting most */
  score: number;
  latency_ms: number | null;
  successes: number;
  failures: number;
  /** answers that its address is not wanted at a site */
  blocks: number;
  resting_until: string | null;
  last_error: string | null;
  checked_at: string | null;
  used_at: string | null;
  /** UTC, ISO 8601 */
  created_at: string;
};

export type ProxyRefresh = {
  job_id: string;
  status: "dispatched" | "processing" | "complete" | "failed";
  total: number;
  total_chunks: number;
  completed_chunks: number;
  /** proxies that were found to be usable */
  result_count: number;
  /** reachable: nothing was fetched through them */
  checks: "fetch" | "reachable";
  started_at: string | null;
  completed_at: string | null;
  message: string;
};

export type QueueItem = {
  id: string;
  artifact_id: string;
  status: "queued" | "in_progress" | "done" | "skipped" | "error";
  url: string | null;
  site: string;
  resolver: string | null;
  priority: number;
  handler: string | null;
  attempts: number;
  failure_code: string | null;
  failure_reason: string | null;
  message: string | null;
  next_try_at: string | null;
  /** UTC, ISO 8601 */
  created_at: string;
  finished_at: string | null;
  payload: unknown;
  history: {
    attempt: number;
    strategy: string;
    proxy: string | null;
    /** UTC, ISO 8601 */
    started_at: string;
    duration_ms: number;
    http_status: number | null;
    failure_code: string | null;
    failure_reason: string | null;
  }[];
  files: {
    id: string;
    hash: string;
    size: number;
    content_type: string | null;
    final_url: string;
    path: string;
  }[];
  results: unknown[];
};

export type QueueStats = {
  queued: number;
  in_progress: number;
  done: number;
  skipped: number;
  error: number;
  total: number;
  lanes: {
    lane: string;
    queued: number;
    in_progress: number;
    done: number;
    skipped: number;
    error: number;
    total: number;
  }[];
};

export type Ready = {
  /** degraded: one of the checks is */
  status: "ready" | "degraded";
  checks: {
    name: string;
    /** degraded: it works, but not as it should */
    status: "ok" | "degraded" | "failed";
    latency_ms: number;
    message?: string;
  }[];
};

export type Resolver = {
  resolver: string;
  limit: number | null;
  configured: number | null;
};

export type Run = {
  id: string;
  job_id: string | null;
  parent: {
    run_id: string;
    task_id: string;
  } | null;
  kind: "queue" | "page" | "crawl" | "workflow" | "download" | "proxy_refresh";
  name: string | null;
  url: string | null;
  site: string | null;
  status:
    | "queued"
    | "running"
    | "paused"
    | "waiting_for_human"
    | "recovering"
    | "completed"
    | "partial"
    | "failed"
    | "cancelled";
  /** grows each time an ended run is opened again */
  generation: number;
  attempt: number;
  max_attempts: number | null;
  requested_strategy: string | null;
  resolved_strategy: string | null;
  strategy_evidence: Record<string, unknown> | null;
  failure_code:
    | "blocked"
    | "rate_limited"
    | "timeout"
    | "network"
    | "bad_response"
    | "extraction"
    | "forbidden_target"
    | "robots"
    | "circuit_open"
    | "cancelled"
    | "unknown"
    | null;
  failure_reason:
    | "timeout_connect"
    | "timeout_headers"
    | "timeout_idle"
    | "timeout_total"
    | "dns_failed"
    | "connection_refused"
    | "connection_reset"
    | "connection_failed"
    | "tls_failed"
    | "no_proxies"
    | "proxy_unreachable"
    | "proxy_auth"
    | "proxy_refused"
    | "proxy_timeout"
    | "truncated_body"
    | "malformed_response"
    | "headers_too_large"
    | "body_too_large"
    | "decompression_limit"
    | "decompression_failed"
    | "unsupported_encoding"
    | "too_many_redirects"
    | "bad_redirect"
    | "not_html"
    | "http_not_found"
    | "http_client_error"
    | "http_server_error"
    | "http_unexpected"
    | "http_unauthorized"
    | "http_forbidden"
    | "challenge_page"
    | "captcha_page"
    | "empty_shell"
    | "login_page"
    | "human_skipped"
    | "http_too_many_requests"
    | "http_unavailable"
    | "retry_after_too_long"
    | "private_address"
    | "scheme_not_allowed"
    | "url_not_allowed"
    | "proxy_forbidden"
    | "field_missing"
    | "field_invalid"
    | "schema_mismatch"
    | "extraction_failed"
    | "extraction_timeout"
    | "robots_disallowed"
    | "robots_unreachable"
    | "breaker_open"
    | "run_cancelled"
    | "task_stopped"
    | "browser_missing"
    | "browser_failed"
    | "browser_crashed"
    | "page_crashed"
    | "session_unusable"
    | "request_invalid"
    | "handler_threw"
    | "handler_refused"
    | "handler_timeout"
    | "handler_out_of_memory"
    | "handler_exited"
    | "handler_missing"
    | "handler_bad_result"
    | "step_timeout"
    | "step_params"
    | "step_bad_result"
    | "step_child_failed"
    | "step_child_cancelled"
    | "step_entries_failed"
    | "internal"
    | null;
  error_message: string | null;
  message: string | null;
  waiting_for: {
    reason:
      | "run_paused"
      | "turn"
      | "person"
      | "previous_run"
      | "proxies"
      | "no_worker"
      | "workers_drained"
      | "worker_paused"
      | "site_paused"
      | "circuit_open"
      | "rate_limited"
      | "probing"
      | "depends_on"
      | "page_limit"
      | "retry"
      | "memory"
      | "crawl_delay"
      | "min_delay"
      | "rate"
      | "concurrency";
    until: string | null;
    message: string;
  } | null;
  /** http_status, content_type, content_length, title, final_url, duration_ms, strategy, browser */
  stats: Record<string, unknown>;
  progress: number;
  /** UTC, ISO 8601 */
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
};

export type RunRecipe = {
  /** as POST /jobs takes it, without its secrets */
  recipe: {
    name?: string | null;
    strategy?: "auto" | "http" | "browser" | "api_replay";
    requires_auth?: boolean;
    /** names of well-known fields (title, price, markdown …), or rules by field name; docs/extraction.md has both. Without: title, description, author, published_at and markdown */
    fields?: string[] | Record<string, unknown> | null;
    items?: string | Record<string, unknown> | null;
    schema?: boolean | Record<string, unknown> | null;
    max_attempts?: number | null;
    timezone?: string | null;
    tags?: string[];
    /** after a block or an empty shell, the next attempt uses a browser */
    escalate?: boolean;
    respect_robots?: boolean;
    timeout_seconds?: number | null;
    session_id?: string | null;
    proxy?: string | null;
    /** what api_replay sends: {request, items, pagination}; docs/jobs.md describes it */
    replay?: unknown;
    kind?: "page" | "crawl" | "workflow";
    target_url?: string;
    headers?: Record<string, string> | null;
    cookies?:
      | Record<string, string>
      | {
          name: string;
          value: string;
          domain?: string;
          path?: string;
          expires?: number;
          httpOnly?: boolean;
          secure?: boolean;
          sameSite?: "Strict" | "Lax" | "None";
        }[]
      | null;
    schedule?:
      | string
      | {
          cron: string;
          timezone?: string | null;
          overlap?: "skip" | "queue" | "cancel";
          missed?: "skip" | "run_once";
          jitter_seconds?: number;
        }
      | null;
    browser?: {
      wait_for?: string | null;
      /** leave out pictures, fonts and media */
      block_resources?: boolean;
    } | null;
    crawl?: {
      url?: string | string[];
      /** link hops; 0 is that page alone */
      max_depth?: number;
      max_pages?: number;
      timeout_minutes?: number;
      max_concurrent_articles?: number;
      /** tries after the first */
      retry_attempts?: number;
      partial_results_ok?: boolean;
      export_format?: "json" | "jsonl" | "csv" | "markdown" | "parquet" | "warc";
      include?: string[];
      exclude?: string[];
      same_site?: boolean;
      /** with same_site: all of the site, the start's host, or addresses of it that begin as the start does */
      stay_within?: "site" | "host" | "path";
      /** false: only the starts, and the pages that sitemaps name */
      follow_links?: boolean;
      /** a pause between two pages of this crawl, which then come one at a time */
      delay_seconds?: number;
      /** also begin with the pages that the site's sitemaps name */
      use_sitemap?: boolean;
      strategy?: "auto" | "http" | "browser";
      /** names of well-known fields (title, price, markdown …), or rules by field name; docs/extraction.md has both. Without: title, description, author, published_at and markdown */
      fields?: string[] | Record<string, unknown> | null;
      items?: string | Record<string, unknown> | null;
      schema?: boolean | Record<string, unknown> | null;
      article?: boolean | null;
      respect_robots?: boolean;
      proxy?: string | null;
    };
    workflow?: {
      definition?: Record<string, unknown> | null;
      template?: string | null;
      template_version?: number | null;
      params?: Record<string, unknown> | null;
    } | null;
  };
  /** headers that it sent; their values are not shown */
  header_names: string[];
  /** cookies that it sent; their values are not shown */
  cookie_names: string[];
};

export type Schedule = {
  job_id: string;
  name: string | null;
  /** page, crawl or workflow */
  kind: string;
  cron: string;
  timezone: string;
  overlap: "skip" | "queue" | "cancel";
  missed: "skip" | "run_once";
  jitter_seconds: number;
  paused: boolean;
  next_at: string | null;
  /** the next five from now on, as the schedule says them */
  next_times: string[];
  waiting_for: {
    reason:
      | "run_paused"
      | "turn"
      | "person"
      | "previous_run"
      | "proxies"
      | "no_worker"
      | "workers_drained"
      | "worker_paused"
      | "site_paused"
      | "circuit_open"
      | "rate_limited"
      | "probing"
      | "depends_on"
      | "page_limit"
      | "retry"
      | "memory"
      | "crawl_delay"
      | "min_delay"
      | "rate"
      | "concurrency";
    until: string | null;
    message: string;
  } | null;
  last: {
    /** as the schedule says it, without what chance has added */
    at: string;
    /** of many missed in a row the last */
    until: string;
    /** of many missed in a row how many */
    count: number;
    outcome: "started" | "missed" | "skipped" | "refused";
    run_id: string | null;
    message: string | null;
    /** UTC, ISO 8601 */
    noted_at: string;
  } | null;
  counts: {
    started: number;
    missed: number;
    skipped: number;
    refused: number;
  };
};

export type Session = {
  id: string;
  name: string | null;
  origin: string;
  holds: ("cookies" | "headers" | "basic" | "local_storage")[];
  check_url: string | null;
  health: {
    status: "healthy" | "rejected" | "unreachable";
    message: string;
    /** UTC, ISO 8601 */
    checked_at: string;
  } | null;
  /** UTC, ISO 8601 */
  created_at: string;
};

export type Site = {
  site: string;
  group: string | null;
  /** paused by an operator; blocked: its breaker is open; idle: nothing is to be done there */
  state: "active" | "waiting" | "paused" | "blocked" | "idle";
  /** pages of all runs that are kept */
  counts: {
    queued: number;
    /** under way, as far as the limits of the site allow */
    running: number;
    /** failed, and tried again later */
    retrying: number;
    completed: number;
    failed: number;
  };
  /** good pages in the last minute or two */
  pages_per_second: number;
  error_rate: number | null;
  waiting_for: {
    reason:
      | "run_paused"
      | "turn"
      | "person"
      | "previous_run"
      | "proxies"
      | "no_worker"
      | "workers_drained"
      | "worker_paused"
      | "site_paused"
      | "circuit_open"
      | "rate_limited"
      | "probing"
      | "depends_on"
      | "page_limit"
      | "retry"
      | "memory"
      | "crawl_delay"
      | "min_delay"
      | "rate"
      | "concurrency";
    until: string | null;
    /** a sentence for people */
    message: string;
  } | null;
  max_concurrency: number | null;
  requests_per_second: number | null;
  burst: number | null;
  min_delay_ms: number | null;
  max_memory_mb: number | null;
  strategy: "auto" | "http" | "browser" | "api_replay" | null;
  respect_robots: boolean | null;
  /** parts that its work is divided into, so that several processes can take part; no more than max_concurrency */
  shards: number;
  depends_on: string[];
  paused: boolean;
  /** what holds, with the configured defaults and the pause that robots.txt asks for */
  effective: {
    max_concurrency: number;
    requests_per_second: number | null;
    burst: number | null;
    min_delay_ms: number;
    /** fewer than asked for where the limits allow no more */
    shards: number;
    strategy: "auto" | "http" | "browser" | "api_replay";
    respect_robots: boolean;
  };
  crawl_delay_ms: number | null;
  learned_strategy: {
    strategy: string;
    reason: string;
    scope: "page" | "site";
    pages: number;
    /** UTC, ISO 8601 */
    expires_at: string;
  } | null;
  breaker: {
    state: "closed" | "open" | "half_open";
    failures: number;
    reopens_at: string | null;
  };
  /** of good answers in the last ten minutes; null: none was measured */
  latency_ms: {
    p50: number | null;
    p95: number | null;
  };
  first_seen_at: string | null;
  last_success_at: string | null;
  held_until: string | null;
  next_fetch_at: string | null;
};

export type SiteRobots = {
  site: string;
  /** the name by which its rules are chosen */
  user_agent: string;
  /** of the copies that are kept; none: nobody has asked for it yet */
  origins: {
    origin: string;
    /** UTC, ISO 8601 */
    fetched_at: string;
    /** as it came; empty: there was none, which allows everything */
    text: string;
    crawl_delay_seconds: number | null;
    sitemaps: string[];
    /** those for us: the first that fits decides */
    rules: string[];
    allowed: boolean | null;
  }[];
};

export type SitesProgress = {
  totals: {
    queued: number;
    /** under way, as far as the limits of the site allow */
    running: number;
    /** failed, and tried again later */
    retrying: number;
    completed: number;
    failed: number;
    /** all that are known */
    sites: number;
    active_sites: number;
    waiting_sites: number;
    paused_sites: number;
    blocked_sites: number;
    /** good pages in the last minute or two */
    pages_per_second: number;
    error_rate: number | null;
  };
  /** up to 50 with open work, the busiest first */
  sites: {
    site: string;
    group: string | null;
    /** paused by an operator; blocked: its breaker is open; idle: nothing is to be done there */
    state: "active" | "waiting" | "paused" | "blocked" | "idle";
    /** pages of all runs that are kept */
    counts: {
      queued: number;
      /** under way, as far as the limits of the site allow */
      running: number;
      /** failed, and tried again later */
      retrying: number;
      completed: number;
      failed: number;
    };
    /** good pages in the last minute or two */
    pages_per_second: number;
    error_rate: number | null;
    waiting_for: {
      reason:
        | "run_paused"
        | "turn"
        | "person"
        | "previous_run"
        | "proxies"
        | "no_worker"
        | "workers_drained"
        | "worker_paused"
        | "site_paused"
        | "circuit_open"
        | "rate_limited"
        | "probing"
        | "depends_on"
        | "page_limit"
        | "retry"
        | "memory"
        | "crawl_delay"
        | "min_delay"
        | "rate"
        | "concurrency";
      until: string | null;
      /** a sentence for people */
      message: string;
    } | null;
  }[];
};

export type TaskByEngineId = {
  id: string;
  task_name: string;
  task_type: string;
  status: "pending" | "queued" | "running" | "retrying" | "completed" | "failed" | "skipped" | "cancelled";
  step_index: number;
  dependencies: number[];
  retry_count: number;
  max_retries: number;
  progress: number;
  progress_message: string | null;
  waiting_for: {
    for: "time" | "run" | "entries";
    /** UTC, ISO 8601 */
    until?: string;
    run_id?: string;
    open?: number;
  } | null;
  child_run_ids: string[];
  entries: {
    total: number;
    open: number;
    completed: number;
    failed: number;
    skipped: number;
  } | null;
  error_message: string | null;
  failure_code:
    | "blocked"
    | "rate_limited"
    | "timeout"
    | "network"
    | "bad_response"
    | "extraction"
    | "forbidden_target"
    | "robots"
    | "circuit_open"
    | "cancelled"
    | "unknown"
    | null;
  failure_reason:
    | "timeout_connect"
    | "timeout_headers"
    | "timeout_idle"
    | "timeout_total"
    | "dns_failed"
    | "connection_refused"
    | "connection_reset"
    | "connection_failed"
    | "tls_failed"
    | "no_proxies"
    | "proxy_unreachable"
    | "proxy_auth"
    | "proxy_refused"
    | "proxy_timeout"
    | "truncated_body"
    | "malformed_response"
    | "headers_too_large"
    | "body_too_large"
    | "decompression_limit"
    | "decompression_failed"
    | "unsupported_encoding"
    | "too_many_redirects"
    | "bad_redirect"
    | "not_html"
    | "http_not_found"
    | "http_client_error"
    | "http_server_error"
    | "http_unexpected"
    | "http_unauthorized"
    | "http_forbidden"
    | "challenge_page"
    | "captcha_page"
    | "empty_shell"
    | "login_page"
    | "human_skipped"
    | "http_too_many_requests"
    | "http_unavailable"
    | "retry_after_too_long"
    | "private_address"
    | "scheme_not_allowed"
    | "url_not_allowed"
    | "proxy_forbidden"
    | "field_missing"
    | "field_invalid"
    | "schema_mismatch"
    | "extraction_failed"
    | "extraction_timeout"
    | "robots_disallowed"
    | "robots_unreachable"
    | "breaker_open"
    | "run_cancelled"
    | "task_stopped"
    | "browser_missing"
    | "browser_failed"
    | "browser_crashed"
    | "page_crashed"
    | "session_unusable"
    | "request_invalid"
    | "handler_threw"
    | "handler_refused"
    | "handler_timeout"
    | "handler_out_of_memory"
    | "handler_exited"
    | "handler_missing"
    | "handler_bad_result"
    | "step_timeout"
    | "step_params"
    | "step_bad_result"
    | "step_child_failed"
    | "step_child_cancelled"
    | "step_entries_failed"
    | "internal"
    | null;
  started_at: string | null;
  completed_at: string | null;
  next_try_at: string | null;
  estimated_duration: number | null;
  actual_duration: number | null;
  workflow_id: string;
  engine_task_id: string | null;
  dependency_names: string[];
  result: Record<string, unknown> | null;
  items_count: number | null;
  /** newest last */
  attempts: {
    attempt: number;
    strategy: string;
    proxy: string | null;
    /** UTC, ISO 8601 */
    started_at: string;
    duration_ms: number;
    http_status: number | null;
    failure_code:
      | "blocked"
      | "rate_limited"
      | "timeout"
      | "network"
      | "bad_response"
      | "extraction"
      | "forbidden_target"
      | "robots"
      | "circuit_open"
      | "cancelled"
      | "unknown"
      | null;
    failure_reason:
      | "timeout_connect"
      | "timeout_headers"
      | "timeout_idle"
      | "timeout_total"
      | "dns_failed"
      | "connection_refused"
      | "connection_reset"
      | "connection_failed"
      | "tls_failed"
      | "no_proxies"
      | "proxy_unreachable"
      | "proxy_auth"
      | "proxy_refused"
      | "proxy_timeout"
      | "truncated_body"
      | "malformed_response"
      | "headers_too_large"
      | "body_too_large"
      | "decompression_limit"
      | "decompression_failed"
      | "unsupported_encoding"
      | "too_many_redirects"
      | "bad_redirect"
      | "not_html"
      | "http_not_found"
      | "http_client_error"
      | "http_server_error"
      | "http_unexpected"
      | "http_unauthorized"
      | "http_forbidden"
      | "challenge_page"
      | "captcha_page"
      | "empty_shell"
      | "login_page"
      | "human_skipped"
      | "http_too_many_requests"
      | "http_unavailable"
      | "retry_after_too_long"
      | "private_address"
      | "scheme_not_allowed"
      | "url_not_allowed"
      | "proxy_forbidden"
      | "field_missing"
      | "field_invalid"
      | "schema_mismatch"
      | "extraction_failed"
      | "extraction_timeout"
      | "robots_disallowed"
      | "robots_unreachable"
      | "breaker_open"
      | "run_cancelled"
      | "task_stopped"
      | "browser_missing"
      | "browser_failed"
      | "browser_crashed"
      | "page_crashed"
      | "session_unusable"
      | "request_invalid"
      | "handler_threw"
      | "handler_refused"
      | "handler_timeout"
      | "handler_out_of_memory"
      | "handler_exited"
      | "handler_missing"
      | "handler_bad_result"
      | "step_timeout"
      | "step_params"
      | "step_bad_result"
      | "step_child_failed"
      | "step_child_cancelled"
      | "step_entries_failed"
      | "internal"
      | null;
  }[];
  artifacts: {
    id: string;
    role: "file" | "screenshot" | "snapshot" | "exchange" | "redirect" | "items";
    hash: string;
    size: number;
    content_type: string | null;
    url: string;
    /** UTC, ISO 8601 */
    created_at: string;
  }[];
  /** UTC, ISO 8601 */
  created_at: string;
  /** UTC, ISO 8601 */
  updated_at: string;
};

export type Template = {
  name: string;
  version: number;
  built_in: boolean;
  description: string | null;
  /** the JSON Schema of what a start is to say; null: nothing */
  params: unknown;
  definition: unknown;
  created_at: string | null;
};

export type Worker = {
  id: string;
  machine: string;
  pid: number;
  /** serve, worker, crawl …; library: a program of your own */
  command: string;
  version: string;
  state: "working" | "draining" | "drained" | "lost" | "stopped";
  role: "engine" | "standby" | "stopped";
  /** embedded; or bullmq: several work at once, on any machine */
  engine: string;
  database: "sqlite" | "postgres";
  /** when it was last heard of */
  heartbeat: string;
  in_flight: number;
  max_workers: number;
  /** tasks that ended per second, over the last ten seconds */
  throughput: number;
  completed: number;
  failed: number;
  /** bytes */
  memory: number;
  paused: string | null;
  drain_asked: boolean;
  /** the 100 tasks that have been at work the longest */
  active: {
    task_id: string;
    run_id: string;
    /** the site, group or step that it belongs to */
    lane: string;
    url: string | null;
    /** UTC, ISO 8601 */
    started_at: string;
  }[];
  /** UTC, ISO 8601 */
  started_at: string;
  stopped_at: string | null;
};

export type WorkflowProgress = {
  workflow_id: string;
  job_id: string | null;
  name: string;
  status: "pending" | "running" | "paused" | "recovering" | "completed" | "failed" | "cancelled";
  /** weighted by the steps' estimates; 100 when it has completed */
  progress: number;
  /** the index of the first step that has not ended */
  current_step: number;
  current_step_name: string | null;
  total_steps: number;
  counts: {
    pending: number;
    queued: number;
    running: number;
    retrying: number;
    completed: number;
    failed: number;
    skipped: number;
    cancelled: number;
  };
  elapsed_seconds: number | null;
  time_remaining_seconds: number | null;
  error_message: string | null;
  recovery_attempts: number;
  max_recovery_attempts: number;
  started_at: string | null;
  completed_at: string | null;
  last_checkpoint: string | null;
  message: string | null;
  steps: {
    id: string;
    task_name: string;
    task_type: string;
    status: "pending" | "queued" | "running" | "retrying" | "completed" | "failed" | "skipped" | "cancelled";
    step_index: number;
    dependencies: number[];
    retry_count: number;
    max_retries: number;
    progress: number;
    progress_message: string | null;
    waiting_for: {
      for: "time" | "run" | "entries";
      /** UTC, ISO 8601 */
      until?: string;
      run_id?: string;
      open?: number;
    } | null;
    child_run_ids: string[];
    entries: {
      total: number;
      open: number;
      completed: number;
      failed: number;
      skipped: number;
    } | null;
    error_message: string | null;
    failure_code:
      | "blocked"
      | "rate_limited"
      | "timeout"
      | "network"
      | "bad_response"
      | "extraction"
      | "forbidden_target"
      | "robots"
      | "circuit_open"
      | "cancelled"
      | "unknown"
      | null;
    failure_reason:
      | "timeout_connect"
      | "timeout_headers"
      | "timeout_idle"
      | "timeout_total"
      | "dns_failed"
      | "connection_refused"
      | "connection_reset"
      | "connection_failed"
      | "tls_failed"
      | "no_proxies"
      | "proxy_unreachable"
      | "proxy_auth"
      | "proxy_refused"
      | "proxy_timeout"
      | "truncated_body"
      | "malformed_response"
      | "headers_too_large"
      | "body_too_large"
      | "decompression_limit"
      | "decompression_failed"
      | "unsupported_encoding"
      | "too_many_redirects"
      | "bad_redirect"
      | "not_html"
      | "http_not_found"
      | "http_client_error"
      | "http_server_error"
      | "http_unexpected"
      | "http_unauthorized"
      | "http_forbidden"
      | "challenge_page"
      | "captcha_page"
      | "empty_shell"
      | "login_page"
      | "human_skipped"
      | "http_too_many_requests"
      | "http_unavailable"
      | "retry_after_too_long"
      | "private_address"
      | "scheme_not_allowed"
      | "url_not_allowed"
      | "proxy_forbidden"
      | "field_missing"
      | "field_invalid"
      | "schema_mismatch"
      | "extraction_failed"
      | "extraction_timeout"
      | "robots_disallowed"
      | "robots_unreachable"
      | "breaker_open"
      | "run_cancelled"
      | "task_stopped"
      | "browser_missing"
      | "browser_failed"
      | "browser_crashed"
      | "page_crashed"
      | "session_unusable"
      | "request_invalid"
      | "handler_threw"
      | "handler_refused"
      | "handler_timeout"
      | "handler_out_of_memory"
      | "handler_exited"
      | "handler_missing"
      | "handler_bad_result"
      | "step_timeout"
      | "step_params"
      | "step_bad_result"
      | "step_child_failed"
      | "step_child_cancelled"
      | "step_entries_failed"
      | "internal"
      | null;
    started_at: string | null;
    completed_at: string | null;
    next_try_at: string | null;
    estimated_duration: number | null;
    actual_duration: number | null;
  }[];
};

export interface Operations {
  addQueueItems: {
    params: undefined;
    query: undefined;
    body:
      | {
          /** your own name for the thing; the queue holds each once */
          artifact_id: string;
          /** absolute, http or https */
          url: string;
          resolver?: string | null;
          priority?: number | null;
          /** JSON for your own handler, up to 64 KiB */
          payload?: unknown;
          handler?: string | null;
        }
      | {
          items: {
            /** your own name for the thing; the queue holds each once */
            artifact_id: string;
            /** absolute, http or https */
            url: string;
            resolver?: string | null;
            priority?: number | null;
            /** JSON for your own handler, up to 64 KiB */
            payload?: unknown;
            handler?: string | null;
          }[];
        };
    answer: {
      added: number;
      existing: number;
    };
  };
  cancelCrawl: {
    params: {
      task_id: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      task_id: string;
      url: string | null;
      status:
        | "pending"
        | "running"
        | "paused"
        | "waiting_for_human"
        | "recovering"
        | "completed"
        | "partial"
        | "failed"
        | "cancelled";
      /** percent of the pages known by now, never falling; 100 only at the end, however it ends */
      progress: number;
      /** pages that are known by now, all of those below */
      total_items: number;
      /** waiting for their turn or their next try */
      queued_items: number;
      /** of the queued ones: they have failed, and are tried again */
      retrying_items: number;
      /** under way */
      running_items: number;
      /** got */
      completed_items: number;
      /** failed for good */
      failed_items: number;
      /** left, because another page of the crawl is the same */
      skipped_items: number;
      /** not done when the crawl was cancelled or its time was over */
      cancelled_items: number;
      /** of the completed ones: as they were when the job came to them before */
      unchanged_items: number;
      /** the completed ones of those that completed or failed */
      success_rate: number;
      /** running time: waiting and pauses do not count */
      duration_seconds: number;
      time_remaining_seconds: number | null;
      /** pages that ended by running time, from the beginning */
      pages_per_second: number;
      errors: {
        timeout: number;
        connection: number;
        general: number;
      };
      end_reason: "exhausted" | "limit_pages" | "limit_depth" | "limit_time" | "breaker_open" | "no_proxies" | null;
      /** as it was asked for; orb crawl --resume writes its results so */
      export_format: "json" | "jsonl" | "csv" | "markdown" | "parquet" | "warc";
      /** UTC, ISO 8601 */
      created_at: string;
      started_at: string | null;
      finished_at: string | null;
      expires_at: string | null;
      message: string | null;
      waiting_for: {
        reason:
          | "run_paused"
          | "turn"
          | "person"
          | "previous_run"
          | "proxies"
          | "no_worker"
          | "workers_drained"
          | "worker_paused"
          | "site_paused"
          | "circuit_open"
          | "rate_limited"
          | "probing"
          | "depends_on"
          | "page_limit"
          | "retry"
          | "memory"
          | "crawl_delay"
          | "min_delay"
          | "rate"
          | "concurrency";
        until: string | null;
        message: string;
      } | null;
    };
  };
  cancelRun: {
    params: {
      run_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Run;
  };
  cancelWorkflow: {
    params: {
      workflow_id: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      job_id: string | null;
      name: string;
      status: "pending" | "running" | "paused" | "recovering" | "completed" | "failed" | "cancelled";
      /** the index of the first step that has not ended */
      current_step: number;
      total_steps: number;
      /** weighted by the steps' estimates; 100 when it has completed */
      progress: number;
      metadata: Record<string, unknown>;
      error_message: string | null;
      recovery_attempts: number;
      max_recovery_attempts: number;
      template: {
        name: string;
        version: number;
      } | null;
      rerun_of: string | null;
      message: string | null;
      /** UTC, ISO 8601 */
      created_at: string;
      started_at: string | null;
      completed_at: string | null;
      last_checkpoint: string | null;
      /** UTC, ISO 8601 */
      updated_at: string;
    };
  };
  changeJob: {
    params: {
      job_id: string;
    };
    query: undefined;
    body: {
      name?: string | null;
      strategy?: "auto" | "http" | "browser" | "api_replay";
      requires_auth?: boolean;
      /** names of well-known fields (title, price, markdown …), or rules by field name; docs/extraction.md has both. Without: title, description, author, published_at and markdown */
      fields?: string[] | Record<string, unknown> | null;
      items?: string | Record<string, unknown> | null;
      schema?: boolean | Record<string, unknown> | null;
      max_attempts?: number | null;
      timezone?: string | null;
      tags?: string[];
      /** after a block or an empty shell, the next attempt uses a browser */
      escalate?: boolean;
      respect_robots?: boolean;
      timeout_seconds?: number | null;
      session_id?: string | null;
      proxy?: string | null;
      /** what api_replay sends: {request, items, pagination}; docs/jobs.md describes it */
      replay?: unknown;
      kind?: "page" | "crawl" | "workflow";
      target_url?: string;
      headers?: Record<string, string> | null;
      cookies?:
        | Record<string, string>
        | {
            name: string;
            value: string;
            domain?: string;
            path?: string;
            expires?: number;
            httpOnly?: boolean;
            secure?: boolean;
            sameSite?: "Strict" | "Lax" | "None";
          }[]
        | null;
      schedule?:
        | string
        | {
            cron: string;
            timezone?: string | null;
            overlap?: "skip" | "queue" | "cancel";
            missed?: "skip" | "run_once";
            jitter_seconds?: number;
          }
        | null;
      browser?: {
        wait_for?: string | null;
        /** leave out pictures, fonts and media */
        block_resources?: boolean;
      } | null;
      crawl?: {
        url?: string | string[];
        /** link hops; 0 is that page alone */
        max_depth?: number;
        max_pages?: number;
        timeout_minutes?: number;
        max_concurrent_articles?: number;
        /** tries after the first */
        retry_attempts?: number;
        partial_results_ok?: boolean;
        export_format?: "json" | "jsonl" | "csv" | "markdown" | "parquet" | "warc";
        include?: string[];
        exclude?: string[];
        same_site?: boolean;
        /** with same_site: all of the site, the start's host, or addresses of it that begin as the start does */
        stay_within?: "site" | "host" | "path";
        /** false: only the starts, and the pages that sitemaps name */
        follow_links?: boolean;
        /** a pause between two pages of this crawl, which then come one at a time */
        delay_seconds?: number;
        /** also begin with the pages that the site's sitemaps name */
        use_sitemap?: boolean;
        strategy?: "auto" | "http" | "browser";
        /** names of well-known fields (title, price, markdown …), or rules by field name; docs/extraction.md has both. Without: title, description, author, published_at and markdown */
        fields?: string[] | Record<string, unknown> | null;
        items?: string | Record<string, unknown> | null;
        schema?: boolean | Record<string, unknown> | null;
        article?: boolean | null;
        respect_robots?: boolean;
        proxy?: string | null;
      };
      workflow?: {
        definition?: Record<string, unknown> | null;
        template?: string | null;
        template_version?: number | null;
        params?: Record<string, unknown> | null;
      } | null;
    };
    answer: Job;
  };
  changeRuns: {
    params: undefined;
    query: undefined;
    body: {
      /** retry-failed recovers workflows */
      action: "cancel" | "pause" | "resume" | "retry-failed";
      /** as of GET /runs; {}: all runs to which it can be done */
      filter: {
        status?: (
          | "queued"
          | "running"
          | "paused"
          | "waiting_for_human"
          | "recovering"
          | "completed"
          | "partial"
          | "failed"
          | "cancelled"
        )[];
        kind?: "queue" | "page" | "crawl" | "workflow" | "download" | "proxy_refresh";
        site?: string;
        /** only runs of this job */
        job_id?: string;
        /** part of the name or address of one of the newest 10,000 runs, or the id of any run, or its first 8 characters or more */
        q?: string;
        /** created then or later */
        since?: string;
        /** created before */
        until?: string;
        /** only these */
        run_ids?: string[];
      };
      /** only count them */
      dry_run?: boolean;
    };
    answer: {
      /** runs that fit the filter and to which it can be done; 10000: that many or more */
      matched: number;
      done: number;
      failed_count: number;
      /** the first 100 that could not be changed */
      failed: {
        run_id: string;
        code: string;
        detail: string;
      }[];
      /** left for the next call: one changes 1000 at most */
      remaining: number;
    };
  };
  changeSite: {
    params: {
      site: string;
    };
    query: undefined;
    body: {
      max_concurrency?: number | null;
      requests_per_second?: number | null;
      burst?: number | null;
      min_delay_ms?: number | null;
      max_memory_mb?: number | null;
      strategy?: "auto" | "http" | "browser" | "api_replay" | null;
      respect_robots?: boolean | null;
      shards?: number | null;
      group?: string | null;
      /** sites whose work must be finished before this one's begins; a circle is refused */
      depends_on?: string[];
      paused?: boolean;
    };
    answer: Site;
  };
  changeWorkflow: {
    params: {
      workflow_id: string;
    };
    query: undefined;
    body: {
      metadata: Record<string, unknown>;
    };
    answer: {
      id: string;
      job_id: string | null;
      name: string;
      status: "pending" | "running" | "paused" | "recovering" | "completed" | "failed" | "cancelled";
      /** the index of the first step that has not ended */
      current_step: number;
      total_steps: number;
      /** weighted by the steps' estimates; 100 when it has completed */
      progress: number;
      metadata: Record<string, unknown>;
      error_message: string | null;
      recovery_attempts: number;
      max_recovery_attempts: number;
      template: {
        name: string;
        version: number;
      } | null;
      rerun_of: string | null;
      message: string | null;
      /** UTC, ISO 8601 */
      created_at: string;
      started_at: string | null;
      completed_at: string | null;
      last_checkpoint: string | null;
      /** UTC, ISO 8601 */
      updated_at: string;
    };
  };
  checkSession: {
    params: {
      session_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Session;
  };
  createJob: {
    params: undefined;
    query: undefined;
    body: {
      name?: string | null;
      strategy?: "auto" | "http" | "browser" | "api_replay";
      requires_auth?: boolean;
      /** names of well-known fields (title, price, markdown …), or rules by field name; docs/extraction.md has both. Without: title, description, author, published_at and markdown */
      fields?: string[] | Record<string, unknown> | null;
      items?: string | Record<string, unknown> | null;
      schema?: boolean | Record<string, unknown> | null;
      max_attempts?: number | null;
      timezone?: string | null;
      tags?: string[];
      /** after a block or an empty shell, the next attempt uses a browser */
      escalate?: boolean;
      respect_robots?: boolean;
      timeout_seconds?: number | null;
      session_id?: string | null;
      proxy?: string | null;
      /** what api_replay sends: {request, items, pagination}; docs/jobs.md describes it */
      replay?: unknown;
      kind?: "page" | "crawl" | "workflow";
      target_url?: string;
      headers?: Record<string, string> | null;
      cookies?:
        | Record<string, string>
        | {
            name: string;
            value: string;
            domain?: string;
            path?: string;
            expires?: number;
            httpOnly?: boolean;
            secure?: boolean;
            sameSite?: "Strict" | "Lax" | "None";
          }[]
        | null;
      schedule?:
        | string
        | {
            cron: string;
            timezone?: string | null;
            overlap?: "skip" | "queue" | "cancel";
            missed?: "skip" | "run_once";
            jitter_seconds?: number;
          }
        | null;
      browser?: {
        wait_for?: string | null;
        /** leave out pictures, fonts and media */
        block_resources?: boolean;
      } | null;
      crawl?: {
        url?: string | string[];
        /** link hops; 0 is that page alone */
        max_depth?: number;
        max_pages?: number;
        timeout_minutes?: number;
        max_concurrent_articles?: number;
        /** tries after the first */
        retry_attempts?: number;
        partial_results_ok?: boolean;
        export_format?: "json" | "jsonl" | "csv" | "markdown" | "parquet" | "warc";
        include?: string[];
        exclude?: string[];
        same_site?: boolean;
        /** with same_site: all of the site, the start's host, or addresses of it that begin as the start does */
        stay_within?: "site" | "host" | "path";
        /** false: only the starts, and the pages that sitemaps name */
        follow_links?: boolean;
        /** a pause between two pages of this crawl, which then come one at a time */
        delay_seconds?: number;
        /** also begin with the pages that the site's sitemaps name */
        use_sitemap?: boolean;
        strategy?: "auto" | "http" | "browser";
        /** names of well-known fields (title, price, markdown …), or rules by field name; docs/extraction.md has both. Without: title, description, author, published_at and markdown */
        fields?: string[] | Record<string, unknown> | null;
        items?: string | Record<string, unknown> | null;
        schema?: boolean | Record<string, unknown> | null;
        article?: boolean | null;
        respect_robots?: boolean;
        proxy?: string | null;
      };
      workflow?: {
        definition?: Record<string, unknown> | null;
        template?: string | null;
        template_version?: number | null;
        params?: Record<string, unknown> | null;
      } | null;
    };
    answer: Job;
  };
  createSession: {
    params: undefined;
    query: undefined;
    body: {
      /** such as https://example.com */
      origin: string;
      name?: string | null;
      cookies?:
        | Record<string, string>
        | {
            name: string;
            value: string;
            domain?: string;
            path?: string;
            expires?: number;
            httpOnly?: boolean;
            secure?: boolean;
            sameSite?: "Strict" | "Lax" | "None";
          }[]
        | null;
      headers?: Record<string, string> | null;
      basic?: {
        username: string;
        password: string;
      } | null;
      storage_state?: {
        cookies?: {
          name: string;
          value: string;
          domain?: string;
          path?: string;
          expires?: number;
          httpOnly?: boolean;
          secure?: boolean;
          sameSite?: "Strict" | "Lax" | "None";
        }[];
        origins?: {
          origin: string;
          localStorage?: {
            name: string;
            value: string;
          }[];
        }[];
      } | null;
      check_url?: string | null;
    };
    answer: Session;
  };
  createWorkflow: {
    params: undefined;
    query: undefined;
    body:
      | {
          definition?: Record<string, unknown> | null;
          template?: string | null;
          template_version?: number | null;
          params?: Record<string, unknown> | null;
          job_id?: string | null;
          /** of this run; absent: as the definition says */
          name?: string;
          /** false: it waits until it is started */
          start?: boolean;
          metadata?: Record<string, unknown>;
        }
      | {
          /** of a definition that is the whole body */
          steps: unknown;
        };
    answer: JobWorkflow;
  };
  deleteJob: {
    params: {
      job_id: string;
    };
    query: {
      force?: boolean;
    };
    body: undefined;
    answer: null;
  };
  deleteProxy: {
    params: {
      proxy_id: string;
    };
    query: undefined;
    body: undefined;
    answer: null;
  };
  deleteSession: {
    params: {
      session_id: string;
    };
    query: undefined;
    body: undefined;
    answer: null;
  };
  deleteTemplate: {
    params: {
      name: string;
    };
    query: undefined;
    body: undefined;
    answer: null;
  };
  deleteWorkflow: {
    params: {
      workflow_id: string;
    };
    query: {
      force?: boolean;
    };
    body: undefined;
    answer: null;
  };
  disableProxy: {
    params: {
      proxy_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Proxy;
  };
  drainWorker: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: Worker;
  };
  enableProxy: {
    params: {
      proxy_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Proxy;
  };
  forgetLearnedStrategy: {
    params: {
      site: string;
    };
    query: undefined;
    body: undefined;
    answer: Site;
  };
  getArtifact: {
    params: {
      artifact_id: string;
    };
    query: undefined;
    body: undefined;
    answer: string;
  };
  getConfig: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      /** the variable that sets it */
      name: string;
      value: string | null;
      source: "default" | ".env" | "environment" | "command line" | null;
      about: string;
    }[];
  };
  getCrawl: {
    params: {
      task_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Crawl;
  };
  getCrawlHealth: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: CrawlHealth;
  };
  getDemoSite: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: DemoSite;
  };
  getHealth: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: Health;
  };
  getJob: {
    params: {
      job_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Job;
  };
  getJobWorkflow: {
    params: {
      job_id: string;
    };
    query: undefined;
    body: undefined;
    answer: JobWorkflow;
  };
  getLogin: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: Login;
  };
  getMetrics: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: string;
  };
  getOpenapi: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: Record<string, unknown>;
  };
  getOverview: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: Overview;
  };
  getProxy: {
    params: {
      proxy_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Proxy;
  };
  getProxyRefresh: {
    params: {
      job_id: string;
    };
    query: undefined;
    body: undefined;
    answer: ProxyRefresh;
  };
  getQueueItem: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: QueueItem;
  };
  getQueueStats: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: QueueStats;
  };
  getReady: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: Ready;
  };
  getResolver: {
    params: {
      name: string;
    };
    query: undefined;
    body: undefined;
    answer: Resolver;
  };
  getRun: {
    params: {
      run_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Run;
  };
  getRunRecipe: {
    params: {
      run_id: string;
    };
    query: undefined;
    body: undefined;
    answer: RunRecipe;
  };
  getSchedule: {
    params: {
      job_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Schedule;
  };
  getSession: {
    params: {
      session_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Session;
  };
  getSite: {
    params: {
      site: string;
    };
    query: undefined;
    body: undefined;
    answer: Site;
  };
  getSiteRobots: {
    params: {
      site: string;
    };
    query: {
      path?: string;
    };
    body: undefined;
    answer: SiteRobots;
  };
  getSiteSeries: {
    params: undefined;
    query: {
      site?: string;
    };
    body: undefined;
    answer: Record<
      string,
      {
        step_seconds: number;
        first_at: string | null;
        /** one for each step; null: nobody counted */
        good: (number | null)[];
        /** one for each step; null: nobody counted */
        bad: (number | null)[];
      }
    >;
  };
  getSitesProgress: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: SitesProgress;
  };
  getTaskByEngineId: {
    params: {
      engine_id: string;
    };
    query: undefined;
    body: undefined;
    answer: TaskByEngineId;
  };
  getTemplate: {
    params: {
      name: string;
    };
    query: {
      version?: number;
    };
    body: undefined;
    answer: Template;
  };
  getWorker: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: Worker;
  };
  getWorkflow: {
    params: {
      workflow_id: string;
    };
    query: undefined;
    body: undefined;
    answer: JobWorkflow;
  };
  getWorkflowProgress: {
    params: {
      workflow_id: string;
    };
    query: undefined;
    body: undefined;
    answer: WorkflowProgress;
  };
  getWorkflowTask: {
    params: {
      workflow_id: string;
      task: string;
    };
    query: undefined;
    body: undefined;
    answer: TaskByEngineId;
  };
  importProxies: {
    params: undefined;
    query: undefined;
    body:
      | {
          proxies: string[];
        }
      | {
          /** a list, one proxy to a line */
          url: string;
        };
    answer: {
      added: number;
      existing: number;
      /** the first 1,000 of them */
      invalid: {
        index: number;
        message: string;
      }[];
      invalid_count: number;
    };
  };
  listAlerts: {
    params: undefined;
    query: {
      kind?: "breaker_open" | "worker_lost" | "crash_loop" | "run_failed" | "disk_low" | "test";
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      id: string;
      kind: "breaker_open" | "worker_lost" | "crash_loop" | "run_failed" | "disk_low" | "test";
      /** what it is about: a site, or the id of a run or a worker */
      subject: string;
      message: string;
      /** by kind; see docs/monitoring.md */
      detail: unknown;
      /** UTC, ISO 8601 */
      created_at: string;
      /** off: no receiver was configured */
      delivery: "waiting" | "delivered" | "given_up" | "off";
      tries: number;
      next_try_at: string | null;
      last_error: string | null;
      delivered_at: string | null;
    }[];
  };
  listCrawlResults: {
    params: {
      task_id: string;
    };
    query: {
      include_errors?: boolean;
      format?: "json" | "jsonl" | "csv" | "markdown" | "parquet" | "warc";
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      task_id: string;
      status:
        | "pending"
        | "running"
        | "paused"
        | "waiting_for_human"
        | "recovering"
        | "completed"
        | "partial"
        | "failed"
        | "cancelled";
      items: Record<string, unknown>[];
      errors: {
        task_id: string;
        url: string | null;
        failure_code: string;
        failure_reason: string;
        message: string;
        attempts: number;
      }[];
    };
  };
  listCrawls: {
    params: undefined;
    query: {
      status?:
        | "pending"
        | "running"
        | "paused"
        | "waiting_for_human"
        | "recovering"
        | "completed"
        | "partial"
        | "failed"
        | "cancelled";
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      task_id: string;
      url: string | null;
      status:
        | "pending"
        | "running"
        | "paused"
        | "waiting_for_human"
        | "recovering"
        | "completed"
        | "partial"
        | "failed"
        | "cancelled";
      /** percent of the pages known by now, never falling; 100 only at the end, however it ends */
      progress: number;
      /** pages that are known by now, all of those below */
      total_items: number;
      /** waiting for their turn or their next try */
      queued_items: number;
      /** of the queued ones: they have failed, and are tried again */
      retrying_items: number;
      /** under way */
      running_items: number;
      /** got */
      completed_items: number;
      /** failed for good */
      failed_items: number;
      /** left, because another page of the crawl is the same */
      skipped_items: number;
      /** not done when the crawl was cancelled or its time was over */
      cancelled_items: number;
      /** of the completed ones: as they were when the job came to them before */
      unchanged_items: number;
      /** the completed ones of those that completed or failed */
      success_rate: number;
      /** running time: waiting and pauses do not count */
      duration_seconds: number;
      time_remaining_seconds: number | null;
      /** pages that ended by running time, from the beginning */
      pages_per_second: number;
      errors: {
        timeout: number;
        connection: number;
        general: number;
      };
      end_reason: "exhausted" | "limit_pages" | "limit_depth" | "limit_time" | "breaker_open" | "no_proxies" | null;
      /** as it was asked for; orb crawl --resume writes its results so */
      export_format: "json" | "jsonl" | "csv" | "markdown" | "parquet" | "warc";
      /** UTC, ISO 8601 */
      created_at: string;
      started_at: string | null;
      finished_at: string | null;
      expires_at: string | null;
      message: string | null;
      waiting_for: {
        reason:
          | "run_paused"
          | "turn"
          | "person"
          | "previous_run"
          | "proxies"
          | "no_worker"
          | "workers_drained"
          | "worker_paused"
          | "site_paused"
          | "circuit_open"
          | "rate_limited"
          | "probing"
          | "depends_on"
          | "page_limit"
          | "retry"
          | "memory"
          | "crawl_delay"
          | "min_delay"
          | "rate"
          | "concurrency";
        until: string | null;
        message: string;
      } | null;
    }[];
  };
  listEntries: {
    params: {
      workflow_id: string;
      task: string;
    };
    query: {
      status?: "pending" | "queued" | "running" | "retrying" | "completed" | "failed" | "skipped" | "cancelled";
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      id: string;
      index: number;
      item: unknown;
      status: "pending" | "queued" | "running" | "retrying" | "completed" | "failed" | "skipped" | "cancelled";
      retry_count: number;
      result: Record<string, unknown> | null;
      error_message: string | null;
      failure_code:
        | "blocked"
        | "rate_limited"
        | "timeout"
        | "network"
        | "bad_response"
        | "extraction"
        | "forbidden_target"
        | "robots"
        | "circuit_open"
        | "cancelled"
        | "unknown"
        | null;
      failure_reason:
        | "timeout_connect"
        | "timeout_headers"
        | "timeout_idle"
        | "timeout_total"
        | "dns_failed"
        | "connection_refused"
        | "connection_reset"
        | "connection_failed"
        | "tls_failed"
        | "no_proxies"
        | "proxy_unreachable"
        | "proxy_auth"
        | "proxy_refused"
        | "proxy_timeout"
        | "truncated_body"
        | "malformed_response"
        | "headers_too_large"
        | "body_too_large"
        | "decompression_limit"
        | "decompression_failed"
        | "unsupported_encoding"
        | "too_many_redirects"
        | "bad_redirect"
        | "not_html"
        | "http_not_found"
        | "http_client_error"
        | "http_server_error"
        | "http_unexpected"
        | "http_unauthorized"
        | "http_forbidden"
        | "challenge_page"
        | "captcha_page"
        | "empty_shell"
        | "login_page"
        | "human_skipped"
        | "http_too_many_requests"
        | "http_unavailable"
        | "retry_after_too_long"
        | "private_address"
        | "scheme_not_allowed"
        | "url_not_allowed"
        | "proxy_forbidden"
        | "field_missing"
        | "field_invalid"
        | "schema_mismatch"
        | "extraction_failed"
        | "extraction_timeout"
        | "robots_disallowed"
        | "robots_unreachable"
        | "breaker_open"
        | "run_cancelled"
        | "task_stopped"
        | "browser_missing"
        | "browser_failed"
        | "browser_crashed"
        | "page_crashed"
        | "session_unusable"
        | "request_invalid"
        | "handler_threw"
        | "handler_refused"
        | "handler_timeout"
        | "handler_out_of_memory"
        | "handler_exited"
        | "handler_missing"
        | "handler_bad_result"
        | "step_timeout"
        | "step_params"
        | "step_bad_result"
        | "step_child_failed"
        | "step_child_cancelled"
        | "step_entries_failed"
        | "internal"
        | null;
      attempts: {
        attempt: number;
        strategy: string;
        proxy: string | null;
        /** UTC, ISO 8601 */
        started_at: string;
        duration_ms: number;
        http_status: number | null;
        failure_code:
          | "blocked"
          | "rate_limited"
          | "timeout"
          | "network"
          | "bad_response"
          | "extraction"
          | "forbidden_target"
          | "robots"
          | "circuit_open"
          | "cancelled"
          | "unknown"
          | null;
        failure_reason:
          | "timeout_connect"
          | "timeout_headers"
          | "timeout_idle"
          | "timeout_total"
          | "dns_failed"
          | "connection_refused"
          | "connection_reset"
          | "connection_failed"
          | "tls_failed"
          | "no_proxies"
          | "proxy_unreachable"
          | "proxy_auth"
          | "proxy_refused"
          | "proxy_timeout"
          | "truncated_body"
          | "malformed_response"
          | "headers_too_large"
          | "body_too_large"
          | "decompression_limit"
          | "decompression_failed"
          | "unsupported_encoding"
          | "too_many_redirects"
          | "bad_redirect"
          | "not_html"
          | "http_not_found"
          | "http_client_error"
          | "http_server_error"
          | "http_unexpected"
          | "http_unauthorized"
          | "http_forbidden"
          | "challenge_page"
          | "captcha_page"
          | "empty_shell"
          | "login_page"
          | "human_skipped"
          | "http_too_many_requests"
          | "http_unavailable"
          | "retry_after_too_long"
          | "private_address"
          | "scheme_not_allowed"
          | "url_not_allowed"
          | "proxy_forbidden"
          | "field_missing"
          | "field_invalid"
          | "schema_mismatch"
          | "extraction_failed"
          | "extraction_timeout"
          | "robots_disallowed"
          | "robots_unreachable"
          | "breaker_open"
          | "run_cancelled"
          | "task_stopped"
          | "browser_missing"
          | "browser_failed"
          | "browser_crashed"
          | "page_crashed"
          | "session_unusable"
          | "request_invalid"
          | "handler_threw"
          | "handler_refused"
          | "handler_timeout"
          | "handler_out_of_memory"
          | "handler_exited"
          | "handler_missing"
          | "handler_bad_result"
          | "step_timeout"
          | "step_params"
          | "step_bad_result"
          | "step_child_failed"
          | "step_child_cancelled"
          | "step_entries_failed"
          | "internal"
          | null;
      }[];
      /** UTC, ISO 8601 */
      created_at: string;
      completed_at: string | null;
    }[];
  };
  listEvents: {
    params: {
      run_id: string;
    };
    query: {
      limit?: number;
      after?: string;
    };
    body: undefined;
    answer: {
      id: string;
      run_id: string;
      level: "info" | "warn" | "error";
      message: string;
      meta: Record<string, unknown>;
      /** UTC, ISO 8601 */
      created_at: string;
    }[];
  };
  listItems: {
    params: {
      workflow_id: string;
      task: string;
    };
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: Record<string, unknown>[];
  };
  listJobRuns: {
    params: {
      job_id: string;
    };
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: Run[];
  };
  listJobs: {
    params: undefined;
    query: {
      tag?: string;
      site?: string;
      q?: string;
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: Job[];
  };
  listLanes: {
    params: undefined;
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      /** site:…, group:… or step:… */
      lane: string;
      /** up to 5 that have open work there; none: a step of a workflow */
      sites: string[];
      counts: {
        queued: number;
        running: number;
        retrying: number;
      };
      /** that have open work there */
      runs: number;
      /** paused by an operator; blocked: its breaker is open; idle: nothing is to be done there */
      state: "active" | "waiting" | "paused" | "blocked" | "idle";
      waiting_for: {
        reason:
          | "run_paused"
          | "turn"
          | "person"
          | "previous_run"
          | "proxies"
          | "no_worker"
          | "workers_drained"
          | "worker_paused"
          | "site_paused"
          | "circuit_open"
          | "rate_limited"
          | "probing"
          | "depends_on"
          | "page_limit"
          | "retry"
          | "memory"
          | "crawl_delay"
          | "min_delay"
          | "rate"
          | "concurrency";
        until: string | null;
        /** a sentence for people */
        message: string;
      } | null;
      /** some process has it in hand: no other works there */
      owned: boolean;
      worker_id: string | null;
      oldest_queued_at: string | null;
    }[];
  };
  listProxies: {
    params: undefined;
    query: {
      state?: "unchecked" | "usable" | "resting" | "disabled";
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      total: number;
      usable: number;
      resting: number;
      disabled: number;
      unchecked: number;
      proxies: {
        id: string;
        /** *** stands for a user name and a password */
        proxy: string;
        scheme: "http" | "https" | "socks5";
        host: string;
        port: number;
        has_credentials: boolean;
        state: "unchecked" | "usable" | "resting" | "disabled";
        /** how well it has served, the newest counting most */
        score: number;
        latency_ms: number | null;
        successes: number;
        failures: number;
        /** answers that its address is not wanted at a site */
        blocks: number;
        resting_until: string | null;
        last_error: string | null;
        checked_at: string | null;
        used_at: string | null;
        /** UTC, ISO 8601 */
        created_at: string;
      }[];
    };
  };
  listQueueItems: {
    params: undefined;
    query: {
      status?: "queued" | "in_progress" | "done" | "skipped" | "error";
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      id: string;
      artifact_id: string;
      status: "queued" | "in_progress" | "done" | "skipped" | "error";
      url: string | null;
      site: string;
      resolver: string | null;
      priority: number;
      handler: string | null;
      attempts: number;
      failure_code: string | null;
      failure_reason: string | null;
      message: string | null;
      next_try_at: string | null;
      /** UTC, ISO 8601 */
      created_at: string;
      finished_at: string | null;
    }[];
  };
  listResults: {
    params: {
      run_id: string;
    };
    query: {
      format?: "json" | "jsonl" | "csv" | "markdown" | "parquet" | "warc";
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      id: string;
      run_id: string;
      task_id: string;
      url: string;
      data: Record<string, unknown>;
      /** UTC, ISO 8601 */
      created_at: string;
    }[];
  };
  listRunErrors: {
    params: {
      run_id: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      failure_code:
        | "blocked"
        | "rate_limited"
        | "timeout"
        | "network"
        | "bad_response"
        | "extraction"
        | "forbidden_target"
        | "robots"
        | "circuit_open"
        | "cancelled"
        | "unknown";
      failure_reason:
        | "timeout_connect"
        | "timeout_headers"
        | "timeout_idle"
        | "timeout_total"
        | "dns_failed"
        | "connection_refused"
        | "connection_reset"
        | "connection_failed"
        | "tls_failed"
        | "no_proxies"
        | "proxy_unreachable"
        | "proxy_auth"
        | "proxy_refused"
        | "proxy_timeout"
        | "truncated_body"
        | "malformed_response"
        | "headers_too_large"
        | "body_too_large"
        | "decompression_limit"
        | "decompression_failed"
        | "unsupported_encoding"
        | "too_many_redirects"
        | "bad_redirect"
        | "not_html"
        | "http_not_found"
        | "http_client_error"
        | "http_server_error"
        | "http_unexpected"
        | "http_unauthorized"
        | "http_forbidden"
        | "challenge_page"
        | "captcha_page"
        | "empty_shell"
        | "login_page"
        | "human_skipped"
        | "http_too_many_requests"
        | "http_unavailable"
        | "retry_after_too_long"
        | "private_address"
        | "scheme_not_allowed"
        | "url_not_allowed"
        | "proxy_forbidden"
        | "field_missing"
        | "field_invalid"
        | "schema_mismatch"
        | "extraction_failed"
        | "extraction_timeout"
        | "robots_disallowed"
        | "robots_unreachable"
        | "breaker_open"
        | "run_cancelled"
        | "task_stopped"
        | "browser_missing"
        | "browser_failed"
        | "browser_crashed"
        | "page_crashed"
        | "session_unusable"
        | "request_invalid"
        | "handler_threw"
        | "handler_refused"
        | "handler_timeout"
        | "handler_out_of_memory"
        | "handler_exited"
        | "handler_missing"
        | "handler_bad_result"
        | "step_timeout"
        | "step_params"
        | "step_bad_result"
        | "step_child_failed"
        | "step_child_cancelled"
        | "step_entries_failed"
        | "internal";
      class: "timeout" | "connection" | "general";
      count: number;
      example: {
        url: string | null;
        message: string;
        task_id: string;
        screenshot_id: string | null;
        snapshot_id: string | null;
      };
    }[];
  };
  listRunSites: {
    params: {
      run_id: string;
    };
    query: {
      status?: "pending" | "queued" | "running" | "retrying" | "completed" | "failed" | "skipped" | "cancelled";
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      site: string;
      counts: {
        queued: number;
        /** under way, as far as the limits of the site and of the crawl allow */
        running: number;
        retrying: number;
        completed: number;
        failed: number;
        skipped: number;
      };
      waiting_for: {
        reason:
          | "run_paused"
          | "turn"
          | "person"
          | "previous_run"
          | "proxies"
          | "no_worker"
          | "workers_drained"
          | "worker_paused"
          | "site_paused"
          | "circuit_open"
          | "rate_limited"
          | "probing"
          | "depends_on"
          | "page_limit"
          | "retry"
          | "memory"
          | "crawl_delay"
          | "min_delay"
          | "rate"
          | "concurrency";
        until: string | null;
        message: string;
      } | null;
      next_try_at: string | null;
      last_failure: {
        failure_reason:
          | "timeout_connect"
          | "timeout_headers"
          | "timeout_idle"
          | "timeout_total"
          | "dns_failed"
          | "connection_refused"
          | "connection_reset"
          | "connection_failed"
          | "tls_failed"
          | "no_proxies"
          | "proxy_unreachable"
          | "proxy_auth"
          | "proxy_refused"
          | "proxy_timeout"
          | "truncated_body"
          | "malformed_response"
          | "headers_too_large"
          | "body_too_large"
          | "decompression_limit"
          | "decompression_failed"
          | "unsupported_encoding"
          | "too_many_redirects"
          | "bad_redirect"
          | "not_html"
          | "http_not_found"
          | "http_client_error"
          | "http_server_error"
          | "http_unexpected"
          | "http_unauthorized"
          | "http_forbidden"
          | "challenge_page"
          | "captcha_page"
          | "empty_shell"
          | "login_page"
          | "human_skipped"
          | "http_too_many_requests"
          | "http_unavailable"
          | "retry_after_too_long"
          | "private_address"
          | "scheme_not_allowed"
          | "url_not_allowed"
          | "proxy_forbidden"
          | "field_missing"
          | "field_invalid"
          | "schema_mismatch"
          | "extraction_failed"
          | "extraction_timeout"
          | "robots_disallowed"
          | "robots_unreachable"
          | "breaker_open"
          | "run_cancelled"
          | "task_stopped"
          | "browser_missing"
          | "browser_failed"
          | "browser_crashed"
          | "page_crashed"
          | "session_unusable"
          | "request_invalid"
          | "handler_threw"
          | "handler_refused"
          | "handler_timeout"
          | "handler_out_of_memory"
          | "handler_exited"
          | "handler_missing"
          | "handler_bad_result"
          | "step_timeout"
          | "step_params"
          | "step_bad_result"
          | "step_child_failed"
          | "step_child_cancelled"
          | "step_entries_failed"
          | "internal";
        message: string;
      } | null;
      held_until: string | null;
      breaker: {
        state: "closed" | "open" | "half_open";
        failures: number;
        reopens_at: string | null;
      };
    }[];
  };
  listRuns: {
    params: undefined;
    query: {
      status?: string;
      kind?: "queue" | "page" | "crawl" | "workflow" | "download" | "proxy_refresh";
      site?: string;
      job_id?: string;
      q?: string;
      since?: string;
      until?: string;
      total?: boolean;
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: Run[];
  };
  listSchedules: {
    params: undefined;
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: Schedule[];
  };
  listSessions: {
    params: undefined;
    query: {
      origin?: string;
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: Session[];
  };
  listSites: {
    params: undefined;
    query: {
      q?: string;
      state?: "active" | "waiting" | "paused" | "blocked";
      group?: string;
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: Site[];
  };
  listSlots: {
    params: {
      job_id: string;
    };
    query: {
      outcome?: "started" | "missed" | "skipped" | "refused";
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      /** as the schedule says it, without what chance has added */
      at: string;
      /** of many missed in a row the last */
      until: string;
      /** of many missed in a row how many */
      count: number;
      outcome: "started" | "missed" | "skipped" | "refused";
      run_id: string | null;
      message: string | null;
      /** UTC, ISO 8601 */
      noted_at: string;
    }[];
  };
  listStepKinds: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      kind: string;
      about: string;
      /** a JSON Schema (2020-12) */
      params: unknown;
    }[];
  };
  listTasks: {
    params: {
      run_id: string;
    };
    query: {
      status?: "pending" | "queued" | "running" | "retrying" | "completed" | "failed" | "skipped" | "cancelled";
      q?: string;
      order?: "oldest" | "newest" | "slowest" | "largest";
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      id: string;
      run_id: string;
      url: string | null;
      site: string | null;
      status: "pending" | "queued" | "running" | "retrying" | "completed" | "failed" | "skipped" | "cancelled";
      priority: number;
      handler: string | null;
      failure_code:
        | "blocked"
        | "rate_limited"
        | "timeout"
        | "network"
        | "bad_response"
        | "extraction"
        | "forbidden_target"
        | "robots"
        | "circuit_open"
        | "cancelled"
        | "unknown"
        | null;
      failure_reason:
        | "timeout_connect"
        | "timeout_headers"
        | "timeout_idle"
        | "timeout_total"
        | "dns_failed"
        | "connection_refused"
        | "connection_reset"
        | "connection_failed"
        | "tls_failed"
        | "no_proxies"
        | "proxy_unreachable"
        | "proxy_auth"
        | "proxy_refused"
        | "proxy_timeout"
        | "truncated_body"
        | "malformed_response"
        | "headers_too_large"
        | "body_too_large"
        | "decompression_limit"
        | "decompression_failed"
        | "unsupported_encoding"
        | "too_many_redirects"
        | "bad_redirect"
        | "not_html"
        | "http_not_found"
        | "http_client_error"
        | "http_server_error"
        | "http_unexpected"
        | "http_unauthorized"
        | "http_forbidden"
        | "challenge_page"
        | "captcha_page"
        | "empty_shell"
        | "login_page"
        | "human_skipped"
        | "http_too_many_requests"
        | "http_unavailable"
        | "retry_after_too_long"
        | "private_address"
        | "scheme_not_allowed"
        | "url_not_allowed"
        | "proxy_forbidden"
        | "field_missing"
        | "field_invalid"
        | "schema_mismatch"
        | "extraction_failed"
        | "extraction_timeout"
        | "robots_disallowed"
        | "robots_unreachable"
        | "breaker_open"
        | "run_cancelled"
        | "task_stopped"
        | "browser_missing"
        | "browser_failed"
        | "browser_crashed"
        | "page_crashed"
        | "session_unusable"
        | "request_invalid"
        | "handler_threw"
        | "handler_refused"
        | "handler_timeout"
        | "handler_out_of_memory"
        | "handler_exited"
        | "handler_missing"
        | "handler_bad_result"
        | "step_timeout"
        | "step_params"
        | "step_bad_result"
        | "step_child_failed"
        | "step_child_cancelled"
        | "step_entries_failed"
        | "internal"
        | null;
      error_message: string | null;
      next_try_at: string | null;
      depth: number | null;
      strategy: string | null;
      http_status: number | null;
      duration_ms: number | null;
      size: number | null;
      /** newest last */
      attempts: {
        attempt: number;
        strategy: string;
        proxy: string | null;
        /** UTC, ISO 8601 */
        started_at: string;
        duration_ms: number;
        http_status: number | null;
        failure_code:
          | "blocked"
          | "rate_limited"
          | "timeout"
          | "network"
          | "bad_response"
          | "extraction"
          | "forbidden_target"
          | "robots"
          | "circuit_open"
          | "cancelled"
          | "unknown"
          | null;
        failure_reason:
          | "timeout_connect"
          | "timeout_headers"
          | "timeout_idle"
          | "timeout_total"
          | "dns_failed"
          | "connection_refused"
          | "connection_reset"
          | "connection_failed"
          | "tls_failed"
          | "no_proxies"
          | "proxy_unreachable"
          | "proxy_auth"
          | "proxy_refused"
          | "proxy_timeout"
          | "truncated_body"
          | "malformed_response"
          | "headers_too_large"
          | "body_too_large"
          | "decompression_limit"
          | "decompression_failed"
          | "unsupported_encoding"
          | "too_many_redirects"
          | "bad_redirect"
          | "not_html"
          | "http_not_found"
          | "http_client_error"
          | "http_server_error"
          | "http_unexpected"
          | "http_unauthorized"
          | "http_forbidden"
          | "challenge_page"
          | "captcha_page"
          | "empty_shell"
          | "login_page"
          | "human_skipped"
          | "http_too_many_requests"
          | "http_unavailable"
          | "retry_after_too_long"
          | "private_address"
          | "scheme_not_allowed"
          | "url_not_allowed"
          | "proxy_forbidden"
          | "field_missing"
          | "field_invalid"
          | "schema_mismatch"
          | "extraction_failed"
          | "extraction_timeout"
          | "robots_disallowed"
          | "robots_unreachable"
          | "breaker_open"
          | "run_cancelled"
          | "task_stopped"
          | "browser_missing"
          | "browser_failed"
          | "browser_crashed"
          | "page_crashed"
          | "session_unusable"
          | "request_invalid"
          | "handler_threw"
          | "handler_refused"
          | "handler_timeout"
          | "handler_out_of_memory"
          | "handler_exited"
          | "handler_missing"
          | "handler_bad_result"
          | "step_timeout"
          | "step_params"
          | "step_bad_result"
          | "step_child_failed"
          | "step_child_cancelled"
          | "step_entries_failed"
          | "internal"
          | null;
      }[];
      detail: unknown;
      artifacts: {
        id: string;
        role: "file" | "screenshot" | "snapshot" | "exchange" | "redirect" | "items";
        hash: string;
        size: number;
        content_type: string | null;
        url: string;
        /** UTC, ISO 8601 */
        created_at: string;
      }[];
      /** UTC, ISO 8601 */
      created_at: string;
      finished_at: string | null;
    }[];
  };
  listTemplateVersions: {
    params: {
      name: string;
    };
    query: undefined;
    body: undefined;
    answer: Template[];
  };
  listTemplates: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: Template[];
  };
  listWorkers: {
    params: undefined;
    query: {
      all?: boolean;
    };
    body: undefined;
    answer: Worker[];
  };
  listWorkflowTasks: {
    params: {
      workflow_id: string;
    };
    query: {
      status?: "pending" | "queued" | "running" | "retrying" | "completed" | "failed" | "skipped" | "cancelled";
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: TaskByEngineId[];
  };
  listWorkflows: {
    params: undefined;
    query: {
      status?:
        | "active"
        | "recoverable"
        | "pending"
        | "running"
        | "paused"
        | "recovering"
        | "completed"
        | "failed"
        | "cancelled";
      job_id?: string;
      template?: string;
      q?: string;
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      id: string;
      job_id: string | null;
      name: string;
      status: "pending" | "running" | "paused" | "recovering" | "completed" | "failed" | "cancelled";
      /** the index of the first step that has not ended */
      current_step: number;
      total_steps: number;
      /** weighted by the steps' estimates; 100 when it has completed */
      progress: number;
      metadata: Record<string, unknown>;
      error_message: string | null;
      recovery_attempts: number;
      max_recovery_attempts: number;
      template: {
        name: string;
        version: number;
      } | null;
      rerun_of: string | null;
      message: string | null;
      /** UTC, ISO 8601 */
      created_at: string;
      started_at: string | null;
      completed_at: string | null;
      last_checkpoint: string | null;
      /** UTC, ISO 8601 */
      updated_at: string;
    }[];
  };
  logIn: {
    params: undefined;
    query: undefined;
    body: {
      token: string;
    };
    answer: null;
  };
  logOut: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: null;
  };
  pauseRun: {
    params: {
      run_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Run;
  };
  pauseSchedule: {
    params: {
      job_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Schedule;
  };
  pauseSite: {
    params: {
      site: string;
    };
    query: undefined;
    body: undefined;
    answer: Site;
  };
  pauseWorkflow: {
    params: {
      workflow_id: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      job_id: string | null;
      name: string;
      status: "pending" | "running" | "paused" | "recovering" | "completed" | "failed" | "cancelled";
      /** the index of the first step that has not ended */
      current_step: number;
      total_steps: number;
      /** weighted by the steps' estimates; 100 when it has completed */
      progress: number;
      metadata: Record<string, unknown>;
      error_message: string | null;
      recovery_attempts: number;
      max_recovery_attempts: number;
      template: {
        name: string;
        version: number;
      } | null;
      rerun_of: string | null;
      message: string | null;
      /** UTC, ISO 8601 */
      created_at: string;
      started_at: string | null;
      completed_at: string | null;
      last_checkpoint: string | null;
      /** UTC, ISO 8601 */
      updated_at: string;
    };
  };
  pingWorker: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      answered: boolean;
      latency_ms: number;
    };
  };
  previewExtraction: {
    params: undefined;
    query: undefined;
    body: {
      url?: string;
      /** the page itself, instead of fetching it */
      html?: string;
      /** of what is sent as html; text/html unless said */
      content_type?: string;
      /** the answer brings the page along */
      include_html?: boolean;
      /** names of well-known fields (title, price, markdown …), or rules by field name; docs/extraction.md has both. Without: title, description, author, published_at and markdown */
      fields?: string[] | Record<string, unknown> | null;
      items?: string | Record<string, unknown> | null;
      schema?: boolean | Record<string, unknown> | null;
      strategy?: "auto" | "http" | "browser";
      timeout_seconds?: number;
    };
    answer: {
      url: string | null;
      final_url: string | null;
      http_status: number | null;
      strategy: string | null;
      strategy_evidence: Record<string, unknown> | null;
      title: string | null;
      records: Record<string, unknown>[];
      failure_code: string | null;
      failure_reason: string | null;
      error_message: string | null;
      /** required fields and schemas that fail, with what was found instead */
      errors: {
        record: number;
        field: string;
        rule: string;
        message: string;
        found: string | null;
      }[];
      warnings: {
        record: number;
        field: string;
        rule: string;
        message: string;
        found: string | null;
      }[];
      html: string | null;
      content_type: string | null;
      duration_ms: number;
    };
  };
  putTemplate: {
    params: {
      name: string;
    };
    query: undefined;
    body:
      | {
          /** name, steps, params, max_recovery_attempts: docs/workflows.md describes it */
          definition: Record<string, unknown>;
        }
      | {
          /** of a definition that is the whole body */
          steps: unknown;
        };
    answer: Template;
  };
  recoverWorkflow: {
    params: {
      workflow_id: string;
    };
    query: undefined;
    body: {
      from_step?: string | number | null;
    } | null;
    answer: {
      id: string;
      job_id: string | null;
      name: string;
      status: "pending" | "running" | "paused" | "recovering" | "completed" | "failed" | "cancelled";
      /** the index of the first step that has not ended */
      current_step: number;
      total_steps: number;
      /** weighted by the steps' estimates; 100 when it has completed */
      progress: number;
      metadata: Record<string, unknown>;
      error_message: string | null;
      recovery_attempts: number;
      max_recovery_attempts: number;
      template: {
        name: string;
        version: number;
      } | null;
      rerun_of: string | null;
      message: string | null;
      /** UTC, ISO 8601 */
      created_at: string;
      started_at: string | null;
      completed_at: string | null;
      last_checkpoint: string | null;
      /** UTC, ISO 8601 */
      updated_at: string;
    };
  };
  refreshProxies: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: ProxyRefresh;
  };
  rerunWorkflow: {
    params: {
      workflow_id: string;
    };
    query: undefined;
    body: {
      /** in place of those of the same name */
      params?: Record<string, unknown>;
      definition?: Record<string, unknown> | null;
      start?: boolean;
      metadata?: Record<string, unknown>;
    } | null;
    answer: JobWorkflow;
  };
  resetBreaker: {
    params: {
      site: string;
    };
    query: undefined;
    body: undefined;
    answer: Site;
  };
  resolveRun: {
    params: {
      run_id: string;
    };
    query: undefined;
    body: {
      /** go on with this session */
      session_id?: string;
      /** leave the page: the run fails as human_skipped */
      skip?: true;
    };
    answer: Run;
  };
  resumeRun: {
    params: {
      run_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Run;
  };
  resumeSchedule: {
    params: {
      job_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Schedule;
  };
  resumeSite: {
    params: {
      site: string;
    };
    query: undefined;
    body: undefined;
    answer: Site;
  };
  resumeWorker: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: Worker;
  };
  resumeWorkflow: {
    params: {
      workflow_id: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      job_id: string | null;
      name: string;
      status: "pending" | "running" | "paused" | "recovering" | "completed" | "failed" | "cancelled";
      /** the index of the first step that has not ended */
      current_step: number;
      total_steps: number;
      /** weighted by the steps' estimates; 100 when it has completed */
      progress: number;
      metadata: Record<string, unknown>;
      error_message: string | null;
      recovery_attempts: number;
      max_recovery_attempts: number;
      template: {
        name: string;
        version: number;
      } | null;
      rerun_of: string | null;
      message: string | null;
      /** UTC, ISO 8601 */
      created_at: string;
      started_at: string | null;
      completed_at: string | null;
      last_checkpoint: string | null;
      /** UTC, ISO 8601 */
      updated_at: string;
    };
  };
  retryFailedItems: {
    params: undefined;
    query: undefined;
    body: {
      site?: string;
    } | null;
    answer: {
      requeued: number;
    };
  };
  retryFailedTasks: {
    params: {
      run_id: string;
    };
    query: undefined;
    body: {
      failure_code?:
        | "blocked"
        | "rate_limited"
        | "timeout"
        | "network"
        | "bad_response"
        | "extraction"
        | "forbidden_target"
        | "robots"
        | "circuit_open"
        | "cancelled"
        | "unknown";
      failure_reason?:
        | "timeout_connect"
        | "timeout_headers"
        | "timeout_idle"
        | "timeout_total"
        | "dns_failed"
        | "connection_refused"
        | "connection_reset"
        | "connection_failed"
        | "tls_failed"
        | "no_proxies"
        | "proxy_unreachable"
        | "proxy_auth"
        | "proxy_refused"
        | "proxy_timeout"
        | "truncated_body"
        | "malformed_response"
        | "headers_too_large"
        | "body_too_large"
        | "decompression_limit"
        | "decompression_failed"
        | "unsupported_encoding"
        | "too_many_redirects"
        | "bad_redirect"
        | "not_html"
        | "http_not_found"
        | "http_client_error"
        | "http_server_error"
        | "http_unexpected"
        | "http_unauthorized"
        | "http_forbidden"
        | "challenge_page"
        | "captcha_page"
        | "empty_shell"
        | "login_page"
        | "human_skipped"
        | "http_too_many_requests"
        | "http_unavailable"
        | "retry_after_too_long"
        | "private_address"
        | "scheme_not_allowed"
        | "url_not_allowed"
        | "proxy_forbidden"
        | "field_missing"
        | "field_invalid"
        | "schema_mismatch"
        | "extraction_failed"
        | "extraction_timeout"
        | "robots_disallowed"
        | "robots_unreachable"
        | "breaker_open"
        | "run_cancelled"
        | "task_stopped"
        | "browser_missing"
        | "browser_failed"
        | "browser_crashed"
        | "page_crashed"
        | "session_unusable"
        | "request_invalid"
        | "handler_threw"
        | "handler_refused"
        | "handler_timeout"
        | "handler_out_of_memory"
        | "handler_exited"
        | "handler_missing"
        | "handler_bad_result"
        | "step_timeout"
        | "step_params"
        | "step_bad_result"
        | "step_child_failed"
        | "step_child_cancelled"
        | "step_entries_failed"
        | "internal";
      site?: string;
      task_ids?: string[];
    } | null;
    answer: {
      id: string;
      job_id: string | null;
      parent: {
        run_id: string;
        task_id: string;
      } | null;
      kind: "queue" | "page" | "crawl" | "workflow" | "download" | "proxy_refresh";
      name: string | null;
      url: string | null;
      site: string | null;
      status:
        | "queued"
        | "running"
        | "paused"
        | "waiting_for_human"
        | "recovering"
        | "completed"
        | "partial"
        | "failed"
        | "cancelled";
      /** grows each time an ended run is opened again */
      generation: number;
      attempt: number;
      max_attempts: number | null;
      requested_strategy: string | null;
      resolved_strategy: string | null;
      strategy_evidence: Record<string, unknown> | null;
      failure_code:
        | "blocked"
        | "rate_limited"
        | "timeout"
        | "network"
        | "bad_response"
        | "extraction"
        | "forbidden_target"
        | "robots"
        | "circuit_open"
        | "cancelled"
        | "unknown"
        | null;
      failure_reason:
        | "timeout_connect"
        | "timeout_headers"
        | "timeout_idle"
        | "timeout_total"
        | "dns_failed"
        | "connection_refused"
        | "connection_reset"
        | "connection_failed"
        | "tls_failed"
        | "no_proxies"
        | "proxy_unreachable"
        | "proxy_auth"
        | "proxy_refused"
        | "proxy_timeout"
        | "truncated_body"
        | "malformed_response"
        | "headers_too_large"
        | "body_too_large"
        | "decompression_limit"
        | "decompression_failed"
        | "unsupported_encoding"
        | "too_many_redirects"
        | "bad_redirect"
        | "not_html"
        | "http_not_found"
        | "http_client_error"
        | "http_server_error"
        | "http_unexpected"
        | "http_unauthorized"
        | "http_forbidden"
        | "challenge_page"
        | "captcha_page"
        | "empty_shell"
        | "login_page"
        | "human_skipped"
        | "http_too_many_requests"
        | "http_unavailable"
        | "retry_after_too_long"
        | "private_address"
        | "scheme_not_allowed"
        | "url_not_allowed"
        | "proxy_forbidden"
        | "field_missing"
        | "field_invalid"
        | "schema_mismatch"
        | "extraction_failed"
        | "extraction_timeout"
        | "robots_disallowed"
        | "robots_unreachable"
        | "breaker_open"
        | "run_cancelled"
        | "task_stopped"
        | "browser_missing"
        | "browser_failed"
        | "browser_crashed"
        | "page_crashed"
        | "session_unusable"
        | "request_invalid"
        | "handler_threw"
        | "handler_refused"
        | "handler_timeout"
        | "handler_out_of_memory"
        | "handler_exited"
        | "handler_missing"
        | "handler_bad_result"
        | "step_timeout"
        | "step_params"
        | "step_bad_result"
        | "step_child_failed"
        | "step_child_cancelled"
        | "step_entries_failed"
        | "internal"
        | null;
      error_message: string | null;
      message: string | null;
      waiting_for: {
        reason:
          | "run_paused"
          | "turn"
          | "person"
          | "previous_run"
          | "proxies"
          | "no_worker"
          | "workers_drained"
          | "worker_paused"
          | "site_paused"
          | "circuit_open"
          | "rate_limited"
          | "probing"
          | "depends_on"
          | "page_limit"
          | "retry"
          | "memory"
          | "crawl_delay"
          | "min_delay"
          | "rate"
          | "concurrency";
        until: string | null;
        message: string;
      } | null;
      /** http_status, content_type, content_length, title, final_url, duration_ms, strategy, browser */
      stats: Record<string, unknown>;
      progress: number;
      /** UTC, ISO 8601 */
      created_at: string;
      started_at: string | null;
      finished_at: string | null;
      /** tasks that are tried again */
      retried: number;
    };
  };
  setResolver: {
    params: {
      name: string;
    };
    query: undefined;
    body: {
      limit: number | null;
    };
    answer: Resolver;
  };
  setSite: {
    params: {
      site: string;
    };
    query: undefined;
    body: {
      max_concurrency?: number | null;
      requests_per_second?: number | null;
      burst?: number | null;
      min_delay_ms?: number | null;
      max_memory_mb?: number | null;
      strategy?: "auto" | "http" | "browser" | "api_replay" | null;
      respect_robots?: boolean | null;
      shards?: number | null;
      group?: string | null;
      /** sites whose work must be finished before this one's begins; a circle is refused */
      depends_on?: string[];
      paused?: boolean;
    };
    answer: Site;
  };
  startCrawl: {
    params: undefined;
    query: undefined;
    body: {
      url: string | string[];
      /** link hops; 0 is that page alone */
      max_depth?: number;
      max_pages?: number;
      timeout_minutes?: number;
      max_concurrent_articles?: number;
      /** tries after the first */
      retry_attempts?: number;
      partial_results_ok?: boolean;
      export_format?: "json" | "jsonl" | "csv" | "markdown" | "parquet" | "warc";
      include?: string[];
      exclude?: string[];
      same_site?: boolean;
      /** with same_site: all of the site, the start's host, or addresses of it that begin as the start does */
      stay_within?: "site" | "host" | "path";
      /** false: only the starts, and the pages that sitemaps name */
      follow_links?: boolean;
      /** a pause between two pages of this crawl, which then come one at a time */
      delay_seconds?: number;
      /** also begin with the pages that the site's sitemaps name */
      use_sitemap?: boolean;
      strategy?: "auto" | "http" | "browser";
      /** names of well-known fields (title, price, markdown …), or rules by field name; docs/extraction.md has both. Without: title, description, author, published_at and markdown */
      fields?: string[] | Record<string, unknown> | null;
      items?: string | Record<string, unknown> | null;
      schema?: boolean | Record<string, unknown> | null;
      article?: boolean | null;
      respect_robots?: boolean;
      proxy?: string | null;
    };
    answer: {
      task_id: string;
      status:
        | "pending"
        | "running"
        | "paused"
        | "waiting_for_human"
        | "recovering"
        | "completed"
        | "partial"
        | "failed"
        | "cancelled";
    };
  };
  startDemoSite: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      url: string;
      /** whether there is one for the pages of it that need one */
      browser: boolean;
      /** a crawl of it, for POST /scraping/async-scrape */
      crawl: Record<string, unknown>;
    };
  };
  startPage: {
    params: undefined;
    query: undefined;
    body: {
      name?: string | null;
      strategy?: "auto" | "http" | "browser" | "api_replay";
      requires_auth?: boolean;
      /** names of well-known fields (title, price, markdown …), or rules by field name; docs/extraction.md has both. Without: title, description, author, published_at and markdown */
      fields?: string[] | Record<string, unknown> | null;
      items?: string | Record<string, unknown> | null;
      schema?: boolean | Record<string, unknown> | null;
      max_attempts?: number | null;
      /** after a block or an empty shell, the next attempt uses a browser */
      escalate?: boolean;
      respect_robots?: boolean;
      timeout_seconds?: number | null;
      session_id?: string | null;
      proxy?: string | null;
      /** what api_replay sends: {request, items, pagination}; docs/jobs.md describes it */
      replay?: unknown;
      target_url: string;
      headers?: Record<string, string> | null;
      cookies?:
        | Record<string, string>
        | {
            name: string;
            value: string;
            domain?: string;
            path?: string;
            expires?: number;
            httpOnly?: boolean;
            secure?: boolean;
            sameSite?: "Strict" | "Lax" | "None";
          }[]
        | null;
      browser?: {
        wait_for?: string | null;
        /** leave out pictures, fonts and media */
        block_resources?: boolean;
      } | null;
    };
    answer: Run;
  };
  startRun: {
    params: {
      job_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Run;
  };
  startWorkflow: {
    params: {
      workflow_id: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      job_id: string | null;
      name: string;
      status: "pending" | "running" | "paused" | "recovering" | "completed" | "failed" | "cancelled";
      /** the index of the first step that has not ended */
      current_step: number;
      total_steps: number;
      /** weighted by the steps' estimates; 100 when it has completed */
      progress: number;
      metadata: Record<string, unknown>;
      error_message: string | null;
      recovery_attempts: number;
      max_recovery_attempts: number;
      template: {
        name: string;
        version: number;
      } | null;
      rerun_of: string | null;
      message: string | null;
      /** UTC, ISO 8601 */
      created_at: string;
      started_at: string | null;
      completed_at: string | null;
      last_checkpoint: string | null;
      /** UTC, ISO 8601 */
      updated_at: string;
    };
  };
  stopTask: {
    params: {
      run_id: string;
      task_id: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      task_id: string;
      run_id: string;
      /** running: its worker is told, and ends it */
      state: "failed" | "running";
    };
  };
  streamAllEvents: {
    params: undefined;
    query: {
      last_event_id?: string;
    };
    body: undefined;
    answer: string;
  };
  streamEvents: {
    params: {
      run_id: string;
    };
    query: {
      last_event_id?: string;
    };
    body: undefined;
    answer: string;
  };
  streamLive: {
    params: undefined;
    query: {
      last_event_id?: string;
    };
    body: undefined;
    answer: string;
  };
  streamSitesProgress: {
    params: undefined;
    query: {
      last_event_id?: string;
    };
    body: undefined;
    answer: string;
  };
  testAlerts: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      kind: "breaker_open" | "worker_lost" | "crash_loop" | "run_failed" | "disk_low" | "test";
      /** what it is about: a site, or the id of a run or a worker */
      subject: string;
      message: string;
      /** by kind; see docs/monitoring.md */
      detail: unknown;
      /** UTC, ISO 8601 */
      created_at: string;
      /** off: no receiver was configured */
      delivery: "waiting" | "delivered" | "given_up" | "off";
      tries: number;
      next_try_at: string | null;
      last_error: string | null;
      delivered_at: string | null;
    };
  };
  validateWorkflow: {
    params: undefined;
    query: undefined;
    body:
      | {
          definition?: Record<string, unknown> | null;
          template?: string | null;
          template_version?: number | null;
          params?: Record<string, unknown> | null;
        }
      | {
          /** of a definition that is the whole body */
          steps: unknown;
        };
    answer: {
      valid: boolean;
      errors: {
        path: string;
        message: string;
      }[];
      /** what was sent as YAML, as calls that take JSON alone (POST /jobs) take it */
      source?: Record<string, unknown>;
    };
  };
}

export const ROUTES = {
  addQueueItems: ["POST", "/queue/items"],
  cancelCrawl: ["DELETE", "/scraping/tasks/{task_id}"],
  cancelRun: ["POST", "/jobs/runs/{run_id}/cancel"],
  cancelWorkflow: ["POST", "/workflows/{workflow_id}/cancel"],
  changeJob: ["PATCH", "/jobs/{job_id}"],
  changeRuns: ["POST", "/runs/bulk"],
  changeSite: ["PATCH", "/sites/{site}"],
  changeWorkflow: ["PATCH", "/workflows/{workflow_id}"],
  checkSession: ["POST", "/sessions/{session_id}/check"],
  createJob: ["POST", "/jobs"],
  createSession: ["POST", "/sessions"],
  createWorkflow: ["POST", "/workflows"],
  deleteJob: ["DELETE", "/jobs/{job_id}"],
  deleteProxy: ["DELETE", "/proxies/{proxy_id}"],
  deleteSession: ["DELETE", "/sessions/{session_id}"],
  deleteTemplate: ["DELETE", "/workflows/templates/{name}"],
  deleteWorkflow: ["DELETE", "/workflows/{workflow_id}"],
  disableProxy: ["POST", "/proxies/{proxy_id}/disable"],
  drainWorker: ["POST", "/workers/{id}/drain"],
  enableProxy: ["POST", "/proxies/{proxy_id}/enable"],
  forgetLearnedStrategy: ["DELETE", "/sites/{site}/learned-strategy"],
  getArtifact: ["GET", "/artifacts/{artifact_id}"],
  getConfig: ["GET", "/config"],
  getCrawl: ["GET", "/scraping/tasks/{task_id}/status"],
  getCrawlHealth: ["GET", "/scraping/status"],
  getDemoSite: ["GET", "/demo-site"],
  getHealth: ["GET", "/health"],
  getJob: ["GET", "/jobs/{job_id}"],
  getJobWorkflow: ["GET", "/jobs/{job_id}/workflow"],
  getLogin: ["GET", "/session"],
  getMetrics: ["GET", "/metrics"],
  getOpenapi: ["GET", "/openapi.json"],
  getOverview: ["GET", "/overview"],
  getProxy: ["GET", "/proxies/{proxy_id}"],
  getProxyRefresh: ["GET", "/proxies/refresh/{job_id}"],
  getQueueItem: ["GET", "/queue/items/{id}"],
  getQueueStats: ["GET", "/queue/stats"],
  getReady: ["GET", "/ready"],
  getResolver: ["GET", "/queue/resolvers/{name}"],
  getRun: ["GET", "/jobs/runs/{run_id}"],
  getRunRecipe: ["GET", "/jobs/runs/{run_id}/recipe"],
  getSchedule: ["GET", "/schedules/{job_id}"],
  getSession: ["GET", "/sessions/{session_id}"],
  getSite: ["GET", "/sites/{site}"],
  getSiteRobots: ["GET", "/sites/{site}/robots"],
  getSiteSeries: ["GET", "/sites/series"],
  getSitesProgress: ["GET", "/sites/progress"],
  getTaskByEngineId: ["GET", "/workflows/tasks/by-engine-id/{engine_id}"],
  getTemplate: ["GET", "/workflows/templates/{name}"],
  getWorker: ["GET", "/workers/{id}"],
  getWorkflow: ["GET", "/workflows/{workflow_id}"],
  getWorkflowProgress: ["GET", "/workflows/{workflow_id}/progress"],
  getWorkflowTask: ["GET", "/workflows/{workflow_id}/tasks/{task}"],
  importProxies: ["POST", "/proxies"],
  listAlerts: ["GET", "/alerts"],
  listCrawlResults: ["GET", "/scraping/tasks/{task_id}/results"],
  listCrawls: ["GET", "/scraping/tasks"],
  listEntries: ["GET", "/workflows/{workflow_id}/tasks/{task}/entries"],
  listEvents: ["GET", "/jobs/runs/{run_id}/events"],
  listItems: ["GET", "/workflows/{workflow_id}/tasks/{task}/items"],
  listJobRuns: ["GET", "/jobs/{job_id}/runs"],
  listJobs: ["GET", "/jobs"],
  listLanes: ["GET", "/queue/lanes"],
  listProxies: ["GET", "/proxies"],
  listQueueItems: ["GET", "/queue/items"],
  listResults: ["GET", "/jobs/runs/{run_id}/results"],
  listRunErrors: ["GET", "/jobs/runs/{run_id}/errors"],
  listRunSites: ["GET", "/jobs/runs/{run_id}/sites"],
  listRuns: ["GET", "/runs"],
  listSchedules: ["GET", "/schedules"],
  listSessions: ["GET", "/sessions"],
  listSites: ["GET", "/sites"],
  listSlots: ["GET", "/schedules/{job_id}/slots"],
  listStepKinds: ["GET", "/workflows/step-kinds"],
  listTasks: ["GET", "/jobs/runs/{run_id}/tasks"],
  listTemplateVersions: ["GET", "/workflows/templates/{name}/versions"],
  listTemplates: ["GET", "/workflows/templates"],
  listWorkers: ["GET", "/workers"],
  listWorkflowTasks: ["GET", "/workflows/{workflow_id}/tasks"],
  listWorkflows: ["GET", "/workflows"],
  logIn: ["POST", "/session"],
  logOut: ["DELETE", "/session"],
  pauseRun: ["POST", "/jobs/runs/{run_id}/pause"],
  pauseSchedule: ["POST", "/schedules/{job_id}/pause"],
  pauseSite: ["POST", "/sites/{site}/pause"],
  pauseWorkflow: ["POST", "/workflows/{workflow_id}/pause"],
  pingWorker: ["POST", "/workers/{id}/ping"],
  previewExtraction: ["POST", "/extract/preview"],
  putTemplate: ["PUT", "/workflows/templates/{name}"],
  recoverWorkflow: ["POST", "/workflows/{workflow_id}/recover"],
  refreshProxies: ["POST", "/proxies/refresh"],
  rerunWorkflow: ["POST", "/workflows/{workflow_id}/rerun"],
  resetBreaker: ["POST", "/sites/{site}/reset-breaker"],
  resolveRun: ["POST", "/jobs/runs/{run_id}/resolve"],
  resumeRun: ["POST", "/jobs/runs/{run_id}/resume"],
  resumeSchedule: ["POST", "/schedules/{job_id}/resume"],
  resumeSite: ["POST", "/sites/{site}/resume"],
  resumeWorker: ["POST", "/workers/{id}/resume"],
  resumeWorkflow: ["POST", "/workflows/{workflow_id}/resume"],
  retryFailedItems: ["POST", "/queue/retry-failed"],
  retryFailedTasks: ["POST", "/jobs/runs/{run_id}/retry-failed"],
  setResolver: ["PUT", "/queue/resolvers/{name}"],
  setSite: ["PUT", "/sites/{site}"],
  startCrawl: ["POST", "/scraping/async-scrape"],
  startDemoSite: ["POST", "/demo-site"],
  startPage: ["POST", "/runs"],
  startRun: ["POST", "/jobs/{job_id}/runs"],
  startWorkflow: ["POST", "/workflows/{workflow_id}/start"],
  stopTask: ["POST", "/jobs/runs/{run_id}/tasks/{task_id}/stop"],
  streamAllEvents: ["GET", "/events/stream"],
  streamEvents: ["GET", "/jobs/runs/{run_id}/events/stream"],
  streamLive: ["GET", "/live/stream"],
  streamSitesProgress: ["GET", "/sites/progress/stream"],
  testAlerts: ["POST", "/alerts/test"],
  validateWorkflow: ["POST", "/workflows/validate"],
} as const satisfies Record<keyof Operations, readonly [string, string]>;
