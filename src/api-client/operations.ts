// Made from the API's description by `node scripts/api-types.mjs`; do not edit.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export type Problem = {
  type: string;
  title: string;
  status: number;
  detail: string;
  /** stable; docs/api.md and docs/errors.md list them */
  code: "request_malformed" | "url_malformed" | "body_malformed" | "unauthorized" | "forbidden_origin" | "route_not_found" | "method_not_allowed" | "too_many_logins" | "request_timeout" | "body_too_large" | "url_too_long" | "media_type_unsupported" | "host_not_allowed" | "headers_too_large" | "internal" | "stopping" | "unready" | "config_invalid" | "input_invalid" | "usage" | "not_found" | "illegal_transition" | "recovery_exhausted" | "not_archived" | "image_decoder_missing" | "alerts_off" | "version_conflict" | "idempotency_conflict" | "site_waits" | "secret_key_wrong" | "database_newer" | "database_foreign" | "database_unfinished" | "database_busy" | "database_unavailable" | "disk_full" | "memory_full" | "artifacts_unavailable" | "engine_lost" | "service_unavailable" | "demo_unavailable" | "forbidden_target" | "fetch_failed" | "handlers_invalid" | "handler_failed";
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

export type Job = {
  id: string;
  name: string | null;
  strategy: "auto" | "http" | "browser" | "api_replay";
  requires_auth: boolean;
  /** names of well-known fields (title, price, markdown …), or rules by field name; docs/extraction.md has both. Without: title, description, author, published_at and markdown */
  fields: string[] | Record<string, Json> | null;
  items: string | Record<string, Json> | null;
  schema: boolean | Record<string, Json> | null;
  extract: Record<string, Json> | null;
  max_attempts: number | null;
  timezone: string | null;
  tags: string[];
  keep_runs: number | null;
  keep_days: number | null;
  /** after a block or an empty shell, the next attempt uses a browser */
  escalate: boolean;
  respect_robots: boolean;
  timeout_seconds: number | null;
  session_id: string | null;
  proxy: string | null;
  /** what api_replay sends: {request, items, pagination}; docs/jobs.md describes it */
  replay: Json;
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
  document: {
    /** what the document holds; default: markdown. A screenshot is taken in a browser */
    formats: ("markdown" | "html" | "raw_html" | "links" | "images" | "screenshot" | "screenshot_full")[];
    /** html and markdown without navigation and advertisements; default: true */
    only_main_content: boolean;
    /** nothing but what these match */
    include_tags: string[];
    /** nothing of what these match */
    exclude_tags: string[];
  } | null;
  browser: {
    wait_for: string | null;
    /** leave out pictures, fonts and media */
    block_resources: boolean;
    wait_ms: number | null;
    /** as a phone: its window, its touch screen and its user agent */
    mobile: boolean;
    /** what is done on the page before it is read, one after the other; docs/documents.md describes them */
    actions: {
      type: "wait" | "click" | "write" | "press" | "scroll" | "scroll_to_end" | "screenshot" | "scrape";
      /** of wait: so long, … */
      milliseconds?: number;
      /** of click: what is clicked; of wait: until this is there; of scroll and scroll_to_end: what is scrolled, unless the page */
      selector?: string;
      /** of click: all that match, and not only the first */
      all?: boolean;
      /** of write: into the element that has the focus */
      text?: string;
      /** of write: the text is stored encrypted and shown as ***, as a password should be */
      secret?: boolean;
      /** of press, such as Enter or Control+A */
      key?: string;
      /** of scroll */
      direction?: "up" | "down";
      /** of scroll: pixels; default: the height of the window */
      amount?: number;
      /** of scroll_to_end: maximum number of steps; default: 100 */
      max_steps?: number;
      /** of scroll_to_end: maximum seconds, within the time limit of the page; default: 60 */
      max_seconds?: number;
      /** of screenshot: the whole page */
      full_page?: boolean;
    }[];
  } | null;
  header_names: string[];
  cookie_names: string[];
  crawl: {
    /** pages, feeds (RSS, Atom, JSON), sitemaps or lists of addresses */
    url: string | string[];
    /** link hops; 0 is that page alone, 1000 the most */
    max_depth: number;
    max_pages: number;
    timeout_minutes: number;
    max_concurrent_articles: number;
    /** tries after the first */
    retry_attempts: number;
    /** tries in all, as in jobs: one more than retry_attempts, and given instead of it */
    max_attempts: number;
    /** false: a run with failed or missing pages counts as failed */
    partial_results_ok: boolean;
    /** pages to follow and to read, such as /blog/**; the starts are always followed */
    include: string[];
    /** pages to leave, whatever the other patterns say */
    exclude: string[];
    /** more pages whose links are followed, such as /page/**; they give no records unless include or read match them */
    follow: string[];
    /** pages that give records; without include and follow, every page of the site is followed */
    read: string[];
    same_site: boolean;
    /** with same_site: all of the site, the start's host, or addresses of it that begin as the start does */
    stay_within: "site" | "host" | "path";
    /** false: only the starts, and the pages that sitemaps name */
    follow_links: boolean;
    /** a pause between two pages of this crawl, which then come one at a time */
    delay_seconds: number;
    /** also begin with the pages that the site's sitemaps name */
    use_sitemap: boolean;
    /** of a saved crawl: pages that are as the run before found them give no records */
    only_changed: boolean;
    article: boolean | null;
    respect_robots: boolean;
    export_format: "json" | "jsonl" | "csv" | "csv-excel" | "markdown" | "markdown-zip" | "parquet" | "warc";
    strategy: "auto" | "http" | "browser";
    /** names of well-known fields (title, price, markdown …), or rules by field name; docs/extraction.md has both. Without: title, description, author, published_at and markdown */
    fields: string[] | Record<string, Json> | null;
    items: string | Record<string, Json> | null;
    schema: boolean | Record<string, Json> | null;
    extract: Record<string, Json> | null;
    proxy: string | null;
    session_id: string | null;
    document: {
      /** what the document holds; default: markdown. A screenshot is taken in a browser */
      formats: ("markdown" | "html" | "raw_html" | "links" | "images" | "screenshot" | "screenshot_full")[];
      /** html and markdown without navigation and advertisements; default: true */
      only_main_content: boolean;
      /** nothing but what these match */
      include_tags: string[];
      /** nothing of what these match */
      exclude_tags: string[];
    } | null;
    browser: {
      wait_for: string | null;
      /** leave out pictures, fonts and media */
      block_resources: boolean;
      wait_ms: number | null;
      /** as a phone: its window, its touch screen and its user agent */
      mobile: boolean;
      /** what is done on the page before it is read, one after the other; docs/documents.md describes them */
      actions: {
        type: "wait" | "click" | "write" | "press" | "scroll" | "scroll_to_end" | "screenshot" | "scrape";
        /** of wait: so long, … */
        milliseconds?: number;
        /** of click: what is clicked; of wait: until this is there; of scroll and scroll_to_end: what is scrolled, unless the page */
        selector?: string;
        /** of click: all that match, and not only the first */
        all?: boolean;
        /** of write: into the element that has the focus */
        text?: string;
        /** of write: the text is stored encrypted and shown as ***, as a password should be */
        secret?: boolean;
        /** of press, such as Enter or Control+A */
        key?: string;
        /** of scroll */
        direction?: "up" | "down";
        /** of scroll: pixels; default: the height of the window */
        amount?: number;
        /** of scroll_to_end: maximum number of steps; default: 100 */
        max_steps?: number;
        /** of scroll_to_end: maximum seconds, within the time limit of the page; default: 60 */
        max_seconds?: number;
        /** of screenshot: the whole page */
        full_page?: boolean;
      }[];
    } | null;
    /** headers that it sends; their values are not shown */
    header_names: string[];
  } | null;
  workflow: {
    definition?: Record<string, Json> | null;
    template?: string | null;
    template_version?: number | null;
    params?: Record<string, Json> | null;
  } | null;
  last_run: {
    id: string;
    kind: string;
    status: "queued" | "running" | "paused" | "waiting_for_human" | "recovering" | "completed" | "partial" | "failed" | "cancelled";
    progress: number;
    /** UTC, ISO 8601 */
    created_at: string;
    started_at: string | null;
    finished_at: string | null;
  } | null;
  next_run_at: string | null;
  /** as it was read; a change that names it is refused with 409 if somebody else has changed it since */
  version: string;
  /** UTC, ISO 8601 */
  created_at: string;
  /** UTC, ISO 8601 */
  updated_at: string;
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
  /** where a crawl begins, the first 100 of url_count; the recipe of the run has all of them */
  urls: string[];
  /** of a crawl: how many starts it has; of others 0 or 1 */
  url_count: number;
  site: string | null;
  status: "queued" | "running" | "paused" | "waiting_for_human" | "recovering" | "completed" | "partial" | "failed" | "cancelled";
  /** grows each time an ended run is opened again */
  generation: number;
  attempt: number;
  max_attempts: number | null;
  requested_strategy: string | null;
  resolved_strategy: string | null;
  strategy_evidence: Record<string, Json> | null;
  failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown" | null;
  failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal" | null;
  error_message: string | null;
  message: string | null;
  waiting_for: {
    reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
    until: string | null;
    /** a sentence for people */
    message: string;
    last_failure: {
      failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
      failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
      message: string;
      http_status: number | null;
      url: string | null;
      attempt: number | null;
      max_attempts: number | null;
      next_try_at: string | null;
    } | null;
  } | null;
  /** http_status, content_type, content_length, title, final_url, duration_ms, strategy, browser */
  stats: Record<string, Json>;
  /** percent; 100 at the end, and what was reached when it was cancelled */
  progress: number;
  changes: {
    compared_with: string | null;
    new: number;
    changed: number;
    unchanged: number;
    /** answered so, or not found any more by a crawl that ran to its end */
    gone: number;
    unknown: number | null;
  } | null;
  skipped: {
    /** match none of include, follow and read */
    not_included?: number;
    /** match exclude */
    excluded?: number;
    /** disallowed by robots.txt */
    robots?: number;
    /** deeper than max_depth */
    depth?: number;
    /** beyond max_pages */
    page_limit?: number;
    /** on another site, with same_site */
    other_site?: number;
    /** outside of stay_within */
    elsewhere?: number;
    /** files, by their ending */
    file?: number;
    /** look like an endless calendar, filter or loop */
    trap?: number;
    /** addresses that are too long */
    too_long?: number;
  } | null;
  /** what is probably not meant so */
  warnings: {
    code: "pagination_cut" | "sign_in";
    /** what happened, an example, and what to do */
    message: string;
    /** pagination_cut: whose patterns left the link */
    option?: "include" | "follow" | "exclude";
    patterns?: string[];
    /** the link that was left */
    url?: string;
    found_on?: string;
    follow?: string | null;
  }[];
  /** UTC, ISO 8601 */
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  expires_at: string | null;
  /** somebody asked to keep it: no policy removes it */
  kept: boolean;
  keep_runs: number | null;
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
    reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
    until: string | null;
    /** a sentence for people */
    message: string;
    last_failure: {
      failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
      failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
      message: string;
      http_status: number | null;
      url: string | null;
      attempt: number | null;
      max_attempts: number | null;
      next_try_at: string | null;
    } | null;
  } | null;
  last_failure: {
    failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
    failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
    message: string;
    http_status: number | null;
    url: string | null;
    attempt: number | null;
    max_attempts: number | null;
    next_try_at: string | null;
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
  /** as it was read; a change that names it is refused with 409 if somebody else has changed it since */
  version: string;
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

export type Task = {
  id: string;
  run_id: string;
  url: string | null;
  site: string | null;
  status: "pending" | "queued" | "running" | "retrying" | "completed" | "failed" | "skipped" | "cancelled";
  priority: number;
  handler: string | null;
  failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown" | null;
  failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal" | null;
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
    failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown" | null;
    failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal" | null;
  }[];
  detail: Json;
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
};

export type Crawl = {
  /** the id of the crawl, which is a run */
  crawl_id: string;
  /** alias of crawl_id */
  task_id: string;
  name: string | null;
  url: string | null;
  /** where a crawl begins, the first 100 of url_count; the recipe of the run has all of them */
  urls: string[];
  /** how many starts it has */
  url_count: number;
  status: "pending" | "running" | "paused" | "waiting_for_human" | "recovering" | "completed" | "partial" | "failed" | "cancelled";
  /** percent of the pages known by now, never falling; 100 only at the end; of a cancelled crawl, what was reached */
  progress: number;
  /** pages that are known by now, all of those below */
  total_items: number;
  /** how many it may fetch */
  max_pages: number;
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
  /** sent to a sign-in by the site: got as that, or left; their records have a warning */
  sign_in_items: number;
  /** of the completed ones: fetched for their links alone (follow, read); they give no records */
  followed_items: number;
  /** addresses that a crawl found and did not fetch, by reason, each counted once by each worker; depth and page_limit are lower bounds */
  skipped: {
    /** match none of include, follow and read */
    not_included?: number;
    /** match exclude */
    excluded?: number;
    /** disallowed by robots.txt */
    robots?: number;
    /** deeper than max_depth */
    depth?: number;
    /** beyond max_pages */
    page_limit?: number;
    /** on another site, with same_site */
    other_site?: number;
    /** outside of stay_within */
    elsewhere?: number;
    /** files, by their ending */
    file?: number;
    /** look like an endless calendar, filter or loop */
    trap?: number;
    /** addresses that are too long */
    too_long?: number;
  };
  /** what is probably not meant so */
  warnings: {
    code: "pagination_cut" | "sign_in";
    /** what happened, an example, and what to do */
    message: string;
    /** pagination_cut: whose patterns left the link */
    option?: "include" | "follow" | "exclude";
    patterns?: string[];
    /** the link that was left */
    url?: string;
    found_on?: string;
    follow?: string | null;
  }[];
  changes: {
    compared_with: string | null;
    new: number;
    changed: number;
    unchanged: number;
    /** answered so, or not found any more by a crawl that ran to its end */
    gone: number;
    unknown: number | null;
  } | null;
  /** the completed ones of those that completed or failed */
  success_rate: number;
  /** running time in all, also before it was opened again: waiting and pauses do not count */
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
  export_format: "json" | "jsonl" | "csv" | "csv-excel" | "markdown" | "markdown-zip" | "parquet" | "warc";
  /** UTC, ISO 8601 */
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  expires_at: string | null;
  /** somebody asked to keep it: no policy removes it */
  kept: boolean;
  keep_runs: number | null;
  message: string | null;
  waiting_for: {
    reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
    until: string | null;
    /** a sentence for people */
    message: string;
    last_failure: {
      failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
      failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
      message: string;
      http_status: number | null;
      url: string | null;
      attempt: number | null;
      max_attempts: number | null;
      next_try_at: string | null;
    } | null;
  } | null;
  /** what failed, by reason, the 20 most frequent */
  error_groups: {
    failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
    failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
    class: "timeout" | "connection" | "general";
    count: number;
    /** failed for good, or tried again by itself */
    status: "failed" | "retrying";
    /** whether another try may help */
    retryable: boolean;
    next_try_at: string | null;
    example: {
      url: string | null;
      message: string;
      /** alias of page_task_id */
      task_id: string;
      /** the task of the page, as in /jobs/runs/{crawl_id}/tasks/{page_task_id} */
      page_task_id: string;
    };
  }[];
  /** why pages that are tried again have failed, most frequent first; of very many, of the first 1,000 */
  retrying_groups: {
    failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
    failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
    class: "timeout" | "connection" | "general";
    count: number;
    /** failed for good, or tried again by itself */
    status: "failed" | "retrying";
    /** whether another try may help */
    retryable: boolean;
    next_try_at: string | null;
    example: {
      url: string | null;
      message: string;
      /** alias of page_task_id */
      task_id: string;
      /** the task of the page, as in /jobs/runs/{crawl_id}/tasks/{page_task_id} */
      page_task_id: string;
    };
  }[];
  /** sites at which it cannot go on now, and why: up to 5 of them */
  waiting_sites: {
    site: string;
    waiting_for: {
      reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
      until: string | null;
      /** a sentence for people */
      message: string;
      last_failure: {
        failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
        failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
        message: string;
        http_status: number | null;
        url: string | null;
        attempt: number | null;
        max_attempts: number | null;
        next_try_at: string | null;
      } | null;
    } | null;
    last_failure: {
      failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
      failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
      message: string;
      http_status: number | null;
      url: string | null;
      attempt: number | null;
      max_attempts: number | null;
      next_try_at: string | null;
    } | null;
  }[];
};

export type Login = {
  token_needed: boolean;
  logged_in: boolean;
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

export type Health = {
  status: "ok";
  version: string;
  database: "sqlite" | "postgres";
  /** bullmq: several processes work, on any machine */
  engine: "embedded" | "bullmq";
  uptime_seconds: number;
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
  /** time of the last heartbeat */
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
  last_used_at: string | null;
  /** saved jobs that sign in with it */
  jobs: {
    id: string;
    name: string | null;
    target_url: string | null;
  }[];
};

export type Storage = {
  used_bytes: number | null;
  measured_at: string | null;
  budget_bytes: number | null;
  /** what happens beyond the budget, APP_DISK_BUDGET_ACTION */
  action: "warn" | "remove";
  /** 80 % of the budget or more are used */
  is_near: boolean;
  warned_at: string | null;
};

export type Deletion = {
  id: string;
  status: "running" | "completed";
  filter: {
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
    status?: ("queued" | "running" | "paused" | "waiting_for_human" | "recovering" | "completed" | "partial" | "failed" | "cancelled")[];
    /** only runs of jobs with this tag */
    tag?: string;
    /** ended before */
    ended_before?: string;
  };
  /** runs that it is about; 100000: that many or more */
  matched: number;
  /** runs that are gone by now */
  deleted: number;
  /** runs that are gone and whose rows and files are still being removed, of all deletions; 10000: that many or more */
  removing: number;
  /** UTC, ISO 8601 */
  created_at: string;
  finished_at: string | null;
};

export type DemoSite = {
  available: boolean;
  why_not: string | null;
  url: string | null;
};

export type Overview = {
  /** that ended, over the last ten seconds */
  pages_per_second: {
    good: number;
    bad: number;
  };
  success_rate: number | null;
  /** pages that ended in the last five minutes, about: of a few, success_rate says little */
  recent_pages: {
    good: number;
    bad: number;
  };
  /** what workers have under way, as they said last */
  in_flight: number;
  queued: number;
  /** of the queued ones: failed, and tried again later */
  retrying: number;
  oldest_queued_at: string | null;
  /** runs that have not ended, by status, without those that steps of workflows have started */
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
    /** of a crawl: how many starts it has; of others 0 or 1 */
    url_count: number;
    site: string | null;
    status: "queued" | "running" | "paused" | "waiting_for_human" | "recovering" | "completed" | "partial" | "failed" | "cancelled";
    /** percent; 100 at the end, and what was reached when it was cancelled */
    progress: number;
    waiting_for: {
      reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
      until: string | null;
      /** a sentence for people */
      message: string;
      last_failure: {
        failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
        failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
        message: string;
        http_status: number | null;
        url: string | null;
        attempt: number | null;
        max_attempts: number | null;
        next_try_at: string | null;
      } | null;
    } | null;
    message: string | null;
    failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown" | null;
    failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal" | null;
    /** UTC, ISO 8601 */
    created_at: string;
    started_at: string | null;
    finished_at: string | null;
    /** of a workflow at work: the steps it is at, three at most */
    current_steps: {
      name: string;
      status: "pending" | "queued" | "running" | "retrying" | "completed" | "failed" | "skipped" | "cancelled";
      waiting_for: {
        for: "time" | "run" | "entries" | "retry" | "worker";
        until?: string | null;
        run_id?: string;
        run?: {
          kind: "queue" | "page" | "crawl" | "workflow" | "download" | "proxy_refresh";
          status: "queued" | "running" | "paused" | "waiting_for_human" | "recovering" | "completed" | "partial" | "failed" | "cancelled";
          done: number;
          failed: number;
          total: number;
        } | null;
        open?: number;
        /** a sentence for people: what it waits for, and why that takes */
        message: string;
        last_failure: {
          failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
          failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
          message: string;
          http_status: number | null;
          url: string | null;
          attempt: number | null;
          max_attempts: number | null;
          next_try_at: string | null;
        } | null;
      } | null;
    }[];
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
    eta_most_seconds: number | null;
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
    /** failing: many of the last requests failed; held: rate limited */
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
    failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
    failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
    /** that take over when the one that works is gone; they are not among `working` */
    standby: number;
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
    reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
    until: string | null;
    /** a sentence for people */
    message: string;
    last_failure: {
      failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
      failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
      message: string;
      http_status: number | null;
      url: string | null;
      attempt: number | null;
      max_attempts: number | null;
      next_try_at: string | null;
    } | null;
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

export type Template = {
  name: string;
  version: number;
  built_in: boolean;
  description: string | null;
  /** the JSON Schema of what a start is to say; null: nothing */
  params: Json;
  definition: Json;
  created_at: string | null;
};

export type Workflow = {
  id: string;
  job_id: string | null;
  name: string;
  status: "pending" | "running" | "paused" | "recovering" | "completed" | "failed" | "cancelled";
  /** the index of the first step that has not ended; of a failed one, of the step to recover from */
  current_step: number;
  /** steps that have completed, failed or were skipped or cancelled */
  ended_steps: number;
  total_steps: number;
  /** weighted by the steps' estimates; 100 when it has completed */
  progress: number;
  metadata: Record<string, Json>;
  error_message: string | null;
  recovery_attempts: number;
  max_recovery_attempts: number;
  template: {
    name: string;
    version: number;
  } | null;
  rerun_of: string | null;
  message: string | null;
  waiting_for: {
    reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
    until: string | null;
    /** a sentence for people */
    message: string;
    last_failure: {
      failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
      failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
      message: string;
      http_status: number | null;
      url: string | null;
      attempt: number | null;
      max_attempts: number | null;
      next_try_at: string | null;
    } | null;
  } | null;
  /** UTC, ISO 8601 */
  created_at: string;
  started_at: string | null;
  completed_at: string | null;
  last_checkpoint: string | null;
  /** UTC, ISO 8601 */
  updated_at: string;
  /** as it was checked, with every default */
  definition: Record<string, Json>;
  params: Record<string, Json>;
  expires_at: string | null;
};

export type QueueItem = {
  id: string;
  artifact_id: string;
  status: "queued" | "in_progress" | "done" | "skipped" | "error";
  url: string | null;
  site: string;
  concurrency_key: string | null;
  /** @deprecated alias of concurrency_key */
  resolver: string | null;
  priority: number;
  handler: string | null;
  attempts: number;
  failure_code: string | null;
  failure_reason: string | null;
  message: string | null;
  next_try_at: string | null;
  owner: {
    worker_id: string | null;
    machine: string | null;
    pid: number | null;
    /** renewed while the worker lives */
    lease_expires_at: string;
  } | null;
  waiting_for: {
    reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
    until: string | null;
    /** a sentence for people */
    message: string;
    last_failure: {
      failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
      failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
      message: string;
      http_status: number | null;
      url: string | null;
      attempt: number | null;
      max_attempts: number | null;
      next_try_at: string | null;
    } | null;
  } | null;
  /** UTC, ISO 8601 */
  created_at: string;
  finished_at: string | null;
  payload: Json;
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
  results: Json[];
};

export type RunRecipe = {
  /** as POST /jobs takes it, without its secrets */
  recipe: {
    name?: string | null;
    strategy?: "auto" | "http" | "browser" | "api_replay";
    requires_auth?: boolean;
    /** names of well-known fields (title, price, markdown …), or rules by field name; docs/extraction.md has both. Without: title, description, author, published_at and markdown */
    fields?: string[] | Record<string, Json> | null;
    items?: string | Record<string, Json> | null;
    schema?: boolean | Record<string, Json> | null;
    extract?: Record<string, Json> | null;
    max_attempts?: number | null;
    timezone?: string | null;
    tags?: string[];
    keep_runs?: number | null;
    keep_days?: number | null;
    /** after a block or an empty shell, the next attempt uses a browser */
    escalate?: boolean;
    respect_robots?: boolean;
    timeout_seconds?: number | null;
    session_id?: string | null;
    proxy?: string | null;
    /** what api_replay sends: {request, items, pagination}; docs/jobs.md describes it */
    replay?: Json;
    kind?: "page" | "crawl" | "workflow";
    target_url?: string;
    headers?: Record<string, string> | null;
    cookies?: Record<string, string> | {
      name: string;
      value: string;
      domain?: string;
      path?: string;
      expires?: number;
      httpOnly?: boolean;
      secure?: boolean;
      sameSite?: "Strict" | "Lax" | "None";
    }[] | null;
    schedule?: string | {
      cron: string;
      timezone?: string | null;
      overlap?: "skip" | "queue" | "cancel";
      missed?: "skip" | "run_once";
      jitter_seconds?: number;
    } | null;
    document?: {
      /** what the document holds; default: markdown. A screenshot is taken in a browser */
      formats?: ("markdown" | "html" | "raw_html" | "links" | "images" | "screenshot" | "screenshot_full")[];
      /** html and markdown without navigation and advertisements; default: true */
      only_main_content?: boolean;
      /** nothing but what these match */
      include_tags?: string[];
      /** nothing of what these match */
      exclude_tags?: string[];
    } | null;
    browser?: {
      wait_for?: string | null;
      /** leave out pictures, fonts and media */
      block_resources?: boolean;
      wait_ms?: number | null;
      /** as a phone: its window, its touch screen and its user agent */
      mobile?: boolean;
      /** what is done on the page before it is read, one after the other; docs/documents.md describes them */
      actions?: {
        type: "wait" | "click" | "write" | "press" | "scroll" | "scroll_to_end" | "screenshot" | "scrape";
        /** of wait: so long, … */
        milliseconds?: number;
        /** of click: what is clicked; of wait: until this is there; of scroll and scroll_to_end: what is scrolled, unless the page */
        selector?: string;
        /** of click: all that match, and not only the first */
        all?: boolean;
        /** of write: into the element that has the focus */
        text?: string;
        /** of write: the text is stored encrypted and shown as ***, as a password should be */
        secret?: boolean;
        /** of press, such as Enter or Control+A */
        key?: string;
        /** of scroll */
        direction?: "up" | "down";
        /** of scroll: pixels; default: the height of the window */
        amount?: number;
        /** of scroll_to_end: maximum number of steps; default: 100 */
        max_steps?: number;
        /** of scroll_to_end: maximum seconds, within the time limit of the page; default: 60 */
        max_seconds?: number;
        /** of screenshot: the whole page */
        full_page?: boolean;
      }[];
    } | null;
    crawl?: {
      /** pages, feeds (RSS, Atom, JSON), sitemaps or lists of addresses */
      url?: string | string[];
      /** the same as a list: this or url */
      urls?: string[];
      /** link hops; 0 is that page alone, 1000 the most */
      max_depth?: number;
      max_pages?: number;
      timeout_minutes?: number;
      max_concurrent_articles?: number;
      /** tries after the first */
      retry_attempts?: number;
      /** tries in all, as in jobs: one more than retry_attempts, and given instead of it */
      max_attempts?: number;
      /** false: a run with failed or missing pages counts as failed */
      partial_results_ok?: boolean;
      /** pages to follow and to read, such as /blog/**; the starts are always followed */
      include?: string[];
      /** pages to leave, whatever the other patterns say */
      exclude?: string[];
      /** more pages whose links are followed, such as /page/**; they give no records unless include or read match them */
      follow?: string[];
      /** pages that give records; without include and follow, every page of the site is followed */
      read?: string[];
      same_site?: boolean;
      /** with same_site: all of the site, the start's host, or addresses of it that begin as the start does */
      stay_within?: "site" | "host" | "path";
      /** false: only the starts, and the pages that sitemaps name */
      follow_links?: boolean;
      /** a pause between two pages of this crawl, which then come one at a time */
      delay_seconds?: number;
      /** also begin with the pages that the site's sitemaps name */
      use_sitemap?: boolean;
      /** of a saved crawl: pages that are as the run before found them give no records */
      only_changed?: boolean;
      article?: boolean | null;
      respect_robots?: boolean;
      export_format?: "json" | "jsonl" | "csv" | "csv-excel" | "markdown" | "markdown-zip" | "parquet" | "warc";
      strategy?: "auto" | "http" | "browser";
      /** names of well-known fields (title, price, markdown …), or rules by field name; docs/extraction.md has both. Without: title, description, author, published_at and markdown */
      fields?: string[] | Record<string, Json> | null;
      items?: string | Record<string, Json> | null;
      schema?: boolean | Record<string, Json> | null;
      extract?: Record<string, Json> | null;
      proxy?: string | null;
      session_id?: string | null;
      document?: {
        /** what the document holds; default: markdown. A screenshot is taken in a browser */
        formats?: ("markdown" | "html" | "raw_html" | "links" | "images" | "screenshot" | "screenshot_full")[];
        /** html and markdown without navigation and advertisements; default: true */
        only_main_content?: boolean;
        /** nothing but what these match */
        include_tags?: string[];
        /** nothing of what these match */
        exclude_tags?: string[];
      } | null;
      browser?: {
        wait_for?: string | null;
        /** leave out pictures, fonts and media */
        block_resources?: boolean;
        wait_ms?: number | null;
        /** as a phone: its window, its touch screen and its user agent */
        mobile?: boolean;
        /** what is done on the page before it is read, one after the other; docs/documents.md describes them */
        actions?: {
          type: "wait" | "click" | "write" | "press" | "scroll" | "scroll_to_end" | "screenshot" | "scrape";
          /** of wait: so long, … */
          milliseconds?: number;
          /** of click: what is clicked; of wait: until this is there; of scroll and scroll_to_end: what is scrolled, unless the page */
          selector?: string;
          /** of click: all that match, and not only the first */
          all?: boolean;
          /** of write: into the element that has the focus */
          text?: string;
          /** of write: the text is stored encrypted and shown as ***, as a password should be */
          secret?: boolean;
          /** of press, such as Enter or Control+A */
          key?: string;
          /** of scroll */
          direction?: "up" | "down";
          /** of scroll: pixels; default: the height of the window */
          amount?: number;
          /** of scroll_to_end: maximum number of steps; default: 100 */
          max_steps?: number;
          /** of scroll_to_end: maximum seconds, within the time limit of the page; default: 60 */
          max_seconds?: number;
          /** of screenshot: the whole page */
          full_page?: boolean;
        }[];
      } | null;
      headers?: Record<string, string> | null;
    };
    workflow?: {
      definition?: Record<string, Json> | null;
      template?: string | null;
      template_version?: number | null;
      params?: Record<string, Json> | null;
    } | null;
  };
  /** headers that it sent; their values are not shown */
  header_names: string[];
  /** cookies that it sent; their values are not shown */
  cookie_names: string[];
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

export type WorkflowTask = {
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
    for: "time" | "run" | "entries" | "retry" | "worker";
    until?: string | null;
    run_id?: string;
    run?: {
      kind: "queue" | "page" | "crawl" | "workflow" | "download" | "proxy_refresh";
      status: "queued" | "running" | "paused" | "waiting_for_human" | "recovering" | "completed" | "partial" | "failed" | "cancelled";
      done: number;
      failed: number;
      total: number;
    } | null;
    open?: number;
    /** a sentence for people: what it waits for, and why that takes */
    message: string;
    last_failure: {
      failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
      failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
      message: string;
      http_status: number | null;
      url: string | null;
      attempt: number | null;
      max_attempts: number | null;
      next_try_at: string | null;
    } | null;
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
  failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown" | null;
  failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal" | null;
  started_at: string | null;
  completed_at: string | null;
  next_try_at: string | null;
  estimated_duration: number | null;
  actual_duration: number | null;
  workflow_id: string;
  engine_task_id: string | null;
  dependency_names: string[];
  result: Record<string, Json> | null;
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
    failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown" | null;
    failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal" | null;
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
      reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
      until: string | null;
      /** a sentence for people */
      message: string;
      last_failure: {
        failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
        failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
        message: string;
        http_status: number | null;
        url: string | null;
        attempt: number | null;
        max_attempts: number | null;
        next_try_at: string | null;
      } | null;
    } | null;
    last_failure: {
      failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
      failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
      message: string;
      http_status: number | null;
      url: string | null;
      attempt: number | null;
      max_attempts: number | null;
      next_try_at: string | null;
    } | null;
  }[];
};

export type ConcurrencyKey = {
  concurrency_key: string;
  /** @deprecated alias of concurrency_key */
  resolver: string;
  limit: number | null;
  configured: number | null;
};

export type WorkflowProgress = {
  workflow_id: string;
  job_id: string | null;
  name: string;
  status: "pending" | "running" | "paused" | "recovering" | "completed" | "failed" | "cancelled";
  /** weighted by the steps' estimates; 100 when it has completed */
  progress: number;
  /** the index of the first step that has not ended; of a failed one, of the step to recover from */
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
  waiting_for: {
    reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
    until: string | null;
    /** a sentence for people */
    message: string;
    last_failure: {
      failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
      failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
      message: string;
      http_status: number | null;
      url: string | null;
      attempt: number | null;
      max_attempts: number | null;
      next_try_at: string | null;
    } | null;
  } | null;
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
      for: "time" | "run" | "entries" | "retry" | "worker";
      until?: string | null;
      run_id?: string;
      run?: {
        kind: "queue" | "page" | "crawl" | "workflow" | "download" | "proxy_refresh";
        status: "queued" | "running" | "paused" | "waiting_for_human" | "recovering" | "completed" | "partial" | "failed" | "cancelled";
        done: number;
        failed: number;
        total: number;
      } | null;
      open?: number;
      /** a sentence for people: what it waits for, and why that takes */
      message: string;
      last_failure: {
        failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
        failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
        message: string;
        http_status: number | null;
        url: string | null;
        attempt: number | null;
        max_attempts: number | null;
        next_try_at: string | null;
      } | null;
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
    failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown" | null;
    failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal" | null;
    started_at: string | null;
    completed_at: string | null;
    next_try_at: string | null;
    estimated_duration: number | null;
    actual_duration: number | null;
  }[];
};

/** @deprecated Alias of ConcurrencyKey. */
export type Resolver = ConcurrencyKey;

/** Every operation by its method and address: what it takes and what it answers. */
export interface Operations {
  /** Add one item, or several; those whose artifact_id is there already stay as they are */
  "post /queue/items": {
    params: undefined;
    query: undefined;
    body: {
      /** your own name for the thing; the queue holds each once */
      artifact_id: string;
      /** absolute, http or https */
      url: string;
      concurrency_key?: string | null;
      /** @deprecated alias of concurrency_key */
      resolver?: string | null;
      priority?: number | null;
      /** JSON for your own handler, up to 64 KiB */
      payload?: unknown;
      handler?: string | null;
    } | {
      items: {
        /** your own name for the thing; the queue holds each once */
        artifact_id: string;
        /** absolute, http or https */
        url: string;
        concurrency_key?: string | null;
        /** @deprecated alias of concurrency_key */
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
  /** Cancel a crawl; what it has stays readable */
  "delete /scraping/tasks/{task_id}": {
    params: {
      task_id: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      /** the id of the crawl, which is a run */
      crawl_id: string;
      /** alias of crawl_id */
      task_id: string;
      name: string | null;
      url: string | null;
      /** where a crawl begins, the first 100 of url_count; the recipe of the run has all of them */
      urls: string[];
      /** how many starts it has */
      url_count: number;
      status: "pending" | "running" | "paused" | "waiting_for_human" | "recovering" | "completed" | "partial" | "failed" | "cancelled";
      /** percent of the pages known by now, never falling; 100 only at the end; of a cancelled crawl, what was reached */
      progress: number;
      /** pages that are known by now, all of those below */
      total_items: number;
      /** how many it may fetch */
      max_pages: number;
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
      /** sent to a sign-in by the site: got as that, or left; their records have a warning */
      sign_in_items: number;
      /** of the completed ones: fetched for their links alone (follow, read); they give no records */
      followed_items: number;
      /** addresses that a crawl found and did not fetch, by reason, each counted once by each worker; depth and page_limit are lower bounds */
      skipped: {
        /** match none of include, follow and read */
        not_included?: number;
        /** match exclude */
        excluded?: number;
        /** disallowed by robots.txt */
        robots?: number;
        /** deeper than max_depth */
        depth?: number;
        /** beyond max_pages */
        page_limit?: number;
        /** on another site, with same_site */
        other_site?: number;
        /** outside of stay_within */
        elsewhere?: number;
        /** files, by their ending */
        file?: number;
        /** look like an endless calendar, filter or loop */
        trap?: number;
        /** addresses that are too long */
        too_long?: number;
      };
      /** what is probably not meant so */
      warnings: {
        code: "pagination_cut" | "sign_in";
        /** what happened, an example, and what to do */
        message: string;
        /** pagination_cut: whose patterns left the link */
        option?: "include" | "follow" | "exclude";
        patterns?: string[];
        /** the link that was left */
        url?: string;
        found_on?: string;
        follow?: string | null;
      }[];
      changes: {
        compared_with: string | null;
        new: number;
        changed: number;
        unchanged: number;
        /** answered so, or not found any more by a crawl that ran to its end */
        gone: number;
        unknown: number | null;
      } | null;
      /** the completed ones of those that completed or failed */
      success_rate: number;
      /** running time in all, also before it was opened again: waiting and pauses do not count */
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
      export_format: "json" | "jsonl" | "csv" | "csv-excel" | "markdown" | "markdown-zip" | "parquet" | "warc";
      /** UTC, ISO 8601 */
      created_at: string;
      started_at: string | null;
      finished_at: string | null;
      expires_at: string | null;
      /** somebody asked to keep it: no policy removes it */
      kept: boolean;
      keep_runs: number | null;
      message: string | null;
      waiting_for: {
        reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
        until: string | null;
        /** a sentence for people */
        message: string;
        last_failure: {
          failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
          failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
          message: string;
          http_status: number | null;
          url: string | null;
          attempt: number | null;
          max_attempts: number | null;
          next_try_at: string | null;
        } | null;
      } | null;
    };
  };
  /** Cancel a run: no request starts later than a second after the answer */
  "post /jobs/runs/{run_id}/cancel": {
    params: {
      run_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Run;
  };
  /** Stop a workflow and the runs that its steps wait for, for good */
  "post /workflows/{workflow_id}/cancel": {
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
      /** the index of the first step that has not ended; of a failed one, of the step to recover from */
      current_step: number;
      /** steps that have completed, failed or were skipped or cancelled */
      ended_steps: number;
      total_steps: number;
      /** weighted by the steps' estimates; 100 when it has completed */
      progress: number;
      metadata: Record<string, Json>;
      error_message: string | null;
      recovery_attempts: number;
      max_recovery_attempts: number;
      template: {
        name: string;
        version: number;
      } | null;
      rerun_of: string | null;
      message: string | null;
      waiting_for: {
        reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
        until: string | null;
        /** a sentence for people */
        message: string;
        last_failure: {
          failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
          failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
          message: string;
          http_status: number | null;
          url: string | null;
          attempt: number | null;
          max_attempts: number | null;
          next_try_at: string | null;
        } | null;
      } | null;
      /** UTC, ISO 8601 */
      created_at: string;
      started_at: string | null;
      completed_at: string | null;
      last_checkpoint: string | null;
      /** UTC, ISO 8601 */
      updated_at: string;
    };
  };
  /** Change a job; runs that have begun keep what they began with */
  "patch /jobs/{job_id}": {
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
      extract?: Record<string, unknown> | null;
      max_attempts?: number | null;
      timezone?: string | null;
      tags?: string[];
      keep_runs?: number | null;
      keep_days?: number | null;
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
      cookies?: Record<string, string> | {
        name: string;
        value: string;
        domain?: string;
        path?: string;
        expires?: number;
        httpOnly?: boolean;
        secure?: boolean;
        sameSite?: "Strict" | "Lax" | "None";
      }[] | null;
      schedule?: string | {
        cron: string;
        timezone?: string | null;
        overlap?: "skip" | "queue" | "cancel";
        missed?: "skip" | "run_once";
        jitter_seconds?: number;
      } | null;
      document?: {
        /** what the document holds; default: markdown. A screenshot is taken in a browser */
        formats?: ("markdown" | "html" | "raw_html" | "links" | "images" | "screenshot" | "screenshot_full")[];
        /** html and markdown without navigation and advertisements; default: true */
        only_main_content?: boolean;
        /** nothing but what these match */
        include_tags?: string[];
        /** nothing of what these match */
        exclude_tags?: string[];
      } | null;
      browser?: {
        wait_for?: string | null;
        /** leave out pictures, fonts and media */
        block_resources?: boolean;
        wait_ms?: number | null;
        /** as a phone: its window, its touch screen and its user agent */
        mobile?: boolean;
        /** what is done on the page before it is read, one after the other; docs/documents.md describes them */
        actions?: {
          type: "wait" | "click" | "write" | "press" | "scroll" | "scroll_to_end" | "screenshot" | "scrape";
          /** of wait: so long, … */
          milliseconds?: number;
          /** of click: what is clicked; of wait: until this is there; of scroll and scroll_to_end: what is scrolled, unless the page */
          selector?: string;
          /** of click: all that match, and not only the first */
          all?: boolean;
          /** of write: into the element that has the focus */
          text?: string;
          /** of write: the text is stored encrypted and shown as ***, as a password should be */
          secret?: boolean;
          /** of press, such as Enter or Control+A */
          key?: string;
          /** of scroll */
          direction?: "up" | "down";
          /** of scroll: pixels; default: the height of the window */
          amount?: number;
          /** of scroll_to_end: maximum number of steps; default: 100 */
          max_steps?: number;
          /** of scroll_to_end: maximum seconds, within the time limit of the page; default: 60 */
          max_seconds?: number;
          /** of screenshot: the whole page */
          full_page?: boolean;
        }[];
      } | null;
      crawl?: {
        /** pages, feeds (RSS, Atom, JSON), sitemaps or lists of addresses */
        url?: string | string[];
        /** the same as a list: this or url */
        urls?: string[];
        /** link hops; 0 is that page alone, 1000 the most */
        max_depth?: number;
        max_pages?: number;
        timeout_minutes?: number;
        max_concurrent_articles?: number;
        /** tries after the first */
        retry_attempts?: number;
        /** tries in all, as in jobs: one more than retry_attempts, and given instead of it */
        max_attempts?: number;
        /** false: a run with failed or missing pages counts as failed */
        partial_results_ok?: boolean;
        /** pages to follow and to read, such as /blog/**; the starts are always followed */
        include?: string[];
        /** pages to leave, whatever the other patterns say */
        exclude?: string[];
        /** more pages whose links are followed, such as /page/**; they give no records unless include or read match them */
        follow?: string[];
        /** pages that give records; without include and follow, every page of the site is followed */
        read?: string[];
        same_site?: boolean;
        /** with same_site: all of the site, the start's host, or addresses of it that begin as the start does */
        stay_within?: "site" | "host" | "path";
        /** false: only the starts, and the pages that sitemaps name */
        follow_links?: boolean;
        /** a pause between two pages of this crawl, which then come one at a time */
        delay_seconds?: number;
        /** also begin with the pages that the site's sitemaps name */
        use_sitemap?: boolean;
        /** of a saved crawl: pages that are as the run before found them give no records */
        only_changed?: boolean;
        article?: boolean | null;
        respect_robots?: boolean;
        export_format?: "json" | "jsonl" | "csv" | "csv-excel" | "markdown" | "markdown-zip" | "parquet" | "warc";
        strategy?: "auto" | "http" | "browser";
        /** names of well-known fields (title, price, markdown …), or rules by field name; docs/extraction.md has both. Without: title, description, author, published_at and markdown */
        fields?: string[] | Record<string, unknown> | null;
        items?: string | Record<string, unknown> | null;
        schema?: boolean | Record<string, unknown> | null;
        extract?: Record<string, unknown> | null;
        proxy?: string | null;
        session_id?: string | null;
        document?: {
          /** what the document holds; default: markdown. A screenshot is taken in a browser */
          formats?: ("markdown" | "html" | "raw_html" | "links" | "images" | "screenshot" | "screenshot_full")[];
          /** html and markdown without navigation and advertisements; default: true */
          only_main_content?: boolean;
          /** nothing but what these match */
          include_tags?: string[];
          /** nothing of what these match */
          exclude_tags?: string[];
        } | null;
        browser?: {
          wait_for?: string | null;
          /** leave out pictures, fonts and media */
          block_resources?: boolean;
          wait_ms?: number | null;
          /** as a phone: its window, its touch screen and its user agent */
          mobile?: boolean;
          /** what is done on the page before it is read, one after the other; docs/documents.md describes them */
          actions?: {
            type: "wait" | "click" | "write" | "press" | "scroll" | "scroll_to_end" | "screenshot" | "scrape";
            /** of wait: so long, … */
            milliseconds?: number;
            /** of click: what is clicked; of wait: until this is there; of scroll and scroll_to_end: what is scrolled, unless the page */
            selector?: string;
            /** of click: all that match, and not only the first */
            all?: boolean;
            /** of write: into the element that has the focus */
            text?: string;
            /** of write: the text is stored encrypted and shown as ***, as a password should be */
            secret?: boolean;
            /** of press, such as Enter or Control+A */
            key?: string;
            /** of scroll */
            direction?: "up" | "down";
            /** of scroll: pixels; default: the height of the window */
            amount?: number;
            /** of scroll_to_end: maximum number of steps; default: 100 */
            max_steps?: number;
            /** of scroll_to_end: maximum seconds, within the time limit of the page; default: 60 */
            max_seconds?: number;
            /** of screenshot: the whole page */
            full_page?: boolean;
          }[];
        } | null;
        headers?: Record<string, string> | null;
      };
      workflow?: {
        definition?: Record<string, unknown> | null;
        template?: string | null;
        template_version?: number | null;
        params?: Record<string, unknown> | null;
      } | null;
      /** as it was read; a change that names it is refused with 409 if somebody else has changed it since */
      version?: string;
    };
    answer: Job;
  };
  /** Cancel, pause, resume or try again many runs by a filter; dry_run counts them first */
  "post /runs/bulk": {
    params: undefined;
    query: undefined;
    body: {
      /** retry-failed recovers workflows */
      action: "cancel" | "pause" | "resume" | "retry-failed";
      /** as of GET /runs; {}: all runs to which it can be done */
      filter: {
        status?: ("queued" | "running" | "paused" | "waiting_for_human" | "recovering" | "completed" | "partial" | "failed" | "cancelled")[];
        kind?: "queue" | "page" | "crawl" | "workflow" | "download" | "proxy_refresh";
        site?: string;
        /** only runs of this job */
        job_id?: string;
        /** part of the name or address of one of the newest 10,000 runs, or the id of any run, or its first 8 characters or more */
        q?: string;
        /** none: only runs that no step of a workflow has started; the id of a run: only those that its steps have started; any: all, as without it */
        parent?: string;
        /** created then or later */
        since?: string;
        /** created before */
        until?: string;
        /** only these */
        run_ids?: string[];
      };
      /** next of an answer: only that run and older ones. After dry_run it leaves out what has begun since then; after a call that left some it goes on with those */
      from?: string;
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
      /** from of the next call; of dry_run: from of the first; null: nothing is left */
      next: string | null;
    };
  };
  /** Change the settings of a site, known or not; only the keys that are sent change. Running work follows within a second */
  "patch /sites/{site}": {
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
      /** as it was read; a change that names it is refused with 409 if somebody else has changed it since */
      version?: string;
    };
    answer: Site;
  };
  /** Change the metadata of a workflow: sets the keys that are sent; null removes a key */
  "patch /workflows/{workflow_id}": {
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
      /** the index of the first step that has not ended; of a failed one, of the step to recover from */
      current_step: number;
      /** steps that have completed, failed or were skipped or cancelled */
      ended_steps: number;
      total_steps: number;
      /** weighted by the steps' estimates; 100 when it has completed */
      progress: number;
      metadata: Record<string, Json>;
      error_message: string | null;
      recovery_attempts: number;
      max_recovery_attempts: number;
      template: {
        name: string;
        version: number;
      } | null;
      rerun_of: string | null;
      message: string | null;
      waiting_for: {
        reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
        until: string | null;
        /** a sentence for people */
        message: string;
        last_failure: {
          failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
          failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
          message: string;
          http_status: number | null;
          url: string | null;
          attempt: number | null;
          max_attempts: number | null;
          next_try_at: string | null;
        } | null;
      } | null;
      /** UTC, ISO 8601 */
      created_at: string;
      started_at: string | null;
      completed_at: string | null;
      last_checkpoint: string | null;
      /** UTC, ISO 8601 */
      updated_at: string;
    };
  };
  /** Ask the site whether it still lets the session in */
  "post /sessions/{session_id}/check": {
    params: {
      session_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Session;
  };
  /** Save a job */
  "post /jobs": {
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
      extract?: Record<string, unknown> | null;
      max_attempts?: number | null;
      timezone?: string | null;
      tags?: string[];
      keep_runs?: number | null;
      keep_days?: number | null;
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
      cookies?: Record<string, string> | {
        name: string;
        value: string;
        domain?: string;
        path?: string;
        expires?: number;
        httpOnly?: boolean;
        secure?: boolean;
        sameSite?: "Strict" | "Lax" | "None";
      }[] | null;
      schedule?: string | {
        cron: string;
        timezone?: string | null;
        overlap?: "skip" | "queue" | "cancel";
        missed?: "skip" | "run_once";
        jitter_seconds?: number;
      } | null;
      document?: {
        /** what the document holds; default: markdown. A screenshot is taken in a browser */
        formats?: ("markdown" | "html" | "raw_html" | "links" | "images" | "screenshot" | "screenshot_full")[];
        /** html and markdown without navigation and advertisements; default: true */
        only_main_content?: boolean;
        /** nothing but what these match */
        include_tags?: string[];
        /** nothing of what these match */
        exclude_tags?: string[];
      } | null;
      browser?: {
        wait_for?: string | null;
        /** leave out pictures, fonts and media */
        block_resources?: boolean;
        wait_ms?: number | null;
        /** as a phone: its window, its touch screen and its user agent */
        mobile?: boolean;
        /** what is done on the page before it is read, one after the other; docs/documents.md describes them */
        actions?: {
          type: "wait" | "click" | "write" | "press" | "scroll" | "scroll_to_end" | "screenshot" | "scrape";
          /** of wait: so long, … */
          milliseconds?: number;
          /** of click: what is clicked; of wait: until this is there; of scroll and scroll_to_end: what is scrolled, unless the page */
          selector?: string;
          /** of click: all that match, and not only the first */
          all?: boolean;
          /** of write: into the element that has the focus */
          text?: string;
          /** of write: the text is stored encrypted and shown as ***, as a password should be */
          secret?: boolean;
          /** of press, such as Enter or Control+A */
          key?: string;
          /** of scroll */
          direction?: "up" | "down";
          /** of scroll: pixels; default: the height of the window */
          amount?: number;
          /** of scroll_to_end: maximum number of steps; default: 100 */
          max_steps?: number;
          /** of scroll_to_end: maximum seconds, within the time limit of the page; default: 60 */
          max_seconds?: number;
          /** of screenshot: the whole page */
          full_page?: boolean;
        }[];
      } | null;
      crawl?: {
        /** pages, feeds (RSS, Atom, JSON), sitemaps or lists of addresses */
        url?: string | string[];
        /** the same as a list: this or url */
        urls?: string[];
        /** link hops; 0 is that page alone, 1000 the most */
        max_depth?: number;
        max_pages?: number;
        timeout_minutes?: number;
        max_concurrent_articles?: number;
        /** tries after the first */
        retry_attempts?: number;
        /** tries in all, as in jobs: one more than retry_attempts, and given instead of it */
        max_attempts?: number;
        /** false: a run with failed or missing pages counts as failed */
        partial_results_ok?: boolean;
        /** pages to follow and to read, such as /blog/**; the starts are always followed */
        include?: string[];
        /** pages to leave, whatever the other patterns say */
        exclude?: string[];
        /** more pages whose links are followed, such as /page/**; they give no records unless include or read match them */
        follow?: string[];
        /** pages that give records; without include and follow, every page of the site is followed */
        read?: string[];
        same_site?: boolean;
        /** with same_site: all of the site, the start's host, or addresses of it that begin as the start does */
        stay_within?: "site" | "host" | "path";
        /** false: only the starts, and the pages that sitemaps name */
        follow_links?: boolean;
        /** a pause between two pages of this crawl, which then come one at a time */
        delay_seconds?: number;
        /** also begin with the pages that the site's sitemaps name */
        use_sitemap?: boolean;
        /** of a saved crawl: pages that are as the run before found them give no records */
        only_changed?: boolean;
        article?: boolean | null;
        respect_robots?: boolean;
        export_format?: "json" | "jsonl" | "csv" | "csv-excel" | "markdown" | "markdown-zip" | "parquet" | "warc";
        strategy?: "auto" | "http" | "browser";
        /** names of well-known fields (title, price, markdown …), or rules by field name; docs/extraction.md has both. Without: title, description, author, published_at and markdown */
        fields?: string[] | Record<string, unknown> | null;
        items?: string | Record<string, unknown> | null;
        schema?: boolean | Record<string, unknown> | null;
        extract?: Record<string, unknown> | null;
        proxy?: string | null;
        session_id?: string | null;
        document?: {
          /** what the document holds; default: markdown. A screenshot is taken in a browser */
          formats?: ("markdown" | "html" | "raw_html" | "links" | "images" | "screenshot" | "screenshot_full")[];
          /** html and markdown without navigation and advertisements; default: true */
          only_main_content?: boolean;
          /** nothing but what these match */
          include_tags?: string[];
          /** nothing of what these match */
          exclude_tags?: string[];
        } | null;
        browser?: {
          wait_for?: string | null;
          /** leave out pictures, fonts and media */
          block_resources?: boolean;
          wait_ms?: number | null;
          /** as a phone: its window, its touch screen and its user agent */
          mobile?: boolean;
          /** what is done on the page before it is read, one after the other; docs/documents.md describes them */
          actions?: {
            type: "wait" | "click" | "write" | "press" | "scroll" | "scroll_to_end" | "screenshot" | "scrape";
            /** of wait: so long, … */
            milliseconds?: number;
            /** of click: what is clicked; of wait: until this is there; of scroll and scroll_to_end: what is scrolled, unless the page */
            selector?: string;
            /** of click: all that match, and not only the first */
            all?: boolean;
            /** of write: into the element that has the focus */
            text?: string;
            /** of write: the text is stored encrypted and shown as ***, as a password should be */
            secret?: boolean;
            /** of press, such as Enter or Control+A */
            key?: string;
            /** of scroll */
            direction?: "up" | "down";
            /** of scroll: pixels; default: the height of the window */
            amount?: number;
            /** of scroll_to_end: maximum number of steps; default: 100 */
            max_steps?: number;
            /** of scroll_to_end: maximum seconds, within the time limit of the page; default: 60 */
            max_seconds?: number;
            /** of screenshot: the whole page */
            full_page?: boolean;
          }[];
        } | null;
        headers?: Record<string, string> | null;
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
  /** Store a session, encrypted and bound to its origin */
  "post /sessions": {
    params: undefined;
    query: undefined;
    body: {
      /** such as https://example.com */
      origin: string;
      name?: string | null;
      cookies?: Record<string, string> | {
        name: string;
        value: string;
        domain?: string;
        path?: string;
        expires?: number;
        httpOnly?: boolean;
        secure?: boolean;
        sameSite?: "Strict" | "Lax" | "None";
      }[] | string | null;
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
  /** Create a workflow from a definition or a template, and start it */
  "post /workflows": {
    params: undefined;
    query: undefined;
    body: {
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
    } | {
      /** of a definition that is the whole body */
      steps: unknown;
    } | string;
    answer: Workflow;
  };
  /** Delete a job; its runs stay, unless they are to be deleted, too */
  "delete /jobs/{job_id}": {
    params: {
      job_id: string;
    };
    query: {
      force?: boolean;
      runs?: "keep" | "delete";
    };
    body: undefined;
    answer: Deletion;
  };
  /** Forget a proxy */
  "delete /proxies/{proxy_id}": {
    params: {
      proxy_id: string;
    };
    query: undefined;
    body: undefined;
    answer: null;
  };
  /** Delete a run with its results and files */
  "delete /jobs/runs/{run_id}": {
    params: {
      run_id: string;
    };
    query: {
      force?: boolean;
    };
    body: undefined;
    answer: null;
  };
  /** Delete many runs by a filter, in the background; dry_run counts them first */
  "post /runs/deletions": {
    params: undefined;
    query: undefined;
    body: {
      /** of runs that have ended, and that nobody asked to keep; {}: all of them */
      filter: {
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
        /** only those that ended so; a run that has not ended is cancelled first */
        status?: ("completed" | "partial" | "failed" | "cancelled")[];
        /** only runs of jobs with this tag */
        tag?: string;
        /** ended before */
        ended_before?: string;
      };
      /** only count them */
      dry_run?: boolean;
    };
    answer: {
      matched: number;
    };
  };
  /** Forget a session */
  "delete /sessions/{session_id}": {
    params: {
      session_id: string;
    };
    query: undefined;
    body: undefined;
    answer: null;
  };
  /** Delete all versions of a template that were saved; one that is built in is itself again */
  "delete /workflows/templates/{name}": {
    params: {
      name: string;
    };
    query: undefined;
    body: undefined;
    answer: null;
  };
  /** Delete a workflow with its steps, the runs that they have started, and all files of these */
  "delete /workflows/{workflow_id}": {
    params: {
      workflow_id: string;
    };
    query: {
      force?: boolean;
    };
    body: undefined;
    answer: null;
  };
  /** Do not use a proxy until it is enabled again */
  "post /proxies/{proxy_id}/disable": {
    params: {
      proxy_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Proxy;
  };
  /** Let a worker finish what it has and take no more */
  "post /workers/{id}/drain": {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: Worker;
  };
  /** Use a disabled proxy again */
  "post /proxies/{proxy_id}/enable": {
    params: {
      proxy_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Proxy;
  };
  /** Forget what a site was found to need; its next page is probed again */
  "delete /sites/{site}/learned-strategy": {
    params: {
      site: string;
    };
    query: undefined;
    body: undefined;
    answer: Site;
  };
  /** A stored file, as an attachment */
  "get /artifacts/{artifact_id}": {
    params: {
      artifact_id: string;
    };
    query: undefined;
    body: undefined;
    answer: string;
  };
  /** How many items of a concurrency key may be in flight at once */
  "get /queue/concurrency-keys/{name}": {
    params: {
      name: string;
    };
    query: undefined;
    body: undefined;
    answer: ConcurrencyKey;
  };
  /** The configuration that this process runs with, with secrets masked */
  "get /config": {
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
  /** How a crawl is getting on */
  "get /scraping/tasks/{task_id}/status": {
    params: {
      task_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Crawl;
  };
  /** How all crawls together are getting on */
  "get /scraping/status": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: CrawlHealth;
  };
  /** How far a deletion has come */
  "get /runs/deletions/{deletion_id}": {
    params: {
      deletion_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Deletion;
  };
  /** Whether the demo site can be had here, and whether it runs */
  "get /demo-site": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: DemoSite;
  };
  /** Whether the process is up */
  "get /health": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: Health;
  };
  /** One job */
  "get /jobs/{job_id}": {
    params: {
      job_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Job;
  };
  /** The newest workflow of a job */
  "get /jobs/{job_id}/workflow": {
    params: {
      job_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Workflow;
  };
  /** Whether a token is needed, and whether the caller has shown it */
  "get /session": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: Login;
  };
  /** Numbers for Prometheus */
  "get /metrics": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: string;
  };
  /** This description, as OpenAPI 3.1 */
  "get /openapi.json": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: Record<string, Json>;
  };
  /** Overview: throughput, queue, active runs, sites with problems, failures, workers, and the last hour */
  "get /overview": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: Overview;
  };
  /** One proxy */
  "get /proxies/{proxy_id}": {
    params: {
      proxy_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Proxy;
  };
  /** How a check of all proxies is getting on */
  "get /proxies/refresh/{job_id}": {
    params: {
      job_id: string;
    };
    query: undefined;
    body: undefined;
    answer: ProxyRefresh;
  };
  /** One item with its history and its files, by its id or your artifact_id */
  "get /queue/items/{id}": {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: QueueItem;
  };
  /** How many items are in which state, in all and per site */
  "get /queue/stats": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: QueueStats;
  };
  /** Whether everything the server needs can be used */
  "get /ready": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: Ready;
  };
  /** @deprecated Alias of `/queue/concurrency-keys/{name}`. */
  "get /queue/resolvers/{name}": {
    params: {
      name: string;
    };
    query: undefined;
    body: undefined;
    answer: ConcurrencyKey;
  };
  /** One run */
  "get /jobs/runs/{run_id}": {
    params: {
      run_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Run;
  };
  /** What a run was asked for, so that the same can be asked for again */
  "get /jobs/runs/{run_id}/recipe": {
    params: {
      run_id: string;
    };
    query: undefined;
    body: undefined;
    answer: RunRecipe;
  };
  /** The schedule of one job */
  "get /schedules/{job_id}": {
    params: {
      job_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Schedule;
  };
  /** One session, without its secrets */
  "get /sessions/{session_id}": {
    params: {
      session_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Session;
  };
  /** One site */
  "get /sites/{site}": {
    params: {
      site: string;
    };
    query: undefined;
    body: undefined;
    answer: Site;
  };
  /** The robots.txt of a site, as it is kept, and what it says to us; the site is not asked */
  "get /sites/{site}/robots": {
    params: {
      site: string;
    };
    query: {
      path?: string;
    };
    body: undefined;
    answer: SiteRobots;
  };
  /** Good and bad pages a second of the last hour at the busiest sites, as far as this process has counted */
  "get /sites/series": {
    params: undefined;
    query: {
      site?: string;
    };
    body: undefined;
    answer: Record<string, {
      step_seconds: number;
      first_at: string | null;
      /** one for each step; null: nobody counted */
      good: (number | null)[];
      /** one for each step; null: nobody counted */
      bad: (number | null)[];
    }>;
  };
  /** How all sites together are getting on, and those with open work one by one */
  "get /sites/progress": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: SitesProgress;
  };
  /** How much room what is kept takes, and may take */
  "get /storage": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: Storage;
  };
  /** One task of a run, with its attempts and files */
  "get /jobs/runs/{run_id}/tasks/{task_id}": {
    params: {
      run_id: string;
      task_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Task;
  };
  /** The step that the engine has, or had last, under this id */
  "get /workflows/tasks/by-engine-id/{engine_id}": {
    params: {
      engine_id: string;
    };
    query: undefined;
    body: undefined;
    answer: WorkflowTask;
  };
  /** One template */
  "get /workflows/templates/{name}": {
    params: {
      name: string;
    };
    query: {
      version?: number;
    };
    body: undefined;
    answer: Template;
  };
  /** One worker, with what it is doing */
  "get /workers/{id}": {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: Worker;
  };
  /** One workflow, with its definition and its params */
  "get /workflows/{workflow_id}": {
    params: {
      workflow_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Workflow;
  };
  /** How a workflow is getting on, step by step, and how long it will take */
  "get /workflows/{workflow_id}/progress": {
    params: {
      workflow_id: string;
    };
    query: undefined;
    body: undefined;
    answer: WorkflowProgress;
  };
  /** One step of a workflow */
  "get /workflows/{workflow_id}/tasks/{task}": {
    params: {
      workflow_id: string;
      task: string;
    };
    query: undefined;
    body: undefined;
    answer: WorkflowTask;
  };
  /** Import proxies, or a list of them at an address; those that are there already stay as they are */
  "post /proxies": {
    params: undefined;
    query: undefined;
    body: {
      proxies: string[];
    } | {
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
  /** Keep a run until it is deleted: no policy removes it */
  "post /jobs/runs/{run_id}/keep": {
    params: {
      run_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Run;
  };
  /** Learn rules from values that stand on pages, and keep nothing */
  "post /extract/learn": {
    params: undefined;
    query: undefined;
    body: {
      /** pages of one kind, such as products of a shop */
      pages: {
        url?: string;
        /** the page itself, instead of fetching it */
        html?: string;
        /** of what is sent as html; text/html unless said */
        content_type?: string;
        /** by field: the value as the page shows it, several for a list, or null where a page has none. As many values for several fields are the first records of a list */
        examples?: Record<string, string | number | (string | number)[] | null>;
      }[];
      /** by field: the value as the page shows it, several for a list, or null where a page has none. As many values for several fields are the first records of a list */
      examples?: Record<string, string | number | (string | number)[] | null>;
      strategy?: "auto" | "http" | "browser";
      timeout_seconds?: number;
      session_id?: string | null;
    };
    answer: {
      items: Record<string, Json> | null;
      /** the best rule of each field, as a job takes them */
      fields: Record<string, Record<string, Json>>;
      /** by field, the best one first */
      alternatives: Record<string, {
        rule: Record<string, Json>;
        /** how well it should survive changes of the page */
        score: number;
        /** what it gives on each page, or in each record */
        values: Json[];
      }[]>;
      /** what fields and items give, by page; at most 20 each */
      records: Record<string, Json>[][];
      /** how many records they give, by page */
      record_counts: number[];
      /** examples that were not found, and fields without a rule that gives all of theirs */
      problems: {
        field: string;
        page: number | null;
        message: string;
      }[];
      pages: {
        url: string | null;
        final_url: string | null;
        http_status: number | null;
        title: string | null;
      }[];
      duration_ms: number;
    };
  };
  /** Alerts, newest first */
  "get /alerts": {
    params: undefined;
    query: {
      kind?: "breaker_open" | "worker_lost" | "crash_loop" | "run_failed" | "disk_low" | "disk_budget" | "test";
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      id: string;
      kind: "breaker_open" | "worker_lost" | "crash_loop" | "run_failed" | "disk_low" | "disk_budget" | "test";
      /** what it is about: a site, or the id of a run or a worker */
      subject: string;
      message: string;
      /** by kind; see docs/monitoring.md */
      detail: Json;
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
  /** Steps of all workflows, newest workflow first; ?status=retryable: those that another try may help */
  "get /workflows/tasks": {
    params: undefined;
    query: {
      status?: "pending" | "queued" | "running" | "retrying" | "completed" | "failed" | "skipped" | "cancelled" | "retryable";
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: WorkflowTask[];
  };
  /** What a crawl has found so far, oldest first; with format all of it as a file */
  "get /scraping/tasks/{task_id}/results": {
    params: {
      task_id: string;
    };
    query: {
      include_errors?: boolean;
      format?: "json" | "jsonl" | "csv" | "csv-excel" | "markdown" | "markdown-zip" | "parquet" | "warc";
      only_changed?: boolean;
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      /** the id of the crawl, which is a run */
      crawl_id: string;
      /** alias of crawl_id */
      task_id: string;
      status: "pending" | "running" | "paused" | "waiting_for_human" | "recovering" | "completed" | "partial" | "failed" | "cancelled";
      items: Record<string, Json>[];
      errors: {
        /** the task of the page, as in /jobs/runs/{crawl_id}/tasks/{page_task_id} */
        page_task_id: string;
        /** alias of page_task_id */
        task_id: string;
        url: string | null;
        failure_code: string;
        failure_reason: string;
        message: string;
        attempts: number;
      }[];
    };
  };
  /** Crawls, newest first */
  "get /scraping/tasks": {
    params: undefined;
    query: {
      status?: "pending" | "running" | "paused" | "waiting_for_human" | "recovering" | "completed" | "partial" | "failed" | "cancelled";
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      /** the id of the crawl, which is a run */
      crawl_id: string;
      /** alias of crawl_id */
      task_id: string;
      name: string | null;
      url: string | null;
      /** where a crawl begins, the first 100 of url_count; the recipe of the run has all of them */
      urls: string[];
      /** how many starts it has */
      url_count: number;
      status: "pending" | "running" | "paused" | "waiting_for_human" | "recovering" | "completed" | "partial" | "failed" | "cancelled";
      /** percent of the pages known by now, never falling; 100 only at the end; of a cancelled crawl, what was reached */
      progress: number;
      /** pages that are known by now, all of those below */
      total_items: number;
      /** how many it may fetch */
      max_pages: number;
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
      /** sent to a sign-in by the site: got as that, or left; their records have a warning */
      sign_in_items: number;
      /** of the completed ones: fetched for their links alone (follow, read); they give no records */
      followed_items: number;
      /** addresses that a crawl found and did not fetch, by reason, each counted once by each worker; depth and page_limit are lower bounds */
      skipped: {
        /** match none of include, follow and read */
        not_included?: number;
        /** match exclude */
        excluded?: number;
        /** disallowed by robots.txt */
        robots?: number;
        /** deeper than max_depth */
        depth?: number;
        /** beyond max_pages */
        page_limit?: number;
        /** on another site, with same_site */
        other_site?: number;
        /** outside of stay_within */
        elsewhere?: number;
        /** files, by their ending */
        file?: number;
        /** look like an endless calendar, filter or loop */
        trap?: number;
        /** addresses that are too long */
        too_long?: number;
      };
      /** what is probably not meant so */
      warnings: {
        code: "pagination_cut" | "sign_in";
        /** what happened, an example, and what to do */
        message: string;
        /** pagination_cut: whose patterns left the link */
        option?: "include" | "follow" | "exclude";
        patterns?: string[];
        /** the link that was left */
        url?: string;
        found_on?: string;
        follow?: string | null;
      }[];
      changes: {
        compared_with: string | null;
        new: number;
        changed: number;
        unchanged: number;
        /** answered so, or not found any more by a crawl that ran to its end */
        gone: number;
        unknown: number | null;
      } | null;
      /** the completed ones of those that completed or failed */
      success_rate: number;
      /** running time in all, also before it was opened again: waiting and pauses do not count */
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
      export_format: "json" | "jsonl" | "csv" | "csv-excel" | "markdown" | "markdown-zip" | "parquet" | "warc";
      /** UTC, ISO 8601 */
      created_at: string;
      started_at: string | null;
      finished_at: string | null;
      expires_at: string | null;
      /** somebody asked to keep it: no policy removes it */
      kept: boolean;
      keep_runs: number | null;
      message: string | null;
      waiting_for: {
        reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
        until: string | null;
        /** a sentence for people */
        message: string;
        last_failure: {
          failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
          failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
          message: string;
          http_status: number | null;
          url: string | null;
          attempt: number | null;
          max_attempts: number | null;
          next_try_at: string | null;
        } | null;
      } | null;
    }[];
  };
  /** Deletions of many runs, newest first: the last 100 */
  "get /runs/deletions": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: Deletion[];
  };
  /** The entries of a step with for_each, in the order of its list */
  "get /workflows/{workflow_id}/tasks/{task}/entries": {
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
      item: Json;
      status: "pending" | "queued" | "running" | "retrying" | "completed" | "failed" | "skipped" | "cancelled";
      retry_count: number;
      result: Record<string, Json> | null;
      error_message: string | null;
      failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown" | null;
      failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal" | null;
      attempts: {
        attempt: number;
        strategy: string;
        proxy: string | null;
        /** UTC, ISO 8601 */
        started_at: string;
        duration_ms: number;
        http_status: number | null;
        failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown" | null;
        failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal" | null;
      }[];
      /** UTC, ISO 8601 */
      created_at: string;
      completed_at: string | null;
    }[];
  };
  /** The log of a run, oldest first or newest first */
  "get /jobs/runs/{run_id}/events": {
    params: {
      run_id: string;
    };
    query: {
      limit?: number;
      after?: string;
      order?: "oldest" | "newest";
      type?: string;
    };
    body: undefined;
    answer: {
      id: string;
      run_id: string;
      /** what happened; docs/events.md lists all types. New ones may be added */
      type: "run.created" | "run.started" | "run.completed" | "run.partial" | "run.failed" | "run.cancelled" | "run.paused" | "run.resumed" | "run.reopened" | "run.waiting_for_human" | "run.held" | "run.released" | "run.recovering" | "run.recovered" | "task.retry_scheduled" | "task.rate_limited" | "task.redirected" | "task.deferred" | "challenge.solution_rejected" | "strategy.resolved" | "strategy.escalated" | "site.rate_limited" | "circuit.opened" | "robots.overridden" | "sitemap.read" | "sitemap.not_found" | "sitemap.failed" | "feed.read" | "url_list.read" | "crawl.starts_added" | "crawl.start_moved" | "crawl.pagination_cut_off" | "workflow.step_started" | "workflow.step_completed" | "workflow.step_skipped" | "workflow.step_failed" | "webhook.failed" | "log.truncated" | "event.unknown";
      level: "info" | "warn" | "error";
      /** a sentence for people; it may change: match `type` instead */
      message: string;
      meta: Record<string, Json>;
      /** UTC, ISO 8601 */
      created_at: string;
    }[];
  };
  /** The items that a completed step has left for the steps after it */
  "get /workflows/{workflow_id}/tasks/{task}/items": {
    params: {
      workflow_id: string;
      task: string;
    };
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: Record<string, Json>[];
  };
  /** Runs of a job, newest first */
  "get /jobs/{job_id}/runs": {
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
  /** Jobs, newest first */
  "get /jobs": {
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
  /** Lanes with open work, by name: who has them in hand, what waits there and why */
  "get /queue/lanes": {
    params: undefined;
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      /** site:…, group:… or step.… */
      lane: string;
      step: {
        workflow_id: string;
        workflow_name: string | null;
        step_name: string;
        step_index: number;
        place: number | null;
      } | null;
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
        reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency" | "step_time" | "step_run" | "step_entries";
        until: string | null;
        /** a sentence for people */
        message: string;
        last_failure: {
          failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
          failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
          message: string;
          http_status: number | null;
          url: string | null;
          attempt: number | null;
          max_attempts: number | null;
          next_try_at: string | null;
        } | null;
      } | null;
      /** some process has it in hand: no other works there */
      owned: boolean;
      worker_id: string | null;
      oldest_queued_at: string | null;
    }[];
  };
  /** The proxies, newest first, and how many are usable */
  "get /proxies": {
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
  /** Items, oldest first */
  "get /queue/items": {
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
      concurrency_key: string | null;
      /** @deprecated alias of concurrency_key */
      resolver: string | null;
      priority: number;
      handler: string | null;
      attempts: number;
      failure_code: string | null;
      failure_reason: string | null;
      message: string | null;
      next_try_at: string | null;
      owner: {
        worker_id: string | null;
        machine: string | null;
        pid: number | null;
        /** renewed while the worker lives */
        lease_expires_at: string;
      } | null;
      waiting_for: {
        reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
        until: string | null;
        /** a sentence for people */
        message: string;
        last_failure: {
          failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
          failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
          message: string;
          http_status: number | null;
          url: string | null;
          attempt: number | null;
          max_attempts: number | null;
          next_try_at: string | null;
        } | null;
      } | null;
      /** UTC, ISO 8601 */
      created_at: string;
      finished_at: string | null;
    }[];
  };
  /** The records of a run, oldest first; with format the whole of them as a file, streamed */
  "get /jobs/runs/{run_id}/results": {
    params: {
      run_id: string;
    };
    query: {
      format?: "json" | "jsonl" | "csv" | "csv-excel" | "markdown" | "markdown-zip" | "parquet" | "warc";
      only_changed?: boolean;
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      id: string;
      /** of a crawl: its crawl_id */
      run_id: string;
      /** the task that gave the record: of a crawl, the page's, not the crawl */
      task_id: string;
      url: string;
      data: Record<string, Json>;
      /** UTC, ISO 8601 */
      created_at: string;
    }[];
  };
  /** Pages that a run of a saved crawl found to be new, changed or gone, in this order */
  "get /jobs/runs/{run_id}/changes": {
    params: {
      run_id: string;
    };
    query: {
      change?: "new" | "changed" | "gone";
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      url: string;
      change: "new" | "changed" | "gone";
    }[];
  };
  /** What failed of a run, by reason, most frequent first, each with an example */
  "get /jobs/runs/{run_id}/errors": {
    params: {
      run_id: string;
    };
    query: {
      status?: "failed" | "retrying" | "retryable" | "all";
    };
    body: undefined;
    answer: {
      failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
      failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
      class: "timeout" | "connection" | "general";
      count: number;
      /** failed for good, or tried again by itself */
      status: "failed" | "retrying";
      /** whether another try may help */
      retryable: boolean;
      next_try_at: string | null;
      example: {
        url: string | null;
        message: string;
        task_id: string;
        screenshot_id: string | null;
        snapshot_id: string | null;
      };
    }[];
  };
  /** How a run is getting on, site by site, and why work waits */
  "get /jobs/runs/{run_id}/sites": {
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
        reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
        until: string | null;
        /** a sentence for people */
        message: string;
        last_failure: {
          failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
          failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
          message: string;
          http_status: number | null;
          url: string | null;
          attempt: number | null;
          max_attempts: number | null;
          next_try_at: string | null;
        } | null;
      } | null;
      next_try_at: string | null;
      last_failure: {
        failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
        failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
        message: string;
        http_status: number | null;
        url: string | null;
        attempt: number | null;
        max_attempts: number | null;
        next_try_at: string | null;
      } | null;
      held_until: string | null;
      breaker: {
        state: "closed" | "open" | "half_open";
        failures: number;
        reopens_at: string | null;
      };
    }[];
  };
  /** Runs of all kinds, newest first */
  "get /runs": {
    params: undefined;
    query: {
      status?: string;
      kind?: "queue" | "page" | "crawl" | "workflow" | "download" | "proxy_refresh";
      site?: string;
      job_id?: string;
      q?: string;
      parent?: string;
      since?: string;
      until?: string;
      total?: boolean;
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: Run[];
  };
  /** All jobs with a schedule, newest first: their next times, and what became of the ones before */
  "get /schedules": {
    params: undefined;
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: Schedule[];
  };
  /** Sessions, newest first, without their secrets */
  "get /sessions": {
    params: undefined;
    query: {
      origin?: string;
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: Session[];
  };
  /** Sites by name */
  "get /sites": {
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
  /** What became of the last 1,000 times of a schedule, newest first */
  "get /schedules/{job_id}/slots": {
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
  /** The kinds of steps there are, with the schema of their params */
  "get /workflows/step-kinds": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      kind: string;
      about: string;
      /** a JSON Schema (2020-12) */
      params: Json;
    }[];
  };
  /** The tasks of a run, each with its attempts and files */
  "get /jobs/runs/{run_id}/tasks": {
    params: {
      run_id: string;
    };
    query: {
      status?: "pending" | "queued" | "running" | "retrying" | "completed" | "failed" | "skipped" | "cancelled" | "retryable";
      q?: string;
      order?: "oldest" | "newest" | "slowest" | "largest";
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: Task[];
  };
  /** Every version of a template, newest first */
  "get /workflows/templates/{name}/versions": {
    params: {
      name: string;
    };
    query: undefined;
    body: undefined;
    answer: Template[];
  };
  /** The newest version of every template, by name */
  "get /workflows/templates": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: Template[];
  };
  /** The processes that do the work or stand by, newest first */
  "get /workers": {
    params: undefined;
    query: {
      all?: boolean;
    };
    body: undefined;
    answer: Worker[];
  };
  /** The steps of a workflow, in order */
  "get /workflows/{workflow_id}/tasks": {
    params: {
      workflow_id: string;
    };
    query: {
      status?: "pending" | "queued" | "running" | "retrying" | "completed" | "failed" | "skipped" | "cancelled" | "retryable";
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: WorkflowTask[];
  };
  /** Workflows, newest first */
  "get /workflows": {
    params: undefined;
    query: {
      status?: "active" | "recoverable" | "pending" | "running" | "paused" | "recovering" | "completed" | "failed" | "cancelled";
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
      /** the index of the first step that has not ended; of a failed one, of the step to recover from */
      current_step: number;
      /** steps that have completed, failed or were skipped or cancelled */
      ended_steps: number;
      total_steps: number;
      /** weighted by the steps' estimates; 100 when it has completed */
      progress: number;
      metadata: Record<string, Json>;
      error_message: string | null;
      recovery_attempts: number;
      max_recovery_attempts: number;
      template: {
        name: string;
        version: number;
      } | null;
      rerun_of: string | null;
      message: string | null;
      waiting_for: {
        reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
        until: string | null;
        /** a sentence for people */
        message: string;
        last_failure: {
          failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
          failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
          message: string;
          http_status: number | null;
          url: string | null;
          attempt: number | null;
          max_attempts: number | null;
          next_try_at: string | null;
        } | null;
      } | null;
      /** UTC, ISO 8601 */
      created_at: string;
      started_at: string | null;
      completed_at: string | null;
      last_checkpoint: string | null;
      /** UTC, ISO 8601 */
      updated_at: string;
    }[];
  };
  /** Log in: the token is answered with a cookie */
  "post /session": {
    params: undefined;
    query: undefined;
    body: {
      token: string;
    };
    answer: null;
  };
  /** Log out: the cookie is not taken any more */
  "delete /session": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: null;
  };
  /** Let what is under way finish, and begin nothing new */
  "post /jobs/runs/{run_id}/pause": {
    params: {
      run_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Run;
  };
  /** Start nothing by itself until it is resumed; what passes meanwhile is not missed */
  "post /schedules/{job_id}/pause": {
    params: {
      job_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Schedule;
  };
  /** Send nothing to a site until it is resumed */
  "post /sites/{site}/pause": {
    params: {
      site: string;
    };
    query: undefined;
    body: undefined;
    answer: Site;
  };
  /** Let the steps at work finish, and begin no other */
  "post /workflows/{workflow_id}/pause": {
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
      /** the index of the first step that has not ended; of a failed one, of the step to recover from */
      current_step: number;
      /** steps that have completed, failed or were skipped or cancelled */
      ended_steps: number;
      total_steps: number;
      /** weighted by the steps' estimates; 100 when it has completed */
      progress: number;
      metadata: Record<string, Json>;
      error_message: string | null;
      recovery_attempts: number;
      max_recovery_attempts: number;
      template: {
        name: string;
        version: number;
      } | null;
      rerun_of: string | null;
      message: string | null;
      waiting_for: {
        reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
        until: string | null;
        /** a sentence for people */
        message: string;
        last_failure: {
          failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
          failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
          message: string;
          http_status: number | null;
          url: string | null;
          attempt: number | null;
          max_attempts: number | null;
          next_try_at: string | null;
        } | null;
      } | null;
      /** UTC, ISO 8601 */
      created_at: string;
      started_at: string | null;
      completed_at: string | null;
      last_checkpoint: string | null;
      /** UTC, ISO 8601 */
      updated_at: string;
    };
  };
  /** Ask a worker to answer, and wait for that up to five seconds */
  "post /workers/{id}/ping": {
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
  /** Read a page by these rules and keep nothing */
  "post /extract/preview": {
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
      extract?: Record<string, unknown> | null;
      strategy?: "auto" | "http" | "browser";
      timeout_seconds?: number;
      session_id?: string | null;
      browser?: {
        wait_for?: string | null;
        /** leave out pictures, fonts and media */
        block_resources?: boolean;
        wait_ms?: number | null;
        /** as a phone: its window, its touch screen and its user agent */
        mobile?: boolean;
        /** what is done on the page before it is read, one after the other; docs/documents.md describes them */
        actions?: {
          type: "wait" | "click" | "write" | "press" | "scroll" | "scroll_to_end" | "screenshot" | "scrape";
          /** of wait: so long, … */
          milliseconds?: number;
          /** of click: what is clicked; of wait: until this is there; of scroll and scroll_to_end: what is scrolled, unless the page */
          selector?: string;
          /** of click: all that match, and not only the first */
          all?: boolean;
          /** of write: into the element that has the focus */
          text?: string;
          /** of write: the text is stored encrypted and shown as ***, as a password should be */
          secret?: boolean;
          /** of press, such as Enter or Control+A */
          key?: string;
          /** of scroll */
          direction?: "up" | "down";
          /** of scroll: pixels; default: the height of the window */
          amount?: number;
          /** of scroll_to_end: maximum number of steps; default: 100 */
          max_steps?: number;
          /** of scroll_to_end: maximum seconds, within the time limit of the page; default: 60 */
          max_seconds?: number;
          /** of screenshot: the whole page */
          full_page?: boolean;
        }[];
      } | null;
      headers?: Record<string, string> | null;
      cookies?: Record<string, string> | {
        name: string;
        value: string;
        domain?: string;
        path?: string;
        expires?: number;
        httpOnly?: boolean;
        secure?: boolean;
        sameSite?: "Strict" | "Lax" | "None";
      }[] | null;
    };
    answer: {
      url: string | null;
      final_url: string | null;
      http_status: number | null;
      strategy: string | null;
      strategy_evidence: Record<string, Json> | null;
      title: string | null;
      records: Record<string, Json>[];
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
      extract: Record<string, Json> | null;
      html: string | null;
      content_type: string | null;
      duration_ms: number;
    };
  };
  /** When a schedule would run, before it is saved */
  "get /schedules/preview": {
    params: undefined;
    query: {
      cron: string;
      timezone?: string;
      count?: number;
    };
    body: undefined;
    answer: {
      cron: string;
      timezone: string;
      next_times: {
        /** UTC, ISO 8601 */
        at: string;
        /** by the clocks of the time zone, with their offset at that time */
        local: string;
      }[];
    };
  };
  /** Save a template; each change is a new version (the same again is none), and runs keep the version they began with */
  "put /workflows/templates/{name}": {
    params: {
      name: string;
    };
    query: undefined;
    body: {
      /** name, steps, params, max_recovery_attempts: docs/workflows.md describes it */
      definition: Record<string, unknown>;
      /** the newest version when it was read; refused with 409 if there is a newer one */
      version?: number;
    } | {
      /** of a definition that is the whole body */
      steps: unknown;
    } | string;
    answer: Template;
  };
  /** Do again what did not complete of a failed workflow, or a step and all that follow from it */
  "post /workflows/{workflow_id}/recover": {
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
      /** the index of the first step that has not ended; of a failed one, of the step to recover from */
      current_step: number;
      /** steps that have completed, failed or were skipped or cancelled */
      ended_steps: number;
      total_steps: number;
      /** weighted by the steps' estimates; 100 when it has completed */
      progress: number;
      metadata: Record<string, Json>;
      error_message: string | null;
      recovery_attempts: number;
      max_recovery_attempts: number;
      template: {
        name: string;
        version: number;
      } | null;
      rerun_of: string | null;
      message: string | null;
      waiting_for: {
        reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
        until: string | null;
        /** a sentence for people */
        message: string;
        last_failure: {
          failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
          failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
          message: string;
          http_status: number | null;
          url: string | null;
          attempt: number | null;
          max_attempts: number | null;
          next_try_at: string | null;
        } | null;
      } | null;
      /** UTC, ISO 8601 */
      created_at: string;
      started_at: string | null;
      completed_at: string | null;
      last_checkpoint: string | null;
      /** UTC, ISO 8601 */
      updated_at: string;
    };
  };
  /** Check all proxies; while a check is at work, that one is the answer */
  "post /proxies/refresh": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: ProxyRefresh;
  };
  /** Start a new run of the same, with other params or another definition */
  "post /workflows/{workflow_id}/rerun": {
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
    answer: Workflow;
  };
  /** Forget a site's failures and holds, and try it at once */
  "post /sites/{site}/reset-breaker": {
    params: {
      site: string;
    };
    query: undefined;
    body: undefined;
    answer: Site;
  };
  /** Answer a run that waits for a person: go on with a session, or skip the page */
  "post /jobs/runs/{run_id}/resolve": {
    params: {
      run_id: string;
    };
    query: undefined;
    body: {
      /** go on with this session: id or name */
      session_id?: string;
      /** leave the page: the run fails as human_skipped */
      skip?: true;
    };
    answer: Run;
  };
  /** Let a paused run go on */
  "post /jobs/runs/{run_id}/resume": {
    params: {
      run_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Run;
  };
  /** Let a paused schedule go on, with its next time */
  "post /schedules/{job_id}/resume": {
    params: {
      job_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Schedule;
  };
  /** Let a paused site go on */
  "post /sites/{site}/resume": {
    params: {
      site: string;
    };
    query: undefined;
    body: undefined;
    answer: Site;
  };
  /** Let a drained worker take work again */
  "post /workers/{id}/resume": {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: Worker;
  };
  /** Let a paused workflow go on */
  "post /workflows/{workflow_id}/resume": {
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
      /** the index of the first step that has not ended; of a failed one, of the step to recover from */
      current_step: number;
      /** steps that have completed, failed or were skipped or cancelled */
      ended_steps: number;
      total_steps: number;
      /** weighted by the steps' estimates; 100 when it has completed */
      progress: number;
      metadata: Record<string, Json>;
      error_message: string | null;
      recovery_attempts: number;
      max_recovery_attempts: number;
      template: {
        name: string;
        version: number;
      } | null;
      rerun_of: string | null;
      message: string | null;
      waiting_for: {
        reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
        until: string | null;
        /** a sentence for people */
        message: string;
        last_failure: {
          failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
          failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
          message: string;
          http_status: number | null;
          url: string | null;
          attempt: number | null;
          max_attempts: number | null;
          next_try_at: string | null;
        } | null;
      } | null;
      /** UTC, ISO 8601 */
      created_at: string;
      started_at: string | null;
      completed_at: string | null;
      last_checkpoint: string | null;
      /** UTC, ISO 8601 */
      updated_at: string;
    };
  };
  /** Give failed items fresh attempts, of all sites or of one */
  "post /queue/retry-failed": {
    params: undefined;
    query: undefined;
    body: {
      site?: string;
    } | null;
    answer: {
      requeued: number;
    };
  };
  /** Give what failed fresh attempts, all of it or a part; opens an ended run again */
  "post /jobs/runs/{run_id}/retry-failed": {
    params: {
      run_id: string;
    };
    query: undefined;
    body: {
      failure_code?: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
      failure_reason?: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
      /** where a crawl begins, the first 100 of url_count; the recipe of the run has all of them */
      urls: string[];
      /** of a crawl: how many starts it has; of others 0 or 1 */
      url_count: number;
      site: string | null;
      status: "queued" | "running" | "paused" | "waiting_for_human" | "recovering" | "completed" | "partial" | "failed" | "cancelled";
      /** grows each time an ended run is opened again */
      generation: number;
      attempt: number;
      max_attempts: number | null;
      requested_strategy: string | null;
      resolved_strategy: string | null;
      strategy_evidence: Record<string, Json> | null;
      failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown" | null;
      failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal" | null;
      error_message: string | null;
      message: string | null;
      waiting_for: {
        reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
        until: string | null;
        /** a sentence for people */
        message: string;
        last_failure: {
          failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
          failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
          message: string;
          http_status: number | null;
          url: string | null;
          attempt: number | null;
          max_attempts: number | null;
          next_try_at: string | null;
        } | null;
      } | null;
      /** http_status, content_type, content_length, title, final_url, duration_ms, strategy, browser */
      stats: Record<string, Json>;
      /** percent; 100 at the end, and what was reached when it was cancelled */
      progress: number;
      changes: {
        compared_with: string | null;
        new: number;
        changed: number;
        unchanged: number;
        /** answered so, or not found any more by a crawl that ran to its end */
        gone: number;
        unknown: number | null;
      } | null;
      skipped: {
        /** match none of include, follow and read */
        not_included?: number;
        /** match exclude */
        excluded?: number;
        /** disallowed by robots.txt */
        robots?: number;
        /** deeper than max_depth */
        depth?: number;
        /** beyond max_pages */
        page_limit?: number;
        /** on another site, with same_site */
        other_site?: number;
        /** outside of stay_within */
        elsewhere?: number;
        /** files, by their ending */
        file?: number;
        /** look like an endless calendar, filter or loop */
        trap?: number;
        /** addresses that are too long */
        too_long?: number;
      } | null;
      /** what is probably not meant so */
      warnings: {
        code: "pagination_cut" | "sign_in";
        /** what happened, an example, and what to do */
        message: string;
        /** pagination_cut: whose patterns left the link */
        option?: "include" | "follow" | "exclude";
        patterns?: string[];
        /** the link that was left */
        url?: string;
        found_on?: string;
        follow?: string | null;
      }[];
      /** UTC, ISO 8601 */
      created_at: string;
      started_at: string | null;
      finished_at: string | null;
      expires_at: string | null;
      /** somebody asked to keep it: no policy removes it */
      kept: boolean;
      keep_runs: number | null;
      /** tasks that are tried again */
      retried: number;
    };
  };
  /** Change how many items of a concurrency key may be in flight at once, for running work too */
  "put /queue/concurrency-keys/{name}": {
    params: {
      name: string;
    };
    query: undefined;
    body: {
      limit: number | null;
    };
    answer: ConcurrencyKey;
  };
  /** @deprecated Alias of `/queue/concurrency-keys/{name}`. */
  "put /queue/resolvers/{name}": {
    params: {
      name: string;
    };
    query: undefined;
    body: {
      limit: number | null;
    };
    answer: ConcurrencyKey;
  };
  /** Change the settings of a site, known or not; only the keys that are sent change. Running work follows within a second */
  "put /sites/{site}": {
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
      /** as it was read; a change that names it is refused with 409 if somebody else has changed it since */
      version?: string;
    };
    answer: Site;
  };
  /** Begin a crawl in the background */
  "post /scraping/async-scrape": {
    params: undefined;
    query: undefined;
    body: {
      /** what you call it */
      name?: string;
      /** pages, feeds (RSS, Atom, JSON), sitemaps or lists of addresses */
      url?: string | string[];
      /** the same as a list: this or url */
      urls?: string[];
      /** link hops; 0 is that page alone, 1000 the most */
      max_depth?: number;
      max_pages?: number;
      timeout_minutes?: number;
      max_concurrent_articles?: number;
      /** tries after the first */
      retry_attempts?: number;
      /** tries in all, as in jobs: one more than retry_attempts, and given instead of it */
      max_attempts?: number;
      /** false: a run with failed or missing pages counts as failed */
      partial_results_ok?: boolean;
      /** pages to follow and to read, such as /blog/**; the starts are always followed */
      include?: string[];
      /** pages to leave, whatever the other patterns say */
      exclude?: string[];
      /** more pages whose links are followed, such as /page/**; they give no records unless include or read match them */
      follow?: string[];
      /** pages that give records; without include and follow, every page of the site is followed */
      read?: string[];
      same_site?: boolean;
      /** with same_site: all of the site, the start's host, or addresses of it that begin as the start does */
      stay_within?: "site" | "host" | "path";
      /** false: only the starts, and the pages that sitemaps name */
      follow_links?: boolean;
      /** a pause between two pages of this crawl, which then come one at a time */
      delay_seconds?: number;
      /** also begin with the pages that the site's sitemaps name */
      use_sitemap?: boolean;
      /** of a saved crawl: pages that are as the run before found them give no records */
      only_changed?: boolean;
      article?: boolean | null;
      respect_robots?: boolean;
      export_format?: "json" | "jsonl" | "csv" | "csv-excel" | "markdown" | "markdown-zip" | "parquet" | "warc";
      strategy?: "auto" | "http" | "browser";
      /** names of well-known fields (title, price, markdown …), or rules by field name; docs/extraction.md has both. Without: title, description, author, published_at and markdown */
      fields?: string[] | Record<string, unknown> | null;
      items?: string | Record<string, unknown> | null;
      schema?: boolean | Record<string, unknown> | null;
      extract?: Record<string, unknown> | null;
      proxy?: string | null;
      session_id?: string | null;
      document?: {
        /** what the document holds; default: markdown. A screenshot is taken in a browser */
        formats?: ("markdown" | "html" | "raw_html" | "links" | "images" | "screenshot" | "screenshot_full")[];
        /** html and markdown without navigation and advertisements; default: true */
        only_main_content?: boolean;
        /** nothing but what these match */
        include_tags?: string[];
        /** nothing of what these match */
        exclude_tags?: string[];
      } | null;
      browser?: {
        wait_for?: string | null;
        /** leave out pictures, fonts and media */
        block_resources?: boolean;
        wait_ms?: number | null;
        /** as a phone: its window, its touch screen and its user agent */
        mobile?: boolean;
        /** what is done on the page before it is read, one after the other; docs/documents.md describes them */
        actions?: {
          type: "wait" | "click" | "write" | "press" | "scroll" | "scroll_to_end" | "screenshot" | "scrape";
          /** of wait: so long, … */
          milliseconds?: number;
          /** of click: what is clicked; of wait: until this is there; of scroll and scroll_to_end: what is scrolled, unless the page */
          selector?: string;
          /** of click: all that match, and not only the first */
          all?: boolean;
          /** of write: into the element that has the focus */
          text?: string;
          /** of write: the text is stored encrypted and shown as ***, as a password should be */
          secret?: boolean;
          /** of press, such as Enter or Control+A */
          key?: string;
          /** of scroll */
          direction?: "up" | "down";
          /** of scroll: pixels; default: the height of the window */
          amount?: number;
          /** of scroll_to_end: maximum number of steps; default: 100 */
          max_steps?: number;
          /** of scroll_to_end: maximum seconds, within the time limit of the page; default: 60 */
          max_seconds?: number;
          /** of screenshot: the whole page */
          full_page?: boolean;
        }[];
      } | null;
      headers?: Record<string, string> | null;
      /** remove it APP_RETENTION_HOURS after its end, unless somebody asks to keep it */
      temporary?: boolean;
    };
    answer: {
      /** the id of the crawl, which is a run */
      crawl_id: string;
      /** alias of crawl_id */
      task_id: string;
      status: "pending" | "running" | "paused" | "waiting_for_human" | "recovering" | "completed" | "partial" | "failed" | "cancelled";
    };
  };
  /** Start the demo site: on this machine alone, until the server stops; starting it again changes nothing */
  "post /demo-site": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      url: string;
      /** whether there is one for the pages of it that need one */
      browser: boolean;
      /** a crawl of it, for POST /scraping/async-scrape */
      crawl: Record<string, Json>;
    };
  };
  /** Get one page now, without a job */
  "post /runs": {
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
      extract?: Record<string, unknown> | null;
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
      cookies?: Record<string, string> | {
        name: string;
        value: string;
        domain?: string;
        path?: string;
        expires?: number;
        httpOnly?: boolean;
        secure?: boolean;
        sameSite?: "Strict" | "Lax" | "None";
      }[] | null;
      document?: {
        /** what the document holds; default: markdown. A screenshot is taken in a browser */
        formats?: ("markdown" | "html" | "raw_html" | "links" | "images" | "screenshot" | "screenshot_full")[];
        /** html and markdown without navigation and advertisements; default: true */
        only_main_content?: boolean;
        /** nothing but what these match */
        include_tags?: string[];
        /** nothing of what these match */
        exclude_tags?: string[];
      } | null;
      browser?: {
        wait_for?: string | null;
        /** leave out pictures, fonts and media */
        block_resources?: boolean;
        wait_ms?: number | null;
        /** as a phone: its window, its touch screen and its user agent */
        mobile?: boolean;
        /** what is done on the page before it is read, one after the other; docs/documents.md describes them */
        actions?: {
          type: "wait" | "click" | "write" | "press" | "scroll" | "scroll_to_end" | "screenshot" | "scrape";
          /** of wait: so long, … */
          milliseconds?: number;
          /** of click: what is clicked; of wait: until this is there; of scroll and scroll_to_end: what is scrolled, unless the page */
          selector?: string;
          /** of click: all that match, and not only the first */
          all?: boolean;
          /** of write: into the element that has the focus */
          text?: string;
          /** of write: the text is stored encrypted and shown as ***, as a password should be */
          secret?: boolean;
          /** of press, such as Enter or Control+A */
          key?: string;
          /** of scroll */
          direction?: "up" | "down";
          /** of scroll: pixels; default: the height of the window */
          amount?: number;
          /** of scroll_to_end: maximum number of steps; default: 100 */
          max_steps?: number;
          /** of scroll_to_end: maximum seconds, within the time limit of the page; default: 60 */
          max_seconds?: number;
          /** of screenshot: the whole page */
          full_page?: boolean;
        }[];
      } | null;
    };
    answer: Run;
  };
  /** Run a job now */
  "post /jobs/{job_id}/runs": {
    params: {
      job_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Run;
  };
  /** Start a workflow that was created to wait */
  "post /workflows/{workflow_id}/start": {
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
      /** the index of the first step that has not ended; of a failed one, of the step to recover from */
      current_step: number;
      /** steps that have completed, failed or were skipped or cancelled */
      ended_steps: number;
      total_steps: number;
      /** weighted by the steps' estimates; 100 when it has completed */
      progress: number;
      metadata: Record<string, Json>;
      error_message: string | null;
      recovery_attempts: number;
      max_recovery_attempts: number;
      template: {
        name: string;
        version: number;
      } | null;
      rerun_of: string | null;
      message: string | null;
      waiting_for: {
        reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
        until: string | null;
        /** a sentence for people */
        message: string;
        last_failure: {
          failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
          failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
          message: string;
          http_status: number | null;
          url: string | null;
          attempt: number | null;
          max_attempts: number | null;
          next_try_at: string | null;
        } | null;
      } | null;
      /** UTC, ISO 8601 */
      created_at: string;
      started_at: string | null;
      completed_at: string | null;
      last_checkpoint: string | null;
      /** UTC, ISO 8601 */
      updated_at: string;
    };
  };
  /** End a task without a result; it fails as task_stopped, and the rest of its run goes on */
  "post /jobs/runs/{run_id}/tasks/{task_id}/stop": {
    params: {
      run_id: string;
      task_id: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      task_id: string;
      run_id: string;
      /** running: its worker is notified and ends it */
      state: "failed" | "running";
    };
  };
  /** The events of all runs, live; from now on, or behind Last-Event-ID */
  "get /events/stream": {
    params: undefined;
    query: {
      last_event_id?: string;
      type?: string;
    };
    body: undefined;
    answer: string;
  };
  /** The log of a run as it is written; ends with the run. 204: the run has ended and no events are left */
  "get /jobs/runs/{run_id}/events/stream": {
    params: {
      run_id: string;
    };
    query: {
      last_event_id?: string;
      type?: string;
    };
    body: undefined;
    answer: string;
  };
  /** Everything that a dashboard shows, live. Events of runs have ids and resume after Last-Event-ID; the others carry the current state */
  "get /live/stream": {
    params: undefined;
    query: {
      last_event_id?: string;
    };
    body: undefined;
    answer: string;
  };
  /** The same, live: at once, then at most once a second when it has changed */
  "get /sites/progress/stream": {
    params: undefined;
    query: {
      last_event_id?: string;
    };
    body: undefined;
    answer: string;
  };
  /** Send an alert that means nothing, to see whether alerts arrive */
  "post /alerts/test": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      kind: "breaker_open" | "worker_lost" | "crash_loop" | "run_failed" | "disk_low" | "disk_budget" | "test";
      /** what it is about: a site, or the id of a run or a worker */
      subject: string;
      message: string;
      /** by kind; see docs/monitoring.md */
      detail: Json;
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
  /** Let the policies hold again for a run that was to be kept */
  "delete /jobs/runs/{run_id}/keep": {
    params: {
      run_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Run;
  };
  /** Say everything that is wrong with a definition, a template or params, and create nothing */
  "post /workflows/validate": {
    params: undefined;
    query: undefined;
    body: {
      definition?: Record<string, unknown> | null;
      template?: string | null;
      template_version?: number | null;
      params?: Record<string, unknown> | null;
    } | {
      /** of a definition that is the whole body */
      steps: unknown;
    } | string;
    answer: {
      valid: boolean;
      errors: {
        path: string;
        message: string;
      }[];
      /** what was sent as YAML, as calls that take JSON alone (POST /jobs) take it */
      source?: Record<string, Json>;
    };
  };
}

/** By the names that the description gives them. */
export const ROUTES = {
  addQueueItems: "post /queue/items",
  cancelCrawl: "delete /scraping/tasks/{task_id}",
  cancelRun: "post /jobs/runs/{run_id}/cancel",
  cancelWorkflow: "post /workflows/{workflow_id}/cancel",
  changeJob: "patch /jobs/{job_id}",
  changeRuns: "post /runs/bulk",
  changeSite: "patch /sites/{site}",
  changeWorkflow: "patch /workflows/{workflow_id}",
  checkSession: "post /sessions/{session_id}/check",
  createJob: "post /jobs",
  createSession: "post /sessions",
  createWorkflow: "post /workflows",
  deleteJob: "delete /jobs/{job_id}",
  deleteProxy: "delete /proxies/{proxy_id}",
  deleteRun: "delete /jobs/runs/{run_id}",
  deleteRuns: "post /runs/deletions",
  deleteSession: "delete /sessions/{session_id}",
  deleteTemplate: "delete /workflows/templates/{name}",
  deleteWorkflow: "delete /workflows/{workflow_id}",
  disableProxy: "post /proxies/{proxy_id}/disable",
  drainWorker: "post /workers/{id}/drain",
  enableProxy: "post /proxies/{proxy_id}/enable",
  forgetLearnedStrategy: "delete /sites/{site}/learned-strategy",
  getArtifact: "get /artifacts/{artifact_id}",
  getConcurrencyKey: "get /queue/concurrency-keys/{name}",
  getConfig: "get /config",
  getCrawl: "get /scraping/tasks/{task_id}/status",
  getCrawlHealth: "get /scraping/status",
  getDeletion: "get /runs/deletions/{deletion_id}",
  getDemoSite: "get /demo-site",
  getHealth: "get /health",
  getJob: "get /jobs/{job_id}",
  getJobWorkflow: "get /jobs/{job_id}/workflow",
  getLogin: "get /session",
  getMetrics: "get /metrics",
  getOpenapi: "get /openapi.json",
  getOverview: "get /overview",
  getProxy: "get /proxies/{proxy_id}",
  getProxyRefresh: "get /proxies/refresh/{job_id}",
  getQueueItem: "get /queue/items/{id}",
  getQueueStats: "get /queue/stats",
  getReady: "get /ready",
  getResolver: "get /queue/resolvers/{name}",
  getRun: "get /jobs/runs/{run_id}",
  getRunRecipe: "get /jobs/runs/{run_id}/recipe",
  getSchedule: "get /schedules/{job_id}",
  getSession: "get /sessions/{session_id}",
  getSite: "get /sites/{site}",
  getSiteRobots: "get /sites/{site}/robots",
  getSiteSeries: "get /sites/series",
  getSitesProgress: "get /sites/progress",
  getStorage: "get /storage",
  getTask: "get /jobs/runs/{run_id}/tasks/{task_id}",
  getTaskByEngineId: "get /workflows/tasks/by-engine-id/{engine_id}",
  getTemplate: "get /workflows/templates/{name}",
  getWorker: "get /workers/{id}",
  getWorkflow: "get /workflows/{workflow_id}",
  getWorkflowProgress: "get /workflows/{workflow_id}/progress",
  getWorkflowTask: "get /workflows/{workflow_id}/tasks/{task}",
  importProxies: "post /proxies",
  keepRun: "post /jobs/runs/{run_id}/keep",
  learnRules: "post /extract/learn",
  listAlerts: "get /alerts",
  listAllWorkflowTasks: "get /workflows/tasks",
  listCrawlResults: "get /scraping/tasks/{task_id}/results",
  listCrawls: "get /scraping/tasks",
  listDeletions: "get /runs/deletions",
  listEntries: "get /workflows/{workflow_id}/tasks/{task}/entries",
  listEvents: "get /jobs/runs/{run_id}/events",
  listItems: "get /workflows/{workflow_id}/tasks/{task}/items",
  listJobRuns: "get /jobs/{job_id}/runs",
  listJobs: "get /jobs",
  listLanes: "get /queue/lanes",
  listProxies: "get /proxies",
  listQueueItems: "get /queue/items",
  listResults: "get /jobs/runs/{run_id}/results",
  listRunChanges: "get /jobs/runs/{run_id}/changes",
  listRunErrors: "get /jobs/runs/{run_id}/errors",
  listRunSites: "get /jobs/runs/{run_id}/sites",
  listRuns: "get /runs",
  listSchedules: "get /schedules",
  listSessions: "get /sessions",
  listSites: "get /sites",
  listSlots: "get /schedules/{job_id}/slots",
  listStepKinds: "get /workflows/step-kinds",
  listTasks: "get /jobs/runs/{run_id}/tasks",
  listTemplateVersions: "get /workflows/templates/{name}/versions",
  listTemplates: "get /workflows/templates",
  listWorkers: "get /workers",
  listWorkflowTasks: "get /workflows/{workflow_id}/tasks",
  listWorkflows: "get /workflows",
  logIn: "post /session",
  logOut: "delete /session",
  pauseRun: "post /jobs/runs/{run_id}/pause",
  pauseSchedule: "post /schedules/{job_id}/pause",
  pauseSite: "post /sites/{site}/pause",
  pauseWorkflow: "post /workflows/{workflow_id}/pause",
  pingWorker: "post /workers/{id}/ping",
  previewExtraction: "post /extract/preview",
  previewSchedule: "get /schedules/preview",
  putTemplate: "put /workflows/templates/{name}",
  recoverWorkflow: "post /workflows/{workflow_id}/recover",
  refreshProxies: "post /proxies/refresh",
  rerunWorkflow: "post /workflows/{workflow_id}/rerun",
  resetBreaker: "post /sites/{site}/reset-breaker",
  resolveRun: "post /jobs/runs/{run_id}/resolve",
  resumeRun: "post /jobs/runs/{run_id}/resume",
  resumeSchedule: "post /schedules/{job_id}/resume",
  resumeSite: "post /sites/{site}/resume",
  resumeWorker: "post /workers/{id}/resume",
  resumeWorkflow: "post /workflows/{workflow_id}/resume",
  retryFailedItems: "post /queue/retry-failed",
  retryFailedTasks: "post /jobs/runs/{run_id}/retry-failed",
  setConcurrencyKey: "put /queue/concurrency-keys/{name}",
  setResolver: "put /queue/resolvers/{name}",
  setSite: "put /sites/{site}",
  startCrawl: "post /scraping/async-scrape",
  startDemoSite: "post /demo-site",
  startPage: "post /runs",
  startRun: "post /jobs/{job_id}/runs",
  startWorkflow: "post /workflows/{workflow_id}/start",
  stopTask: "post /jobs/runs/{run_id}/tasks/{task_id}/stop",
  streamAllEvents: "get /events/stream",
  streamEvents: "get /jobs/runs/{run_id}/events/stream",
  streamLive: "get /live/stream",
  streamSitesProgress: "get /sites/progress/stream",
  testAlerts: "post /alerts/test",
  unkeepRun: "delete /jobs/runs/{run_id}/keep",
  validateWorkflow: "post /workflows/validate",
} as const satisfies Record<string, keyof Operations>;

/** They take a body. */
export const BODIES: ReadonlySet<string> = new Set<keyof Operations>([
  "post /queue/items",
  "patch /jobs/{job_id}",
  "post /runs/bulk",
  "patch /sites/{site}",
  "patch /workflows/{workflow_id}",
  "post /jobs",
  "post /sessions",
  "post /workflows",
  "post /runs/deletions",
  "post /proxies",
  "post /extract/learn",
  "post /session",
  "post /extract/preview",
  "put /workflows/templates/{name}",
  "post /workflows/{workflow_id}/recover",
  "post /workflows/{workflow_id}/rerun",
  "post /jobs/runs/{run_id}/resolve",
  "post /queue/retry-failed",
  "post /jobs/runs/{run_id}/retry-failed",
  "put /queue/concurrency-keys/{name}",
  "put /queue/resolvers/{name}",
  "put /sites/{site}",
  "post /scraping/async-scrape",
  "post /runs",
  "post /workflows/validate",
]);

/** They take a query. */
export const QUERIES: ReadonlySet<string> = new Set<keyof Operations>([
  "delete /jobs/{job_id}",
  "delete /jobs/runs/{run_id}",
  "delete /workflows/{workflow_id}",
  "get /sites/{site}/robots",
  "get /sites/series",
  "get /workflows/templates/{name}",
  "get /alerts",
  "get /workflows/tasks",
  "get /scraping/tasks/{task_id}/results",
  "get /scraping/tasks",
  "get /workflows/{workflow_id}/tasks/{task}/entries",
  "get /jobs/runs/{run_id}/events",
  "get /workflows/{workflow_id}/tasks/{task}/items",
  "get /jobs/{job_id}/runs",
  "get /jobs",
  "get /queue/lanes",
  "get /proxies",
  "get /queue/items",
  "get /jobs/runs/{run_id}/results",
  "get /jobs/runs/{run_id}/changes",
  "get /jobs/runs/{run_id}/errors",
  "get /jobs/runs/{run_id}/sites",
  "get /runs",
  "get /schedules",
  "get /sessions",
  "get /sites",
  "get /schedules/{job_id}/slots",
  "get /jobs/runs/{run_id}/tasks",
  "get /workers",
  "get /workflows/{workflow_id}/tasks",
  "get /workflows",
  "get /schedules/preview",
  "get /events/stream",
  "get /jobs/runs/{run_id}/events/stream",
  "get /live/stream",
  "get /sites/progress/stream",
]);

/** They answer a page of a list. */
export const PAGED: ReadonlySet<string> = new Set<keyof Operations>([
  "get /alerts",
  "get /workflows/tasks",
  "get /scraping/tasks/{task_id}/results",
  "get /scraping/tasks",
  "get /workflows/{workflow_id}/tasks/{task}/entries",
  "get /workflows/{workflow_id}/tasks/{task}/items",
  "get /jobs/{job_id}/runs",
  "get /jobs",
  "get /queue/lanes",
  "get /proxies",
  "get /queue/items",
  "get /jobs/runs/{run_id}/results",
  "get /jobs/runs/{run_id}/changes",
  "get /jobs/runs/{run_id}/sites",
  "get /runs",
  "get /schedules",
  "get /sessions",
  "get /sites",
  "get /schedules/{job_id}/slots",
  "get /jobs/runs/{run_id}/tasks",
  "get /workflows/{workflow_id}/tasks",
  "get /workflows",
]);

/** Done once however often they are sent with the same idempotency-key. */
export const REPEATABLE: ReadonlySet<string> = new Set<keyof Operations>([
  "post /jobs",
  "post /sessions",
  "post /workflows",
  "post /workflows/{workflow_id}/rerun",
  "post /scraping/async-scrape",
  "post /runs",
  "post /jobs/{job_id}/runs",
]);

/** What they answer is never JSON. */
export const TEXTS: ReadonlySet<string> = new Set<keyof Operations>([
  "get /artifacts/{artifact_id}",
  "get /metrics",
  "get /events/stream",
  "get /jobs/runs/{run_id}/events/stream",
  "get /live/stream",
  "get /sites/progress/stream",
]);
