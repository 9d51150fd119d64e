// Made from the API's description by `node scripts/api-types.mjs`; do not edit.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export type Problem = {
  type: string;
  title: string;
  status: number;
  detail: string;
  /** stable; docs/api.md and docs/errors.md list them */
  code: "request_malformed" | "url_malformed" | "body_malformed" | "unauthorized" | "forbidden_origin" | "role_missing" | "key_limited" | "rate_limited" | "route_not_found" | "method_not_allowed" | "too_many_logins" | "request_timeout" | "body_too_large" | "url_too_long" | "media_type_unsupported" | "host_not_allowed" | "headers_too_large" | "internal" | "stopping" | "unready" | "config_invalid" | "input_invalid" | "usage" | "not_found" | "outside_limits" | "illegal_transition" | "recovery_exhausted" | "not_archived" | "no_fixtures" | "nothing_to_repair" | "image_decoder_missing" | "alerts_off" | "version_conflict" | "idempotency_conflict" | "site_waits" | "secret_key_wrong" | "database_newer" | "database_foreign" | "database_unfinished" | "database_busy" | "database_unavailable" | "disk_full" | "memory_full" | "artifacts_unavailable" | "engine_lost" | "service_unavailable" | "search_unavailable" | "demo_unavailable" | "live_view_unavailable" | "forbidden_target" | "fetch_failed" | "handlers_invalid" | "handler_failed";
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
  /** if the records of a run are worse than before: alert (the default), pause_schedule (alert, and pause the schedule), fail (alert, and the run fails; its records are kept); only for pages and crawls */
  on_degraded: "alert" | "pause_schedule" | "fail";
  fixtures: number | null;
  /** if the rules of a run broke by a change of the pages: accept a repair that is beyond doubt, and read the pages of the run again (default: false); only for pages and crawls */
  auto_repair: boolean;
  /** channels to notify about this job, besides those whose rules match */
  notify: {
    /** id or name of a notification channel */
    channel: string;
    /** absent: all but run_completed and run_cancelled */
    types?: ("run_failed" | "run_partial" | "run_completed" | "run_cancelled" | "waiting_for_human" | "extraction_degraded" | "repair_proposed" | "repair_accepted" | "monitor_changed" | "breaker_open" | "worker_lost" | "crash_loop" | "disk_low" | "disk_budget" | "channel_failing")[];
  }[];
  /** with http and api_replay: after a block or a page that is empty without JavaScript, the next attempt uses a browser; no effect with auto */
  escalate: boolean;
  respect_robots: boolean;
  /** false: a document, such as a PDF or an Office file, is not read and fails as not_html (default: true) */
  documents: boolean;
  timeout_seconds: number | null;
  session_id: string | null;
  proxy: string | null;
  /** the request for strategy api_replay: {request, items, pagination}; docs/jobs.md describes it */
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
    /** contents of the document; default: markdown. A screenshot needs a browser */
    formats: ("markdown" | "html" | "raw_html" | "links" | "images" | "screenshot" | "screenshot_full")[];
    /** html and markdown without navigation and advertisements; default: true */
    only_main_content: boolean;
    /** CSS selectors: keep only matching elements */
    include_tags: string[];
    /** CSS selectors: remove matching elements */
    exclude_tags: string[];
  } | null;
  browser: {
    wait_for: string | null;
    /** do not load images, fonts and media */
    block_resources: boolean;
    wait_ms: number | null;
    /** emulate a phone: window size, touch screen and user agent */
    mobile: boolean;
    /** actions on the page before it is read, in this order; see docs/documents.md */
    actions: {
      type: "wait" | "click" | "write" | "press" | "scroll" | "scroll_to_end" | "screenshot" | "scrape";
      /** wait: duration */
      milliseconds?: number;
      /** click: element to click; wait: element to wait for; scroll and scroll_to_end: element to scroll (default: the page) */
      selector?: string;
      /** click: all matching elements, not only the first */
      all?: boolean;
      /** write: text to type into the focused element */
      text?: string;
      /** write: store the text encrypted and show it as ***, for passwords */
      secret?: boolean;
      /** press: key, such as Enter or Control+A */
      key?: string;
      /** scroll: direction */
      direction?: "up" | "down";
      /** scroll: pixels; default: the height of the window */
      amount?: number;
      /** scroll_to_end: maximum number of steps; default: 100 */
      max_steps?: number;
      /** scroll_to_end: maximum seconds, within the time limit of the page; default: 60 */
      max_seconds?: number;
      /** screenshot: the whole page */
      full_page?: boolean;
    }[];
  } | null;
  header_names: string[];
  cookie_names: string[];
  monitor: {
    /** what is compared (default: text) */
    what: "text" | "markdown" | "fields" | "links" | "screenshot";
    /** /regular expressions/ and CSS selectors of what does not count; of fields: names of fields */
    ignore: string[];
    /** what never counts: dates, counters, ids (default: all of them) */
    noise: ("dates" | "counters" | "ids")[];
    /** leave out what a page changes on its own (default: true) */
    learn: boolean;
    /** places that count although they change on their own: as a change names them in ignored, or /regular expressions/ of their names or lines */
    watch: string[];
    /** fewer changed words are no change */
    min_words: number;
    min_share: number | null;
    key: string | null;
    /** changes to keep (default: 1000) */
    keep: number;
  } | null;
  crawl: {
    /** pages, feeds (RSS, Atom, JSON), sitemaps or lists of URLs */
    url: string | string[];
    /** maximum link hops from a start URL; 0: only the start URLs */
    max_depth: number;
    max_pages: number;
    timeout_minutes: number;
    max_concurrent_articles: number;
    /** retries after the first attempt */
    retry_attempts: number;
    /** maximum attempts, as in jobs: retry_attempts + 1; set only one of the two */
    max_attempts: number;
    /** false: a run with failed or missing pages counts as failed */
    partial_results_ok: boolean;
    /** only follow and read matching pages, such as /blog/**; start URLs are always followed */
    include: string[];
    /** skip matching pages; overrides the other patterns */
    exclude: string[];
    /** pages to follow in addition to include or read, such as /page/**; they give no records. Alone, it works like include */
    follow: string[];
    /** only matching pages give records; without include and follow, every page of the site is followed */
    read: string[];
    same_site: boolean;
    /** with same_site: limit the crawl to the site (with subdomains), the host, or the path of the start URL */
    stay_within: "site" | "host" | "path";
    /** what the crawl looks for, in words or a sentence: the most promising links are fetched first, by their text, address and surroundings */
    goal: string;
    /** with goal: end the crawl when hardly any of the last 50 pages was relevant */
    stop_when_saturated: boolean;
    /** false: fetch only the start URLs and pages listed in sitemaps */
    follow_links: boolean;
    /** follow links to PDF, Word, Excel, PowerPoint, OpenDocument, EPUB, RTF and CSV files, and read them; default: true, but false with fields, items or extract */
    documents: boolean;
    /** delay between two pages of this crawl; pages are then fetched one at a time */
    delay_seconds: number;
    /** also start from the pages listed in the site's sitemaps */
    use_sitemap: boolean;
    /** for a saved crawl: return only pages that are new or changed since the previous run */
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
      /** contents of the document; default: markdown. A screenshot needs a browser */
      formats: ("markdown" | "html" | "raw_html" | "links" | "images" | "screenshot" | "screenshot_full")[];
      /** html and markdown without navigation and advertisements; default: true */
      only_main_content: boolean;
      /** CSS selectors: keep only matching elements */
      include_tags: string[];
      /** CSS selectors: remove matching elements */
      exclude_tags: string[];
    } | null;
    browser: {
      wait_for: string | null;
      /** do not load images, fonts and media */
      block_resources: boolean;
      wait_ms: number | null;
      /** emulate a phone: window size, touch screen and user agent */
      mobile: boolean;
      /** actions on the page before it is read, in this order; see docs/documents.md */
      actions: {
        type: "wait" | "click" | "write" | "press" | "scroll" | "scroll_to_end" | "screenshot" | "scrape";
        /** wait: duration */
        milliseconds?: number;
        /** click: element to click; wait: element to wait for; scroll and scroll_to_end: element to scroll (default: the page) */
        selector?: string;
        /** click: all matching elements, not only the first */
        all?: boolean;
        /** write: text to type into the focused element */
        text?: string;
        /** write: store the text encrypted and show it as ***, for passwords */
        secret?: boolean;
        /** press: key, such as Enter or Control+A */
        key?: string;
        /** scroll: direction */
        direction?: "up" | "down";
        /** scroll: pixels; default: the height of the window */
        amount?: number;
        /** scroll_to_end: maximum number of steps; default: 100 */
        max_steps?: number;
        /** scroll_to_end: maximum seconds, within the time limit of the page; default: 60 */
        max_seconds?: number;
        /** screenshot: the whole page */
        full_page?: boolean;
      }[];
    } | null;
    /** names of the headers it sends; values are not shown */
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
  /** the version that you read; an update with it is rejected with 409 if the resource has changed since */
  version: string;
  /** UTC, ISO 8601 */
  created_at: string;
  /** UTC, ISO 8601 */
  updated_at: string;
};

export type Key = {
  id: string;
  name: string;
  /** the beginning of the key */
  prefix: string;
  /** viewer reads, operator also starts and changes, admin does everything */
  role: "viewer" | "operator" | "admin";
  jobs: string[] | null;
  sites: string[] | null;
  tags: string[] | null;
  requests_per_minute: number | null;
  status: "active" | "expired" | "revoked";
  /** UTC, ISO 8601 */
  created_at: string;
  created_by: {
    kind: "key" | "person" | "token" | "local" | "schedule" | "repair" | "system";
    id: string | null;
    name: string;
  } | null;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
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
  /** the first 100 start URLs of a crawl (of url_count); GET /jobs/runs/{run_id}/recipe has all of them */
  urls: string[];
  /** number of start URLs of a crawl; 0 or 1 for other kinds */
  url_count: number;
  site: string | null;
  status: "queued" | "running" | "paused" | "waiting_for_human" | "recovering" | "completed" | "partial" | "failed" | "cancelled";
  /** increases each time an ended run is reopened */
  generation: number;
  attempt: number;
  max_attempts: number | null;
  requested_strategy: string | null;
  resolved_strategy: string | null;
  strategy_evidence: Record<string, Json> | null;
  failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown" | null;
  failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal" | null;
  error_message: string | null;
  message: string | null;
  waiting_for: {
    reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "data_quality" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
    until: string | null;
    /** a sentence for humans */
    message: string;
    last_failure: {
      failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
      failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
  /** percent; 100 at the end; for a cancelled run, the last value */
  progress: number;
  changes: {
    compared_with: string | null;
    new: number;
    changed: number;
    unchanged: number;
    /** answered 404 or 410, or no longer linked in a complete crawl */
    gone: number;
    unknown: number | null;
  } | null;
  monitor: {
    new: number;
    changed: number;
    removed: number;
  } | null;
  skipped: {
    /** not matched by include, follow or read */
    not_included?: number;
    /** matched by exclude */
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
    /** files, by their extension */
    file?: number;
    /** look like an endless calendar, filter or loop */
    trap?: number;
    /** URLs that are too long */
    too_long?: number;
  } | null;
  degraded: {
    field: string | null;
    /** docs/data-quality.md describes them */
    metric: "records" | "records_per_page" | "missing" | "coverage" | "class" | "distinct" | "range" | "length" | "digits";
    /** the median of earlier runs */
    before: number;
    now: number;
    /** of metric class: whose share that is */
    class?: "number" | "price" | "date" | "url" | "email" | "code" | "text" | "boolean" | "list" | "object";
    /** other metrics of the field that changed */
    also?: ("records" | "records_per_page" | "missing" | "coverage" | "class" | "distinct" | "range" | "length" | "digits")[];
    /** values of this run, cut */
    examples?: string[];
    /** URLs of pages of this run that show it */
    pages?: string[];
  }[] | null;
  /** probable mistakes in the settings */
  warnings: {
    code: "pagination_cut" | "sign_in" | "document_incomplete";
    /** what happened, an example, and what to do */
    message: string;
    /** pagination_cut: the option that excluded the link */
    option?: "include" | "follow" | "exclude";
    patterns?: string[];
    /** the excluded link */
    url?: string;
    found_on?: string;
    follow?: string | null;
  }[];
  started_by: {
    kind: "key" | "person" | "token" | "local" | "schedule" | "repair" | "system";
    id: string | null;
    name: string;
  } | null;
  /** UTC, ISO 8601 */
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  expires_at: string | null;
  /** marked to be kept: exempt from retention */
  kept: boolean;
  keep_runs: number | null;
};

export type Site = {
  site: string;
  group: string | null;
  /** paused by an operator; blocked: its circuit is open; idle: no open work */
  state: "active" | "waiting" | "paused" | "blocked" | "idle";
  /** pages of all stored runs */
  counts: {
    queued: number;
    /** in flight, within the limits of the site */
    running: number;
    /** failed, with a retry scheduled */
    retrying: number;
    completed: number;
    failed: number;
  };
  /** successful pages in the last one to two minutes */
  pages_per_second: number;
  error_rate: number | null;
  waiting_for: {
    reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "data_quality" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
    until: string | null;
    /** a sentence for humans */
    message: string;
    last_failure: {
      failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
      failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
    failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
  /** number of lanes the site is split into, so that several processes can work on it; at most max_concurrency */
  shards: number;
  depends_on: string[];
  paused: boolean;
  /** the version that you read; an update with it is rejected with 409 if the resource has changed since */
  version: string;
  /** the effective limits, with configured defaults and the crawl-delay of robots.txt */
  effective: {
    max_concurrency: number;
    requests_per_second: number | null;
    burst: number | null;
    min_delay_ms: number;
    /** fewer than requested if the limits do not allow more */
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
  /** of successful responses in the last ten minutes; null: none measured */
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
  failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal" | null;
  error_message: string | null;
  next_try_at: string | null;
  depth: number | null;
  relevance: number | null;
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
    failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal" | null;
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
  /** the first 100 start URLs of a crawl (of url_count); GET /jobs/runs/{run_id}/recipe has all of them */
  urls: string[];
  /** number of start URLs */
  url_count: number;
  status: "pending" | "running" | "paused" | "waiting_for_human" | "recovering" | "completed" | "partial" | "failed" | "cancelled";
  /** percent of the known pages; never decreases, 100 only at the end; for a cancelled crawl, the last value */
  progress: number;
  /** known pages: the sum of the counts below */
  total_items: number;
  /** maximum pages to fetch */
  max_pages: number;
  /** queued, or waiting for the next attempt */
  queued_items: number;
  /** part of queued_items: failed, with a retry scheduled */
  retrying_items: number;
  /** in flight */
  running_items: number;
  /** fetched */
  completed_items: number;
  /** failed after all attempts */
  failed_items: number;
  /** skipped, because another page of the crawl is the same */
  skipped_items: number;
  /** not done when the crawl was cancelled or reached its time limit */
  cancelled_items: number;
  /** part of completed_items: unchanged since the previous run of the job */
  unchanged_items: number;
  /** redirected to a sign-in page, which was fetched or skipped; their records have a warning */
  sign_in_items: number;
  /** part of completed_items: fetched only for their links (follow, read), without records */
  followed_items: number;
  /** URLs that a crawl found but did not fetch, by reason, each counted once per worker; depth and page_limit are lower bounds */
  skipped: {
    /** not matched by include, follow or read */
    not_included?: number;
    /** matched by exclude */
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
    /** files, by their extension */
    file?: number;
    /** look like an endless calendar, filter or loop */
    trap?: number;
    /** URLs that are too long */
    too_long?: number;
  };
  /** probable mistakes in the settings */
  warnings: {
    code: "pagination_cut" | "sign_in" | "document_incomplete";
    /** what happened, an example, and what to do */
    message: string;
    /** pagination_cut: the option that excluded the link */
    option?: "include" | "follow" | "exclude";
    patterns?: string[];
    /** the excluded link */
    url?: string;
    found_on?: string;
    follow?: string | null;
  }[];
  changes: {
    compared_with: string | null;
    new: number;
    changed: number;
    unchanged: number;
    /** answered 404 or 410, or no longer linked in a complete crawl */
    gone: number;
    unknown: number | null;
  } | null;
  /** completed pages divided by completed and failed pages */
  success_rate: number;
  /** total running time, also before it was reopened; waiting and pauses do not count */
  duration_seconds: number;
  time_remaining_seconds: number | null;
  /** ended pages per second of running time, since the start */
  pages_per_second: number;
  errors: {
    timeout: number;
    connection: number;
    general: number;
  };
  goal: {
    text: string;
    /** pages compared with the goal */
    pages_read: number;
    /** part of pages_read: at least half as relevant as the best page then */
    relevant_pages: number;
    /** of the most relevant page */
    best_relevance: number;
  } | null;
  end_reason: "exhausted" | "limit_pages" | "limit_depth" | "limit_time" | "saturated" | "breaker_open" | "no_proxies" | null;
  /** as requested; orb crawl --resume writes its results in this format */
  export_format: "json" | "jsonl" | "csv" | "csv-excel" | "markdown" | "markdown-zip" | "parquet" | "warc";
  /** UTC, ISO 8601 */
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  expires_at: string | null;
  /** marked to be kept: exempt from retention */
  kept: boolean;
  keep_runs: number | null;
  message: string | null;
  waiting_for: {
    reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "data_quality" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
    until: string | null;
    /** a sentence for humans */
    message: string;
    last_failure: {
      failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
      failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
      message: string;
      http_status: number | null;
      url: string | null;
      attempt: number | null;
      max_attempts: number | null;
      next_try_at: string | null;
    } | null;
  } | null;
  /** failures by reason, the 20 most frequent */
  error_groups: {
    failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
    failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
    class: "timeout" | "connection" | "general";
    count: number;
    /** failed: after all attempts; retrying: a retry is scheduled */
    status: "failed" | "retrying";
    /** whether a retry may fix the failure */
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
  /** causes of scheduled retries, most frequent first; based on at most 1,000 pages */
  retrying_groups: {
    failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
    failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
    class: "timeout" | "connection" | "general";
    count: number;
    /** failed: after all attempts; retrying: a retry is scheduled */
    status: "failed" | "retrying";
    /** whether a retry may fix the failure */
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
  /** up to 5 sites where it waits, with the reason */
  waiting_sites: {
    site: string;
    waiting_for: {
      reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "data_quality" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
      until: string | null;
      /** a sentence for humans */
      message: string;
      last_failure: {
        failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
        failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
      failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
  caller: {
    kind: "key" | "person" | "token" | "local";
    name: string;
    role: "viewer" | "operator" | "admin";
  } | null;
  /** whether a cookie logs the caller in */
  can_log_out: boolean;
  provider: {
    name: string;
    /** opened in a browser, it starts the sign-in */
    url: string;
  } | null;
  sign_in_error: string | null;
};

export type Proxy = {
  id: string;
  /** *** replaces the user name and password */
  proxy: string;
  scheme: "http" | "https" | "socks5";
  host: string;
  port: number;
  has_credentials: boolean;
  state: "unchecked" | "usable" | "resting" | "disabled";
  /** success score; recent requests count most */
  score: number;
  latency_ms: number | null;
  successes: number;
  failures: number;
  /** responses in which a site blocked this proxy */
  blocks: number;
  resting_until: string | null;
  last_error: string | null;
  checked_at: string | null;
  used_at: string | null;
  /** UTC, ISO 8601 */
  created_at: string;
};

export type Ready = {
  /** degraded: one of the checks is degraded */
  status: "ready" | "degraded";
  checks: {
    name: string;
    /** degraded: it works with restrictions */
    status: "ok" | "degraded" | "failed";
    latency_ms: number;
    message?: string;
  }[];
};

export type Health = {
  status: "ok";
  version: string;
  database: "sqlite" | "postgres";
  /** bullmq: several worker processes, on any machine */
  engine: "embedded" | "bullmq";
  uptime_seconds: number;
};

export type OwnKey = {
  /** person: signed in by a provider or a proxy; token: APP_API_TOKEN; local: no token is set, so everybody on this machine is an admin */
  kind: "key" | "person" | "token" | "local";
  id: string | null;
  name: string;
  /** viewer reads, operator also starts and changes, admin does everything */
  role: "viewer" | "operator" | "admin";
  jobs: string[] | null;
  sites: string[] | null;
  tags: string[] | null;
  requests_per_minute: number | null;
  expires_at: string | null;
};

export type Worker = {
  id: string;
  machine: string;
  pid: number;
  /** serve, worker, crawl …; library: a program that uses the library */
  command: string;
  version: string;
  state: "working" | "draining" | "drained" | "lost" | "stopped";
  role: "engine" | "standby" | "stopped";
  /** embedded, or bullmq: several workers, on any machine */
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
  /** the 100 longest running tasks */
  active: {
    task_id: string;
    run_id: string;
    /** the site, group or step that it belongs to */
    lane: string;
    url: string | null;
    /** UTC, ISO 8601 */
    started_at: string;
  }[];
  /** the browsers of APP_BROWSER_URL, as this worker sees them */
  browsers: {
    /** host and port */
    name: string;
    state: "connecting" | "up" | "down";
    /** open pages of this worker */
    pages: number;
    max_pages: number;
    version: string | null;
    problem: string | null;
    since: string | null;
  }[];
  /** UTC, ISO 8601 */
  started_at: string;
  stopped_at: string | null;
};

export type Channel = {
  id: string;
  name: string;
  kind: "email" | "slack" | "discord" | "teams" | "telegram" | "ntfy" | "webhook" | "apprise";
  /** the receiver, without secrets */
  target: string;
  settings: Record<string, Json>;
  /** secret settings that are set */
  secrets: string[];
  /** a notification that matches one of them is sent; [{}]: all but run_completed and run_cancelled (the default), []: only for jobs that name the channel */
  rules: {
    /** absent: all but run_completed and run_cancelled */
    types?: ("run_failed" | "run_partial" | "run_completed" | "run_cancelled" | "waiting_for_human" | "extraction_degraded" | "repair_proposed" | "repair_accepted" | "monitor_changed" | "breaker_open" | "worker_lost" | "crash_loop" | "disk_low" | "disk_budget" | "channel_failing")[];
    min_severity?: "info" | "warning" | "error";
    /** jobs with one of these tags */
    tags?: string[];
    /** sites with their subdomains */
    sites?: string[];
    /** ids of jobs */
    jobs?: string[];
  }[];
  quiet_hours: {
    /** local time, such as 22:00 */
    from: string;
    /** local time, such as 07:00 */
    to: string;
    /** such as Europe/Berlin (default: UTC) */
    timezone: string;
    except: "info" | "warning" | "error" | null;
  } | null;
  group_minutes: number;
  enabled: boolean;
  status: "healthy" | "failing" | "unused" | "disabled";
  failing_since: string | null;
  last_error: string | null;
  last_error_at: string | null;
  last_delivered_at: string | null;
  /** deliveries that wait */
  waiting: number;
  /** UTC, ISO 8601 */
  created_at: string;
  /** UTC, ISO 8601 */
  updated_at: string;
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
  /** saved jobs that use it */
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
  /** what happens when the budget is used up: APP_DISK_BUDGET_ACTION */
  action: "warn" | "remove";
  /** at least 80 % of the budget is used */
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
    /** part of the name or URL (of the newest 10,000 runs), or the id of any run, or at least its first 8 characters */
    q?: string;
    /** created at this time or later */
    since?: string;
    /** created before this time */
    until?: string;
    /** only runs with these ids */
    run_ids?: string[];
    status?: ("queued" | "running" | "paused" | "waiting_for_human" | "recovering" | "completed" | "partial" | "failed" | "cancelled")[];
    /** only runs of jobs with this tag */
    tag?: string;
    /** only runs that ended before */
    ended_before?: string;
  };
  /** matching runs; 100000 means that many or more */
  matched: number;
  /** runs deleted so far */
  deleted: number;
  /** deleted runs whose data and files are still being removed, of all deletions; 10000 means that many or more */
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

export type LiveView = {
  id: string;
  run_id: string | null;
  /** the origin whose session is stored */
  origin: string;
  /** the page that is shown */
  url: string;
  opened_by: string | null;
  /** UTC, ISO 8601 */
  opened_at: string;
  /** UTC, ISO 8601 */
  ends_at: string;
  /** it closes then, if nobody uses it */
  idle_ends_at: string;
  viewers: number;
  controller: string | null;
  /** the page is that of a phone, and takes touches */
  mobile: boolean;
  records: boolean;
  name: string | null;
  check_url: string | null;
  /** what was done so far, as browser actions; only with record */
  actions: {
    type: "wait" | "click" | "write" | "press" | "scroll" | "scroll_to_end" | "screenshot" | "scrape";
    /** wait: duration */
    milliseconds?: number;
    /** click: element to click; wait: element to wait for; scroll and scroll_to_end: element to scroll (default: the page) */
    selector?: string;
    /** click: all matching elements, not only the first */
    all?: boolean;
    /** write: text to type into the focused element */
    text?: string;
    /** write: store the text encrypted and show it as ***, for passwords */
    secret?: boolean;
    /** press: key, such as Enter or Control+A */
    key?: string;
    /** scroll: direction */
    direction?: "up" | "down";
    /** scroll: pixels; default: the height of the window */
    amount?: number;
    /** scroll_to_end: maximum number of steps; default: 100 */
    max_steps?: number;
    /** scroll_to_end: maximum seconds, within the time limit of the page; default: 60 */
    max_seconds?: number;
    /** screenshot: the whole page */
    full_page?: boolean;
  }[];
  /** what could not be recorded, such as passwords */
  notes: string[];
};

export type Overview = {
  /** ended pages, over the last ten seconds */
  pages_per_second: {
    good: number;
    bad: number;
  };
  success_rate: number | null;
  /** approximate number of pages that ended in the last five minutes; with few pages, success_rate is not significant */
  recent_pages: {
    good: number;
    bad: number;
  };
  /** tasks in flight, as last reported by the workers */
  in_flight: number;
  queued: number;
  /** part of queued: failed, with a retry scheduled */
  retrying: number;
  oldest_queued_at: string | null;
  /** runs that have not ended, by status, without child runs of workflows */
  runs: {
    queued: number;
    running: number;
    paused: number;
    waiting_for_human: number;
    recovering: number;
  };
  /** up to 20: running ones first, then waiting ones, newest first */
  active_runs: {
    id: string;
    job_id: string | null;
    kind: "queue" | "page" | "crawl" | "workflow" | "download" | "proxy_refresh";
    name: string | null;
    url: string | null;
    /** number of start URLs of a crawl; 0 or 1 for other kinds */
    url_count: number;
    site: string | null;
    status: "queued" | "running" | "paused" | "waiting_for_human" | "recovering" | "completed" | "partial" | "failed" | "cancelled";
    /** percent; 100 at the end; for a cancelled run, the last value */
    progress: number;
    waiting_for: {
      reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "data_quality" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
      until: string | null;
      /** a sentence for humans */
      message: string;
      last_failure: {
        failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
        failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
    failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal" | null;
    /** UTC, ISO 8601 */
    created_at: string;
    started_at: string | null;
    finished_at: string | null;
    /** for a running workflow: its current steps, at most three */
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
        /** a sentence for humans: what it waits for, and why that takes time */
        message: string;
        last_failure: {
          failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
          failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
      /** claimed by workers, started or about to start */
      running: number;
      retrying: number;
      completed: number;
      failed: number;
      skipped: number;
    };
    /** throughput over the last ten seconds */
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
    /** a sentence for humans */
    message: string;
    until: string | null;
    error_rate: number | null;
    /** number of waiting pages */
    waiting: number;
  }[];
  /** failures of runs that are active or ended in the last hour, by reason, with an example of the newest run */
  failures: {
    failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
    failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
    /** take over when the active worker is gone; not included in `working` */
    standby: number;
    draining: number;
    drained: number;
    lost: number;
    in_flight: number;
    /** maximum tasks in flight of all working ones */
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
  /** of the responding process, with its browsers */
  memory: {
    used_bytes: number;
    limit_bytes: number | null;
  };
  /** of the last hour, as counted by this process; good and bad are pages per second */
  series: {
    step_seconds: number;
    first_at: string | null;
    /** one number per interval; null: not counted */
    good: (number | null)[];
    /** one number per interval; null: not counted */
    bad: (number | null)[];
    /** one number per interval; null: not counted */
    in_flight: (number | null)[];
    /** one number per interval; null: not counted */
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
  /** the next five scheduled times, without jitter */
  next_times: string[];
  waiting_for: {
    reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "data_quality" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
    until: string | null;
    /** a sentence for humans */
    message: string;
    last_failure: {
      failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
      failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
      message: string;
      http_status: number | null;
      url: string | null;
      attempt: number | null;
      max_attempts: number | null;
      next_try_at: string | null;
    } | null;
  } | null;
  last: {
    /** the scheduled time, without jitter */
    at: string;
    /** for several missed times in a row: the last one */
    until: string;
    /** for several missed times in a row: their number */
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
  /** JSON Schema of the params; null: it needs none */
  params: Json;
  definition: Json;
  created_at: string | null;
};

export type Workflow = {
  id: string;
  job_id: string | null;
  name: string;
  status: "pending" | "running" | "paused" | "recovering" | "completed" | "failed" | "cancelled";
  /** index of the first step that has not ended; for a failed workflow, of the step to recover from */
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
    reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "data_quality" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
    until: string | null;
    /** a sentence for humans */
    message: string;
    last_failure: {
      failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
      failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
  /** with all defaults filled in */
  definition: Record<string, Json>;
  params: Record<string, Json>;
  expires_at: string | null;
};

export type JobChange = {
  /** from 1, per job */
  number: number;
  run_id: string;
  url: string;
  change: "new" | "changed" | "removed";
  what: "text" | "markdown" | "fields" | "links" | "screenshot";
  /** UTC, ISO 8601 */
  found_at: string;
  previous_at: string | null;
  words_added: number;
  words_removed: number;
  /** changed words of all words; of a screenshot: pixels */
  share: number;
  summary: string | null;
  diff: {
    /** as diff -u shows it; empty for a screenshot */
    unified: string;
    hunks: {
      before_line: number;
      after_line: number;
      lines: {
        /** same, removed or added */
        op: " " | "-" | "+";
        text: string;
        /** by words, if the line became another one */
        words?: {
          /** same, removed or added */
          op: " " | "-" | "+";
          text: string;
        }[];
      }[];
    }[];
    records: {
      /** the value of the key field, or the number of the record */
      key: Json;
      change: "new" | "changed" | "removed";
      fields: Record<string, {
        before: Json;
        after: Json;
      }>;
    }[] | null;
    picture: {
      share: number;
      boxes: {
        x: number;
        y: number;
        width: number;
        height: number;
      }[];
      width: number;
      height: number;
    } | null;
    /** there are more differences than are kept */
    truncated: boolean;
    /** differences that were left out as noise: the first 50 places, the first 6 lines of each */
    ignored: {
      /** built_in: dates, counters and ids; words: some words of a line; place: a place that changes on its own; shuffled: another order; this_run: fetches of the same run differed there; unsettled: a later fetch was as the last run */
      kind: "built_in" | "words" | "place" | "shuffled" | "this_run" | "unsettled";
      place: string | null;
      before: string[];
      after: string[];
    }[];
  } | null;
  /** which contents can be read */
  contents: ("before" | "after")[];
};

export type JobHealth = {
  job_id: string;
  on_degraded: "alert" | "pause_schedule" | "fail";
  /** how many runs the next one is compared with; below needed, nothing is compared */
  baseline: {
    runs: number;
    needed: number;
  };
  repair: "open" | "abstained" | "accepted" | "rejected" | "outdated" | null;
  /** newest first */
  runs: {
    run_id: string;
    /** UTC, ISO 8601 */
    ended_at: string;
    records: number;
    /** pages that gave records */
    pages: number;
    records_per_page: number | null;
    /** how many earlier runs it was compared with */
    compared_with: number;
    degraded: {
      field: string | null;
      /** docs/data-quality.md describes them */
      metric: "records" | "records_per_page" | "missing" | "coverage" | "class" | "distinct" | "range" | "length" | "digits";
      /** the median of earlier runs */
      before: number;
      now: number;
      /** of metric class: whose share that is */
      class?: "number" | "price" | "date" | "url" | "email" | "code" | "text" | "boolean" | "list" | "object";
      /** other metrics of the field that changed */
      also?: ("records" | "records_per_page" | "missing" | "coverage" | "class" | "distinct" | "range" | "length" | "digits")[];
      /** values of this run, cut */
      examples?: string[];
      /** URLs of pages of this run that show it */
      pages?: string[];
    }[] | null;
    /** later runs are compared with it */
    in_baseline: boolean;
    accepted_at: string | null;
  }[];
  fields: {
    name: string;
    hint: "never_filled" | null;
    baseline: {
      /** records with a value */
      coverage: number;
      distinct: number | null;
      length: number | null;
      median: number | null;
    } | null;
    /** by run, in the order of runs */
    values: {
      run_id: string;
      /** unknown: too few runs before it */
      verdict: "good" | "degraded" | "unknown";
      /** records with a value */
      coverage: number;
      distinct: number | null;
      class: "number" | "price" | "date" | "url" | "email" | "code" | "text" | "boolean" | "list" | "object" | null;
      class_share: number | null;
      length: number | null;
      digits: number | null;
      min: number | null;
      median: number | null;
      max: number | null;
      /** records with and without a value; only with the parameter field */
      examples: {
        url: string | null;
        value: string | null;
      }[];
    }[];
  }[];
};

export type JobRepair = {
  job_id: string;
  /** of the proposals of this job */
  number: number;
  /** open: waits for a decision. abstained: nothing could be repaired beyond doubt. outdated: a later run was good again */
  state: "open" | "abstained" | "accepted" | "rejected" | "outdated";
  /** the degraded run */
  run_id: string;
  /** the version of the job that it repairs */
  version: number;
  /** UTC, ISO 8601 */
  made_at: string;
  decided_at: string | null;
  decided_by: {
    kind: "key" | "person" | "token" | "local" | "schedule" | "repair" | "system";
    id: string | null;
    name: string;
  } | null;
  reason: string | null;
  /** pages of the degraded run: with a saved page of the same URL, and others */
  pages: {
    paired: number;
    others: number;
  };
  fields: {
    field: string | null;
    old_rule: Json;
    /** null: none, see reason */
    new_rule: Json;
    confidence: number | null;
    reason: string | null;
    /** on up to 5 pages of the degraded run; of items, the number of records */
    values: {
      url: string;
      /** what the saved page gave */
      saved: Json;
      /** what the old rule gives on the page as it is now */
      before: Json;
      /** what the new rule gives there */
      after: Json;
    }[];
  }[];
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
    /** end of the lease; renewed while the worker is alive */
    lease_expires_at: string;
  } | null;
  waiting_for: {
    reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "data_quality" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
    until: string | null;
    /** a sentence for humans */
    message: string;
    last_failure: {
      failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
      failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
  /** a body for POST /jobs, without secrets */
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
    /** if the records of a run are worse than before: alert (the default), pause_schedule (alert, and pause the schedule), fail (alert, and the run fails; its records are kept); only for pages and crawls */
    on_degraded?: "alert" | "pause_schedule" | "fail";
    fixtures?: number | null;
    /** if the rules of a run broke by a change of the pages: accept a repair that is beyond doubt, and read the pages of the run again (default: false); only for pages and crawls */
    auto_repair?: boolean;
    /** channels to notify about this job, besides those whose rules match */
    notify?: {
      /** id or name of a notification channel */
      channel: string;
      /** absent: all but run_completed and run_cancelled */
      types?: ("run_failed" | "run_partial" | "run_completed" | "run_cancelled" | "waiting_for_human" | "extraction_degraded" | "repair_proposed" | "repair_accepted" | "monitor_changed" | "breaker_open" | "worker_lost" | "crash_loop" | "disk_low" | "disk_budget" | "channel_failing")[];
    }[];
    /** with http and api_replay: after a block or a page that is empty without JavaScript, the next attempt uses a browser; no effect with auto */
    escalate?: boolean;
    respect_robots?: boolean;
    /** false: a document, such as a PDF or an Office file, is not read and fails as not_html (default: true) */
    documents?: boolean;
    timeout_seconds?: number | null;
    session_id?: string | null;
    proxy?: string | null;
    /** the request for strategy api_replay: {request, items, pagination}; docs/jobs.md describes it */
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
      /** contents of the document; default: markdown. A screenshot needs a browser */
      formats?: ("markdown" | "html" | "raw_html" | "links" | "images" | "screenshot" | "screenshot_full")[];
      /** html and markdown without navigation and advertisements; default: true */
      only_main_content?: boolean;
      /** CSS selectors: keep only matching elements */
      include_tags?: string[];
      /** CSS selectors: remove matching elements */
      exclude_tags?: string[];
    } | null;
    browser?: {
      wait_for?: string | null;
      /** do not load images, fonts and media */
      block_resources?: boolean;
      wait_ms?: number | null;
      /** emulate a phone: window size, touch screen and user agent */
      mobile?: boolean;
      /** actions on the page before it is read, in this order; see docs/documents.md */
      actions?: {
        type: "wait" | "click" | "write" | "press" | "scroll" | "scroll_to_end" | "screenshot" | "scrape";
        /** wait: duration */
        milliseconds?: number;
        /** click: element to click; wait: element to wait for; scroll and scroll_to_end: element to scroll (default: the page) */
        selector?: string;
        /** click: all matching elements, not only the first */
        all?: boolean;
        /** write: text to type into the focused element */
        text?: string;
        /** write: store the text encrypted and show it as ***, for passwords */
        secret?: boolean;
        /** press: key, such as Enter or Control+A */
        key?: string;
        /** scroll: direction */
        direction?: "up" | "down";
        /** scroll: pixels; default: the height of the window */
        amount?: number;
        /** scroll_to_end: maximum number of steps; default: 100 */
        max_steps?: number;
        /** scroll_to_end: maximum seconds, within the time limit of the page; default: 60 */
        max_seconds?: number;
        /** screenshot: the whole page */
        full_page?: boolean;
      }[];
    } | null;
    monitor?: {
      /** what is compared (default: text) */
      what?: "text" | "markdown" | "fields" | "links" | "screenshot";
      /** /regular expressions/ and CSS selectors of what does not count; of fields: names of fields */
      ignore?: string[];
      /** what never counts: dates, counters, ids (default: all of them) */
      noise?: ("dates" | "counters" | "ids")[];
      /** leave out what a page changes on its own (default: true) */
      learn?: boolean;
      /** places that count although they change on their own: as a change names them in ignored, or /regular expressions/ of their names or lines */
      watch?: string[];
      /** fewer changed words are no change */
      min_words?: number;
      min_share?: number | null;
      key?: string | null;
      /** changes to keep (default: 1000) */
      keep?: number;
    } | null;
    crawl?: {
      /** pages, feeds (RSS, Atom, JSON), sitemaps or lists of URLs */
      url?: string | string[];
      /** several start URLs; set either this or url */
      urls?: string[];
      /** maximum link hops from a start URL; 0: only the start URLs */
      max_depth?: number;
      max_pages?: number;
      timeout_minutes?: number;
      max_concurrent_articles?: number;
      /** retries after the first attempt */
      retry_attempts?: number;
      /** maximum attempts, as in jobs: retry_attempts + 1; set only one of the two */
      max_attempts?: number;
      /** false: a run with failed or missing pages counts as failed */
      partial_results_ok?: boolean;
      /** only follow and read matching pages, such as /blog/**; start URLs are always followed */
      include?: string[];
      /** skip matching pages; overrides the other patterns */
      exclude?: string[];
      /** pages to follow in addition to include or read, such as /page/**; they give no records. Alone, it works like include */
      follow?: string[];
      /** only matching pages give records; without include and follow, every page of the site is followed */
      read?: string[];
      same_site?: boolean;
      /** with same_site: limit the crawl to the site (with subdomains), the host, or the path of the start URL */
      stay_within?: "site" | "host" | "path";
      /** what the crawl looks for, in words or a sentence: the most promising links are fetched first, by their text, address and surroundings */
      goal?: string;
      /** with goal: end the crawl when hardly any of the last 50 pages was relevant */
      stop_when_saturated?: boolean;
      /** false: fetch only the start URLs and pages listed in sitemaps */
      follow_links?: boolean;
      /** follow links to PDF, Word, Excel, PowerPoint, OpenDocument, EPUB, RTF and CSV files, and read them; default: true, but false with fields, items or extract */
      documents?: boolean;
      /** delay between two pages of this crawl; pages are then fetched one at a time */
      delay_seconds?: number;
      /** also start from the pages listed in the site's sitemaps */
      use_sitemap?: boolean;
      /** for a saved crawl: return only pages that are new or changed since the previous run */
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
        /** contents of the document; default: markdown. A screenshot needs a browser */
        formats?: ("markdown" | "html" | "raw_html" | "links" | "images" | "screenshot" | "screenshot_full")[];
        /** html and markdown without navigation and advertisements; default: true */
        only_main_content?: boolean;
        /** CSS selectors: keep only matching elements */
        include_tags?: string[];
        /** CSS selectors: remove matching elements */
        exclude_tags?: string[];
      } | null;
      browser?: {
        wait_for?: string | null;
        /** do not load images, fonts and media */
        block_resources?: boolean;
        wait_ms?: number | null;
        /** emulate a phone: window size, touch screen and user agent */
        mobile?: boolean;
        /** actions on the page before it is read, in this order; see docs/documents.md */
        actions?: {
          type: "wait" | "click" | "write" | "press" | "scroll" | "scroll_to_end" | "screenshot" | "scrape";
          /** wait: duration */
          milliseconds?: number;
          /** click: element to click; wait: element to wait for; scroll and scroll_to_end: element to scroll (default: the page) */
          selector?: string;
          /** click: all matching elements, not only the first */
          all?: boolean;
          /** write: text to type into the focused element */
          text?: string;
          /** write: store the text encrypted and show it as ***, for passwords */
          secret?: boolean;
          /** press: key, such as Enter or Control+A */
          key?: string;
          /** scroll: direction */
          direction?: "up" | "down";
          /** scroll: pixels; default: the height of the window */
          amount?: number;
          /** scroll_to_end: maximum number of steps; default: 100 */
          max_steps?: number;
          /** scroll_to_end: maximum seconds, within the time limit of the page; default: 60 */
          max_seconds?: number;
          /** screenshot: the whole page */
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
  /** names of the headers it sent; values are not shown */
  header_names: string[];
  /** names of the cookies it sent; values are not shown */
  cookie_names: string[];
};

export type JobVersion = {
  /** from 1; the newest is the job as it is */
  version: number;
  /** UTC, ISO 8601 */
  made_at: string;
  made_by: {
    kind: "key" | "person" | "token" | "local" | "schedule" | "repair" | "system";
    id: string | null;
    name: string;
  } | null;
  /** which program made the change, as it names itself; repair: an accepted repair, upgrade: the job was there before versions were kept */
  author: "api" | "cli" | "dashboard" | "mcp" | "library" | "repair" | "upgrade";
  restored_version: number | null;
  /** the job in this version, without the values of headers and cookies */
  definition: {
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
    /** if the records of a run are worse than before: alert (the default), pause_schedule (alert, and pause the schedule), fail (alert, and the run fails; its records are kept); only for pages and crawls */
    on_degraded: "alert" | "pause_schedule" | "fail";
    fixtures: number | null;
    /** if the rules of a run broke by a change of the pages: accept a repair that is beyond doubt, and read the pages of the run again (default: false); only for pages and crawls */
    auto_repair: boolean;
    /** channels to notify about this job, besides those whose rules match */
    notify: {
      /** id or name of a notification channel */
      channel: string;
      /** absent: all but run_completed and run_cancelled */
      types?: ("run_failed" | "run_partial" | "run_completed" | "run_cancelled" | "waiting_for_human" | "extraction_degraded" | "repair_proposed" | "repair_accepted" | "monitor_changed" | "breaker_open" | "worker_lost" | "crash_loop" | "disk_low" | "disk_budget" | "channel_failing")[];
    }[];
    /** with http and api_replay: after a block or a page that is empty without JavaScript, the next attempt uses a browser; no effect with auto */
    escalate: boolean;
    respect_robots: boolean;
    /** false: a document, such as a PDF or an Office file, is not read and fails as not_html (default: true) */
    documents: boolean;
    timeout_seconds: number | null;
    session_id: string | null;
    proxy: string | null;
    /** the request for strategy api_replay: {request, items, pagination}; docs/jobs.md describes it */
    replay: Json;
    kind: "page" | "crawl" | "workflow";
    target_url: string | null;
    schedule: {
      cron: string;
      timezone: string | null;
      overlap: "skip" | "queue" | "cancel";
      missed: "skip" | "run_once";
      jitter_seconds: number;
    } | null;
    document: {
      /** contents of the document; default: markdown. A screenshot needs a browser */
      formats: ("markdown" | "html" | "raw_html" | "links" | "images" | "screenshot" | "screenshot_full")[];
      /** html and markdown without navigation and advertisements; default: true */
      only_main_content: boolean;
      /** CSS selectors: keep only matching elements */
      include_tags: string[];
      /** CSS selectors: remove matching elements */
      exclude_tags: string[];
    } | null;
    browser: {
      wait_for: string | null;
      /** do not load images, fonts and media */
      block_resources: boolean;
      wait_ms: number | null;
      /** emulate a phone: window size, touch screen and user agent */
      mobile: boolean;
      /** actions on the page before it is read, in this order; see docs/documents.md */
      actions: {
        type: "wait" | "click" | "write" | "press" | "scroll" | "scroll_to_end" | "screenshot" | "scrape";
        /** wait: duration */
        milliseconds?: number;
        /** click: element to click; wait: element to wait for; scroll and scroll_to_end: element to scroll (default: the page) */
        selector?: string;
        /** click: all matching elements, not only the first */
        all?: boolean;
        /** write: text to type into the focused element */
        text?: string;
        /** write: store the text encrypted and show it as ***, for passwords */
        secret?: boolean;
        /** press: key, such as Enter or Control+A */
        key?: string;
        /** scroll: direction */
        direction?: "up" | "down";
        /** scroll: pixels; default: the height of the window */
        amount?: number;
        /** scroll_to_end: maximum number of steps; default: 100 */
        max_steps?: number;
        /** scroll_to_end: maximum seconds, within the time limit of the page; default: 60 */
        max_seconds?: number;
        /** screenshot: the whole page */
        full_page?: boolean;
      }[];
    } | null;
    header_names: string[];
    cookie_names: string[];
    monitor: {
      /** what is compared (default: text) */
      what: "text" | "markdown" | "fields" | "links" | "screenshot";
      /** /regular expressions/ and CSS selectors of what does not count; of fields: names of fields */
      ignore: string[];
      /** what never counts: dates, counters, ids (default: all of them) */
      noise: ("dates" | "counters" | "ids")[];
      /** leave out what a page changes on its own (default: true) */
      learn: boolean;
      /** places that count although they change on their own: as a change names them in ignored, or /regular expressions/ of their names or lines */
      watch: string[];
      /** fewer changed words are no change */
      min_words: number;
      min_share: number | null;
      key: string | null;
      /** changes to keep (default: 1000) */
      keep: number;
    } | null;
    crawl: {
      /** pages, feeds (RSS, Atom, JSON), sitemaps or lists of URLs */
      url: string | string[];
      /** maximum link hops from a start URL; 0: only the start URLs */
      max_depth: number;
      max_pages: number;
      timeout_minutes: number;
      max_concurrent_articles: number;
      /** retries after the first attempt */
      retry_attempts: number;
      /** maximum attempts, as in jobs: retry_attempts + 1; set only one of the two */
      max_attempts: number;
      /** false: a run with failed or missing pages counts as failed */
      partial_results_ok: boolean;
      /** only follow and read matching pages, such as /blog/**; start URLs are always followed */
      include: string[];
      /** skip matching pages; overrides the other patterns */
      exclude: string[];
      /** pages to follow in addition to include or read, such as /page/**; they give no records. Alone, it works like include */
      follow: string[];
      /** only matching pages give records; without include and follow, every page of the site is followed */
      read: string[];
      same_site: boolean;
      /** with same_site: limit the crawl to the site (with subdomains), the host, or the path of the start URL */
      stay_within: "site" | "host" | "path";
      /** what the crawl looks for, in words or a sentence: the most promising links are fetched first, by their text, address and surroundings */
      goal: string;
      /** with goal: end the crawl when hardly any of the last 50 pages was relevant */
      stop_when_saturated: boolean;
      /** false: fetch only the start URLs and pages listed in sitemaps */
      follow_links: boolean;
      /** follow links to PDF, Word, Excel, PowerPoint, OpenDocument, EPUB, RTF and CSV files, and read them; default: true, but false with fields, items or extract */
      documents: boolean;
      /** delay between two pages of this crawl; pages are then fetched one at a time */
      delay_seconds: number;
      /** also start from the pages listed in the site's sitemaps */
      use_sitemap: boolean;
      /** for a saved crawl: return only pages that are new or changed since the previous run */
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
        /** contents of the document; default: markdown. A screenshot needs a browser */
        formats: ("markdown" | "html" | "raw_html" | "links" | "images" | "screenshot" | "screenshot_full")[];
        /** html and markdown without navigation and advertisements; default: true */
        only_main_content: boolean;
        /** CSS selectors: keep only matching elements */
        include_tags: string[];
        /** CSS selectors: remove matching elements */
        exclude_tags: string[];
      } | null;
      browser: {
        wait_for: string | null;
        /** do not load images, fonts and media */
        block_resources: boolean;
        wait_ms: number | null;
        /** emulate a phone: window size, touch screen and user agent */
        mobile: boolean;
        /** actions on the page before it is read, in this order; see docs/documents.md */
        actions: {
          type: "wait" | "click" | "write" | "press" | "scroll" | "scroll_to_end" | "screenshot" | "scrape";
          /** wait: duration */
          milliseconds?: number;
          /** click: element to click; wait: element to wait for; scroll and scroll_to_end: element to scroll (default: the page) */
          selector?: string;
          /** click: all matching elements, not only the first */
          all?: boolean;
          /** write: text to type into the focused element */
          text?: string;
          /** write: store the text encrypted and show it as ***, for passwords */
          secret?: boolean;
          /** press: key, such as Enter or Control+A */
          key?: string;
          /** scroll: direction */
          direction?: "up" | "down";
          /** scroll: pixels; default: the height of the window */
          amount?: number;
          /** scroll_to_end: maximum number of steps; default: 100 */
          max_steps?: number;
          /** scroll_to_end: maximum seconds, within the time limit of the page; default: 60 */
          max_seconds?: number;
          /** screenshot: the whole page */
          full_page?: boolean;
        }[];
      } | null;
      /** names of the headers it sends; values are not shown */
      header_names: string[];
    } | null;
    workflow: {
      definition?: Record<string, Json> | null;
      template?: string | null;
      template_version?: number | null;
      params?: Record<string, Json> | null;
    } | null;
  };
  compared_with: number | null;
  /** what the version changed */
  changes: {
    /** such as fields.price.css; credentials: a secret value changed */
    path: string;
    before: Json;
    after: Json;
  }[];
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
  /** the user agent whose rules apply */
  user_agent: string;
  /** the stored copies; empty: not fetched yet */
  origins: {
    origin: string;
    /** UTC, ISO 8601 */
    fetched_at: string;
    /** the original text; empty: there is none, so everything is allowed */
    text: string;
    crawl_delay_seconds: number | null;
    sitemaps: string[];
    /** the rules that apply to us: the first match decides */
    rules: string[];
    allowed: boolean | null;
  }[];
};

export type CrawlHealth = {
  /** false: see problems */
  healthy: boolean;
  problems: string[];
  /** every degraded part, named as in GET /ready, and since when */
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
  /** at most 100 sites with an open circuit, the longest remaining time first */
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
  /** period of the counts and rates, at most five minutes */
  window_seconds: number;
  uptime_seconds: number;
};

export type ProxyRefresh = {
  job_id: string;
  status: "dispatched" | "processing" | "complete" | "failed";
  total: number;
  total_chunks: number;
  completed_chunks: number;
  /** proxies found to be usable */
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
    /** a sentence for humans: what it waits for, and why that takes time */
    message: string;
    last_failure: {
      failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
      failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
  failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal" | null;
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
    failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal" | null;
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
    /** in flight, within the limits of the site */
    running: number;
    /** failed, with a retry scheduled */
    retrying: number;
    completed: number;
    failed: number;
    /** all known sites */
    sites: number;
    active_sites: number;
    waiting_sites: number;
    paused_sites: number;
    blocked_sites: number;
    /** successful pages in the last one to two minutes */
    pages_per_second: number;
    error_rate: number | null;
  };
  /** up to 50 sites with open work, the busiest first */
  sites: {
    site: string;
    group: string | null;
    /** paused by an operator; blocked: its circuit is open; idle: no open work */
    state: "active" | "waiting" | "paused" | "blocked" | "idle";
    /** pages of all stored runs */
    counts: {
      queued: number;
      /** in flight, within the limits of the site */
      running: number;
      /** failed, with a retry scheduled */
      retrying: number;
      completed: number;
      failed: number;
    };
    /** successful pages in the last one to two minutes */
    pages_per_second: number;
    error_rate: number | null;
    waiting_for: {
      reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "data_quality" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
      until: string | null;
      /** a sentence for humans */
      message: string;
      last_failure: {
        failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
        failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
      failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
  /** index of the first step that has not ended; for a failed workflow, of the step to recover from */
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
    reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "data_quality" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
    until: string | null;
    /** a sentence for humans */
    message: string;
    last_failure: {
      failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
      failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
      /** a sentence for humans: what it waits for, and why that takes time */
      message: string;
      last_failure: {
        failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
        failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
    failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal" | null;
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
  /** Accept degraded runs: later runs are compared only with them */
  "post /jobs/{job_id}/health/accept": {
    params: {
      job_id: string;
    };
    query: {
      runs?: number;
      field?: string;
    };
    body: undefined;
    answer: JobHealth;
  };
  /** Accept the open repair proposal: the job gets the new rules as a new version */
  "post /jobs/{job_id}/repair/accept": {
    params: {
      job_id: string;
    };
    query: {
      number?: number;
      reread?: boolean;
    };
    body: undefined;
    answer: JobRepair;
  };
  /** Add one or several items; items whose artifact_id already exists are not changed */
  "post /queue/items": {
    params: undefined;
    query: undefined;
    body: {
      /** your own id of the item; unique in the queue */
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
        /** your own id of the item; unique in the queue */
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
  /** Cancel a crawl; its results stay readable */
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
      /** the first 100 start URLs of a crawl (of url_count); GET /jobs/runs/{run_id}/recipe has all of them */
      urls: string[];
      /** number of start URLs */
      url_count: number;
      status: "pending" | "running" | "paused" | "waiting_for_human" | "recovering" | "completed" | "partial" | "failed" | "cancelled";
      /** percent of the known pages; never decreases, 100 only at the end; for a cancelled crawl, the last value */
      progress: number;
      /** known pages: the sum of the counts below */
      total_items: number;
      /** maximum pages to fetch */
      max_pages: number;
      /** queued, or waiting for the next attempt */
      queued_items: number;
      /** part of queued_items: failed, with a retry scheduled */
      retrying_items: number;
      /** in flight */
      running_items: number;
      /** fetched */
      completed_items: number;
      /** failed after all attempts */
      failed_items: number;
      /** skipped, because another page of the crawl is the same */
      skipped_items: number;
      /** not done when the crawl was cancelled or reached its time limit */
      cancelled_items: number;
      /** part of completed_items: unchanged since the previous run of the job */
      unchanged_items: number;
      /** redirected to a sign-in page, which was fetched or skipped; their records have a warning */
      sign_in_items: number;
      /** part of completed_items: fetched only for their links (follow, read), without records */
      followed_items: number;
      /** URLs that a crawl found but did not fetch, by reason, each counted once per worker; depth and page_limit are lower bounds */
      skipped: {
        /** not matched by include, follow or read */
        not_included?: number;
        /** matched by exclude */
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
        /** files, by their extension */
        file?: number;
        /** look like an endless calendar, filter or loop */
        trap?: number;
        /** URLs that are too long */
        too_long?: number;
      };
      /** probable mistakes in the settings */
      warnings: {
        code: "pagination_cut" | "sign_in" | "document_incomplete";
        /** what happened, an example, and what to do */
        message: string;
        /** pagination_cut: the option that excluded the link */
        option?: "include" | "follow" | "exclude";
        patterns?: string[];
        /** the excluded link */
        url?: string;
        found_on?: string;
        follow?: string | null;
      }[];
      changes: {
        compared_with: string | null;
        new: number;
        changed: number;
        unchanged: number;
        /** answered 404 or 410, or no longer linked in a complete crawl */
        gone: number;
        unknown: number | null;
      } | null;
      /** completed pages divided by completed and failed pages */
      success_rate: number;
      /** total running time, also before it was reopened; waiting and pauses do not count */
      duration_seconds: number;
      time_remaining_seconds: number | null;
      /** ended pages per second of running time, since the start */
      pages_per_second: number;
      errors: {
        timeout: number;
        connection: number;
        general: number;
      };
      goal: {
        text: string;
        /** pages compared with the goal */
        pages_read: number;
        /** part of pages_read: at least half as relevant as the best page then */
        relevant_pages: number;
        /** of the most relevant page */
        best_relevance: number;
      } | null;
      end_reason: "exhausted" | "limit_pages" | "limit_depth" | "limit_time" | "saturated" | "breaker_open" | "no_proxies" | null;
      /** as requested; orb crawl --resume writes its results in this format */
      export_format: "json" | "jsonl" | "csv" | "csv-excel" | "markdown" | "markdown-zip" | "parquet" | "warc";
      /** UTC, ISO 8601 */
      created_at: string;
      started_at: string | null;
      finished_at: string | null;
      expires_at: string | null;
      /** marked to be kept: exempt from retention */
      kept: boolean;
      keep_runs: number | null;
      message: string | null;
      waiting_for: {
        reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "data_quality" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
        until: string | null;
        /** a sentence for humans */
        message: string;
        last_failure: {
          failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
          failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
  /** Cancel a run: no request starts later than a second after the response */
  "post /jobs/runs/{run_id}/cancel": {
    params: {
      run_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Run;
  };
  /** Cancel a workflow and its child runs; cannot be undone */
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
      /** index of the first step that has not ended; for a failed workflow, of the step to recover from */
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
        reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "data_quality" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
        until: string | null;
        /** a sentence for humans */
        message: string;
        last_failure: {
          failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
          failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
  /** Update a job; running runs keep the old settings */
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
      /** if the records of a run are worse than before: alert (the default), pause_schedule (alert, and pause the schedule), fail (alert, and the run fails; its records are kept); only for pages and crawls */
      on_degraded?: "alert" | "pause_schedule" | "fail";
      fixtures?: number | null;
      /** if the rules of a run broke by a change of the pages: accept a repair that is beyond doubt, and read the pages of the run again (default: false); only for pages and crawls */
      auto_repair?: boolean;
      /** channels to notify about this job, besides those whose rules match */
      notify?: {
        /** id or name of a notification channel */
        channel: string;
        /** absent: all but run_completed and run_cancelled */
        types?: ("run_failed" | "run_partial" | "run_completed" | "run_cancelled" | "waiting_for_human" | "extraction_degraded" | "repair_proposed" | "repair_accepted" | "monitor_changed" | "breaker_open" | "worker_lost" | "crash_loop" | "disk_low" | "disk_budget" | "channel_failing")[];
      }[];
      /** with http and api_replay: after a block or a page that is empty without JavaScript, the next attempt uses a browser; no effect with auto */
      escalate?: boolean;
      respect_robots?: boolean;
      /** false: a document, such as a PDF or an Office file, is not read and fails as not_html (default: true) */
      documents?: boolean;
      timeout_seconds?: number | null;
      session_id?: string | null;
      proxy?: string | null;
      /** the request for strategy api_replay: {request, items, pagination}; docs/jobs.md describes it */
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
        /** contents of the document; default: markdown. A screenshot needs a browser */
        formats?: ("markdown" | "html" | "raw_html" | "links" | "images" | "screenshot" | "screenshot_full")[];
        /** html and markdown without navigation and advertisements; default: true */
        only_main_content?: boolean;
        /** CSS selectors: keep only matching elements */
        include_tags?: string[];
        /** CSS selectors: remove matching elements */
        exclude_tags?: string[];
      } | null;
      browser?: {
        wait_for?: string | null;
        /** do not load images, fonts and media */
        block_resources?: boolean;
        wait_ms?: number | null;
        /** emulate a phone: window size, touch screen and user agent */
        mobile?: boolean;
        /** actions on the page before it is read, in this order; see docs/documents.md */
        actions?: {
          type: "wait" | "click" | "write" | "press" | "scroll" | "scroll_to_end" | "screenshot" | "scrape";
          /** wait: duration */
          milliseconds?: number;
          /** click: element to click; wait: element to wait for; scroll and scroll_to_end: element to scroll (default: the page) */
          selector?: string;
          /** click: all matching elements, not only the first */
          all?: boolean;
          /** write: text to type into the focused element */
          text?: string;
          /** write: store the text encrypted and show it as ***, for passwords */
          secret?: boolean;
          /** press: key, such as Enter or Control+A */
          key?: string;
          /** scroll: direction */
          direction?: "up" | "down";
          /** scroll: pixels; default: the height of the window */
          amount?: number;
          /** scroll_to_end: maximum number of steps; default: 100 */
          max_steps?: number;
          /** scroll_to_end: maximum seconds, within the time limit of the page; default: 60 */
          max_seconds?: number;
          /** screenshot: the whole page */
          full_page?: boolean;
        }[];
      } | null;
      monitor?: {
        /** what is compared (default: text) */
        what?: "text" | "markdown" | "fields" | "links" | "screenshot";
        /** /regular expressions/ and CSS selectors of what does not count; of fields: names of fields */
        ignore?: string[];
        /** what never counts: dates, counters, ids (default: all of them) */
        noise?: ("dates" | "counters" | "ids")[];
        /** leave out what a page changes on its own (default: true) */
        learn?: boolean;
        /** places that count although they change on their own: as a change names them in ignored, or /regular expressions/ of their names or lines */
        watch?: string[];
        /** fewer changed words are no change */
        min_words?: number;
        min_share?: number | null;
        key?: string | null;
        /** changes to keep (default: 1000) */
        keep?: number;
      } | null;
      crawl?: {
        /** pages, feeds (RSS, Atom, JSON), sitemaps or lists of URLs */
        url?: string | string[];
        /** several start URLs; set either this or url */
        urls?: string[];
        /** maximum link hops from a start URL; 0: only the start URLs */
        max_depth?: number;
        max_pages?: number;
        timeout_minutes?: number;
        max_concurrent_articles?: number;
        /** retries after the first attempt */
        retry_attempts?: number;
        /** maximum attempts, as in jobs: retry_attempts + 1; set only one of the two */
        max_attempts?: number;
        /** false: a run with failed or missing pages counts as failed */
        partial_results_ok?: boolean;
        /** only follow and read matching pages, such as /blog/**; start URLs are always followed */
        include?: string[];
        /** skip matching pages; overrides the other patterns */
        exclude?: string[];
        /** pages to follow in addition to include or read, such as /page/**; they give no records. Alone, it works like include */
        follow?: string[];
        /** only matching pages give records; without include and follow, every page of the site is followed */
        read?: string[];
        same_site?: boolean;
        /** with same_site: limit the crawl to the site (with subdomains), the host, or the path of the start URL */
        stay_within?: "site" | "host" | "path";
        /** what the crawl looks for, in words or a sentence: the most promising links are fetched first, by their text, address and surroundings */
        goal?: string;
        /** with goal: end the crawl when hardly any of the last 50 pages was relevant */
        stop_when_saturated?: boolean;
        /** false: fetch only the start URLs and pages listed in sitemaps */
        follow_links?: boolean;
        /** follow links to PDF, Word, Excel, PowerPoint, OpenDocument, EPUB, RTF and CSV files, and read them; default: true, but false with fields, items or extract */
        documents?: boolean;
        /** delay between two pages of this crawl; pages are then fetched one at a time */
        delay_seconds?: number;
        /** also start from the pages listed in the site's sitemaps */
        use_sitemap?: boolean;
        /** for a saved crawl: return only pages that are new or changed since the previous run */
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
          /** contents of the document; default: markdown. A screenshot needs a browser */
          formats?: ("markdown" | "html" | "raw_html" | "links" | "images" | "screenshot" | "screenshot_full")[];
          /** html and markdown without navigation and advertisements; default: true */
          only_main_content?: boolean;
          /** CSS selectors: keep only matching elements */
          include_tags?: string[];
          /** CSS selectors: remove matching elements */
          exclude_tags?: string[];
        } | null;
        browser?: {
          wait_for?: string | null;
          /** do not load images, fonts and media */
          block_resources?: boolean;
          wait_ms?: number | null;
          /** emulate a phone: window size, touch screen and user agent */
          mobile?: boolean;
          /** actions on the page before it is read, in this order; see docs/documents.md */
          actions?: {
            type: "wait" | "click" | "write" | "press" | "scroll" | "scroll_to_end" | "screenshot" | "scrape";
            /** wait: duration */
            milliseconds?: number;
            /** click: element to click; wait: element to wait for; scroll and scroll_to_end: element to scroll (default: the page) */
            selector?: string;
            /** click: all matching elements, not only the first */
            all?: boolean;
            /** write: text to type into the focused element */
            text?: string;
            /** write: store the text encrypted and show it as ***, for passwords */
            secret?: boolean;
            /** press: key, such as Enter or Control+A */
            key?: string;
            /** scroll: direction */
            direction?: "up" | "down";
            /** scroll: pixels; default: the height of the window */
            amount?: number;
            /** scroll_to_end: maximum number of steps; default: 100 */
            max_steps?: number;
            /** scroll_to_end: maximum seconds, within the time limit of the page; default: 60 */
            max_seconds?: number;
            /** screenshot: the whole page */
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
      /** the version that you read; an update with it is rejected with 409 if the resource has changed since */
      version?: string;
    };
    answer: Job;
  };
  /** Change the name, role, limits or expiry of an API key; holds within a second */
  "patch /keys/{key_id}": {
    params: {
      key_id: string;
    };
    query: undefined;
    body: {
      name?: string;
      /** viewer reads, operator also starts and changes, admin does everything */
      role?: "viewer" | "operator" | "admin";
      jobs?: string[] | null;
      sites?: string[] | null;
      tags?: string[] | null;
      requests_per_minute?: number | null;
      expires_at?: string | null;
    };
    answer: Key;
  };
  /** Cancel, pause, resume or retry many runs by a filter; with dry_run only count them */
  "post /runs/bulk": {
    params: undefined;
    query: undefined;
    body: {
      /** retry-failed also recovers workflows */
      action: "cancel" | "pause" | "resume" | "retry-failed";
      /** the same filter as GET /runs; {}: all runs whose state allows the action */
      filter: {
        status?: ("queued" | "running" | "paused" | "waiting_for_human" | "recovering" | "completed" | "partial" | "failed" | "cancelled")[];
        kind?: "queue" | "page" | "crawl" | "workflow" | "download" | "proxy_refresh";
        site?: string;
        /** only runs of this job */
        job_id?: string;
        /** part of the name or URL (of the newest 10,000 runs), or the id of any run, or at least its first 8 characters */
        q?: string;
        /** none: only runs that no workflow started; the id of a workflow: only its child runs; any (default): all */
        parent?: string;
        /** created at this time or later */
        since?: string;
        /** created before this time */
        until?: string;
        /** only runs with these ids */
        run_ids?: string[];
      };
      /** `next` of an earlier response: limits the call to that run and older ones. After a dry run, this excludes runs created since; after an incomplete call, it continues with the remaining runs */
      from?: string;
      /** only count them */
      dry_run?: boolean;
    };
    answer: {
      /** runs that match the filter and whose state allows the action; 10000 means that many or more */
      matched: number;
      done: number;
      failed_count: number;
      /** the first 100 that could not be changed */
      failed: {
        run_id: string;
        code: string;
        detail: string;
      }[];
      /** remaining for the next call; one call changes at most 1000 */
      remaining: number;
      /** `from` of the next call (after dry_run: of the first call); null: nothing remains */
      next: string | null;
    };
  };
  /** Change the settings of a site, known or not; only the given keys change. Applies to running work within a second */
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
      /** sites whose work must finish before work on this site starts; cycles are rejected */
      depends_on?: string[];
      paused?: boolean;
      /** the version that you read; an update with it is rejected with 409 if the resource has changed since */
      version?: string;
    };
    answer: Site;
  };
  /** Change the metadata of a workflow: sets the given keys; null removes a key */
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
      /** index of the first step that has not ended; for a failed workflow, of the step to recover from */
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
        reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "data_quality" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
        until: string | null;
        /** a sentence for humans */
        message: string;
        last_failure: {
          failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
          failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
  /** Check whether the site still accepts the session */
  "post /sessions/{session_id}/check": {
    params: {
      session_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Session;
  };
  /** Close a live view; nothing is stored */
  "delete /live-views/{view_id}": {
    params: {
      view_id: string;
    };
    query: undefined;
    body: undefined;
    answer: null;
  };
  /** Add a notification channel */
  "post /notifications/channels": {
    params: undefined;
    query: undefined;
    body: {
      /** unique; can be used instead of the id */
      name: string;
      kind: "email" | "slack" | "discord" | "teams" | "telegram" | "ntfy" | "webhook" | "apprise";
      /** depends on the kind: GET /notifications/kinds lists them; secrets are never returned */
      settings: Record<string, unknown>;
      /** a notification that matches one of them is sent; [{}]: all but run_completed and run_cancelled (the default), []: only for jobs that name the channel */
      rules?: {
        /** absent: all but run_completed and run_cancelled */
        types?: ("run_failed" | "run_partial" | "run_completed" | "run_cancelled" | "waiting_for_human" | "extraction_degraded" | "repair_proposed" | "repair_accepted" | "monitor_changed" | "breaker_open" | "worker_lost" | "crash_loop" | "disk_low" | "disk_budget" | "channel_failing")[];
        min_severity?: "info" | "warning" | "error";
        /** jobs with one of these tags */
        tags?: string[];
        /** sites with their subdomains */
        sites?: string[];
        /** ids of jobs */
        jobs?: string[];
      }[];
      quiet_hours?: {
        /** local time, such as 22:00 */
        from: string;
        /** local time, such as 07:00 */
        to: string;
        /** such as Europe/Berlin (default: UTC) */
        timezone?: string;
        except?: "info" | "warning" | "error" | null;
      } | null;
      /** at most one message in this time (default: 0) */
      group_minutes?: number;
      /** default: true */
      enabled?: boolean;
    };
    answer: Channel;
  };
  /** Create a job */
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
      /** if the records of a run are worse than before: alert (the default), pause_schedule (alert, and pause the schedule), fail (alert, and the run fails; its records are kept); only for pages and crawls */
      on_degraded?: "alert" | "pause_schedule" | "fail";
      fixtures?: number | null;
      /** if the rules of a run broke by a change of the pages: accept a repair that is beyond doubt, and read the pages of the run again (default: false); only for pages and crawls */
      auto_repair?: boolean;
      /** channels to notify about this job, besides those whose rules match */
      notify?: {
        /** id or name of a notification channel */
        channel: string;
        /** absent: all but run_completed and run_cancelled */
        types?: ("run_failed" | "run_partial" | "run_completed" | "run_cancelled" | "waiting_for_human" | "extraction_degraded" | "repair_proposed" | "repair_accepted" | "monitor_changed" | "breaker_open" | "worker_lost" | "crash_loop" | "disk_low" | "disk_budget" | "channel_failing")[];
      }[];
      /** with http and api_replay: after a block or a page that is empty without JavaScript, the next attempt uses a browser; no effect with auto */
      escalate?: boolean;
      respect_robots?: boolean;
      /** false: a document, such as a PDF or an Office file, is not read and fails as not_html (default: true) */
      documents?: boolean;
      timeout_seconds?: number | null;
      session_id?: string | null;
      proxy?: string | null;
      /** the request for strategy api_replay: {request, items, pagination}; docs/jobs.md describes it */
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
        /** contents of the document; default: markdown. A screenshot needs a browser */
        formats?: ("markdown" | "html" | "raw_html" | "links" | "images" | "screenshot" | "screenshot_full")[];
        /** html and markdown without navigation and advertisements; default: true */
        only_main_content?: boolean;
        /** CSS selectors: keep only matching elements */
        include_tags?: string[];
        /** CSS selectors: remove matching elements */
        exclude_tags?: string[];
      } | null;
      browser?: {
        wait_for?: string | null;
        /** do not load images, fonts and media */
        block_resources?: boolean;
        wait_ms?: number | null;
        /** emulate a phone: window size, touch screen and user agent */
        mobile?: boolean;
        /** actions on the page before it is read, in this order; see docs/documents.md */
        actions?: {
          type: "wait" | "click" | "write" | "press" | "scroll" | "scroll_to_end" | "screenshot" | "scrape";
          /** wait: duration */
          milliseconds?: number;
          /** click: element to click; wait: element to wait for; scroll and scroll_to_end: element to scroll (default: the page) */
          selector?: string;
          /** click: all matching elements, not only the first */
          all?: boolean;
          /** write: text to type into the focused element */
          text?: string;
          /** write: store the text encrypted and show it as ***, for passwords */
          secret?: boolean;
          /** press: key, such as Enter or Control+A */
          key?: string;
          /** scroll: direction */
          direction?: "up" | "down";
          /** scroll: pixels; default: the height of the window */
          amount?: number;
          /** scroll_to_end: maximum number of steps; default: 100 */
          max_steps?: number;
          /** scroll_to_end: maximum seconds, within the time limit of the page; default: 60 */
          max_seconds?: number;
          /** screenshot: the whole page */
          full_page?: boolean;
        }[];
      } | null;
      monitor?: {
        /** what is compared (default: text) */
        what?: "text" | "markdown" | "fields" | "links" | "screenshot";
        /** /regular expressions/ and CSS selectors of what does not count; of fields: names of fields */
        ignore?: string[];
        /** what never counts: dates, counters, ids (default: all of them) */
        noise?: ("dates" | "counters" | "ids")[];
        /** leave out what a page changes on its own (default: true) */
        learn?: boolean;
        /** places that count although they change on their own: as a change names them in ignored, or /regular expressions/ of their names or lines */
        watch?: string[];
        /** fewer changed words are no change */
        min_words?: number;
        min_share?: number | null;
        key?: string | null;
        /** changes to keep (default: 1000) */
        keep?: number;
      } | null;
      crawl?: {
        /** pages, feeds (RSS, Atom, JSON), sitemaps or lists of URLs */
        url?: string | string[];
        /** several start URLs; set either this or url */
        urls?: string[];
        /** maximum link hops from a start URL; 0: only the start URLs */
        max_depth?: number;
        max_pages?: number;
        timeout_minutes?: number;
        max_concurrent_articles?: number;
        /** retries after the first attempt */
        retry_attempts?: number;
        /** maximum attempts, as in jobs: retry_attempts + 1; set only one of the two */
        max_attempts?: number;
        /** false: a run with failed or missing pages counts as failed */
        partial_results_ok?: boolean;
        /** only follow and read matching pages, such as /blog/**; start URLs are always followed */
        include?: string[];
        /** skip matching pages; overrides the other patterns */
        exclude?: string[];
        /** pages to follow in addition to include or read, such as /page/**; they give no records. Alone, it works like include */
        follow?: string[];
        /** only matching pages give records; without include and follow, every page of the site is followed */
        read?: string[];
        same_site?: boolean;
        /** with same_site: limit the crawl to the site (with subdomains), the host, or the path of the start URL */
        stay_within?: "site" | "host" | "path";
        /** what the crawl looks for, in words or a sentence: the most promising links are fetched first, by their text, address and surroundings */
        goal?: string;
        /** with goal: end the crawl when hardly any of the last 50 pages was relevant */
        stop_when_saturated?: boolean;
        /** false: fetch only the start URLs and pages listed in sitemaps */
        follow_links?: boolean;
        /** follow links to PDF, Word, Excel, PowerPoint, OpenDocument, EPUB, RTF and CSV files, and read them; default: true, but false with fields, items or extract */
        documents?: boolean;
        /** delay between two pages of this crawl; pages are then fetched one at a time */
        delay_seconds?: number;
        /** also start from the pages listed in the site's sitemaps */
        use_sitemap?: boolean;
        /** for a saved crawl: return only pages that are new or changed since the previous run */
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
          /** contents of the document; default: markdown. A screenshot needs a browser */
          formats?: ("markdown" | "html" | "raw_html" | "links" | "images" | "screenshot" | "screenshot_full")[];
          /** html and markdown without navigation and advertisements; default: true */
          only_main_content?: boolean;
          /** CSS selectors: keep only matching elements */
          include_tags?: string[];
          /** CSS selectors: remove matching elements */
          exclude_tags?: string[];
        } | null;
        browser?: {
          wait_for?: string | null;
          /** do not load images, fonts and media */
          block_resources?: boolean;
          wait_ms?: number | null;
          /** emulate a phone: window size, touch screen and user agent */
          mobile?: boolean;
          /** actions on the page before it is read, in this order; see docs/documents.md */
          actions?: {
            type: "wait" | "click" | "write" | "press" | "scroll" | "scroll_to_end" | "screenshot" | "scrape";
            /** wait: duration */
            milliseconds?: number;
            /** click: element to click; wait: element to wait for; scroll and scroll_to_end: element to scroll (default: the page) */
            selector?: string;
            /** click: all matching elements, not only the first */
            all?: boolean;
            /** write: text to type into the focused element */
            text?: string;
            /** write: store the text encrypted and show it as ***, for passwords */
            secret?: boolean;
            /** press: key, such as Enter or Control+A */
            key?: string;
            /** scroll: direction */
            direction?: "up" | "down";
            /** scroll: pixels; default: the height of the window */
            amount?: number;
            /** scroll_to_end: maximum number of steps; default: 100 */
            max_steps?: number;
            /** scroll_to_end: maximum seconds, within the time limit of the page; default: 60 */
            max_seconds?: number;
            /** screenshot: the whole page */
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
  /** Create an API key; the response is the only one that contains it */
  "post /keys": {
    params: undefined;
    query: undefined;
    body: {
      name: string;
      /** viewer reads, operator also starts and changes, admin does everything */
      role: "viewer" | "operator" | "admin";
      jobs?: string[] | null;
      sites?: string[] | null;
      tags?: string[] | null;
      requests_per_minute?: number | null;
      expires_at?: string | null;
    };
    answer: {
      id: string;
      name: string;
      /** the beginning of the key */
      prefix: string;
      /** viewer reads, operator also starts and changes, admin does everything */
      role: "viewer" | "operator" | "admin";
      jobs: string[] | null;
      sites: string[] | null;
      tags: string[] | null;
      requests_per_minute: number | null;
      status: "active" | "expired" | "revoked";
      /** UTC, ISO 8601 */
      created_at: string;
      created_by: {
        kind: "key" | "person" | "token" | "local" | "schedule" | "repair" | "system";
        id: string | null;
        name: string;
      } | null;
      expires_at: string | null;
      last_used_at: string | null;
      revoked_at: string | null;
      /** the key itself */
      key: string;
    };
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
      /** of this run; default: as in the definition */
      name?: string;
      /** false: create it without starting it */
      start?: boolean;
      metadata?: Record<string, unknown>;
    } | {
      /** of a definition that is the whole body */
      steps: unknown;
    } | string;
    answer: Workflow;
  };
  /** Delete a channel with its deliveries */
  "delete /notifications/channels/{channel_id}": {
    params: {
      channel_id: string;
    };
    query: undefined;
    body: undefined;
    answer: null;
  };
  /** Delete a saved page of a job */
  "delete /jobs/{job_id}/fixtures/{number}": {
    params: {
      job_id: string;
      number: number;
    };
    query: undefined;
    body: undefined;
    answer: null;
  };
  /** Delete a job, and its runs if requested */
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
  /** Delete a proxy */
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
  /** Delete many ended runs by a filter, in the background; with dry_run only count them */
  "post /runs/deletions": {
    params: undefined;
    query: undefined;
    body: {
      /** {}: all ended runs, except those marked to be kept. Child runs are deleted with their workflow */
      filter: {
        kind?: "queue" | "page" | "crawl" | "workflow" | "download" | "proxy_refresh";
        site?: string;
        /** only runs of this job */
        job_id?: string;
        /** part of the name or URL (of the newest 10,000 runs), or the id of any run, or at least its first 8 characters */
        q?: string;
        /** created at this time or later */
        since?: string;
        /** created before this time */
        until?: string;
        /** only runs with these ids */
        run_ids?: string[];
        /** only runs with this final status; runs that have not ended are never deleted: cancel them first */
        status?: ("completed" | "partial" | "failed" | "cancelled")[];
        /** only runs of jobs with this tag */
        tag?: string;
        /** only runs that ended before */
        ended_before?: string;
      };
      /** only count them */
      dry_run?: boolean;
    };
    answer: {
      matched: number;
    };
  };
  /** Delete a session */
  "delete /sessions/{session_id}": {
    params: {
      session_id: string;
    };
    query: undefined;
    body: undefined;
    answer: null;
  };
  /** Delete all saved versions of a template; a built-in template returns to its original version */
  "delete /workflows/templates/{name}": {
    params: {
      name: string;
    };
    query: undefined;
    body: undefined;
    answer: null;
  };
  /** Delete a workflow with its steps, its child runs, and all their files */
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
  /** Disable a proxy until it is enabled again */
  "post /proxies/{proxy_id}/disable": {
    params: {
      proxy_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Proxy;
  };
  /** Drain a worker: finish its tasks and accept no more */
  "post /workers/{id}/drain": {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: Worker;
  };
  /** Enable a disabled proxy */
  "post /proxies/{proxy_id}/enable": {
    params: {
      proxy_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Proxy;
  };
  /** Reset the learned strategy of a site; its next page is probed again */
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
  /** One channel, without its secrets */
  "get /notifications/channels/{channel_id}": {
    params: {
      channel_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Channel;
  };
  /** The concurrency limit of a concurrency key */
  "get /queue/concurrency-keys/{name}": {
    params: {
      name: string;
    };
    query: undefined;
    body: undefined;
    answer: ConcurrencyKey;
  };
  /** The configuration of this process, with secrets masked */
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
  /** The progress of a crawl */
  "get /scraping/tasks/{task_id}/status": {
    params: {
      task_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Crawl;
  };
  /** State of all crawls together */
  "get /scraping/status": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: CrawlHealth;
  };
  /** The progress of a deletion */
  "get /runs/deletions/{deletion_id}": {
    params: {
      deletion_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Deletion;
  };
  /** Whether the demo site is available on this server, and whether it runs */
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
  /** One change of a page, with its differences */
  "get /jobs/{job_id}/changes/{number}": {
    params: {
      job_id: string;
      number: number;
    };
    query: undefined;
    body: undefined;
    answer: JobChange;
  };
  /** The compared content before or after a change */
  "get /jobs/{job_id}/changes/{number}/{version}": {
    params: {
      job_id: string;
      number: number;
      version: "before" | "after";
    };
    query: undefined;
    body: undefined;
    answer: string;
  };
  /** Data quality of a job: each field of its runs, compared with earlier runs */
  "get /jobs/{job_id}/health": {
    params: {
      job_id: string;
    };
    query: {
      runs?: number;
      field?: string;
    };
    body: undefined;
    answer: JobHealth;
  };
  /** The newest repair proposal of a job */
  "get /jobs/{job_id}/repair": {
    params: {
      job_id: string;
    };
    query: undefined;
    body: undefined;
    answer: JobRepair;
  };
  /** One version of a job, and what it changed */
  "get /jobs/{job_id}/versions/{version}": {
    params: {
      job_id: string;
      version: number;
    };
    query: undefined;
    body: undefined;
    answer: JobVersion;
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
  /** One API key */
  "get /keys/{key_id}": {
    params: {
      key_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Key;
  };
  /** One live view */
  "get /live-views/{view_id}": {
    params: {
      view_id: string;
    };
    query: undefined;
    body: undefined;
    answer: LiveView;
  };
  /** Whether a token is required, whether the caller is logged in and as whom, and how to sign in */
  "get /session": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: Login;
  };
  /** Metrics for Prometheus */
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
  /** Who calls: the key or person, and their rights */
  "get /keys/me": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: OwnKey;
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
  /** The progress of a proxy check */
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
  /** Number of items by state, in total and per site */
  "get /queue/stats": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: QueueStats;
  };
  /** Whether everything the server needs is available */
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
  /** The settings of a run, as a body for a new job */
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
  /** The stored robots.txt of a site and the rules that apply to us; nothing is fetched */
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
  /** Successful and failed pages per second at the busiest sites in the last hour, as counted by this process */
  "get /sites/series": {
    params: undefined;
    query: {
      site?: string;
    };
    body: undefined;
    answer: Record<string, {
      step_seconds: number;
      first_at: string | null;
      /** one number per interval; null: not counted */
      good: (number | null)[];
      /** one number per interval; null: not counted */
      bad: (number | null)[];
    }>;
  };
  /** The progress of all sites together, and of each site with open work */
  "get /sites/progress": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: SitesProgress;
  };
  /** Disk usage of stored data, and its budget */
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
  /** The step with this engine task id (BullMQ job id), current or last used */
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
  /** One worker, with its current tasks */
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
  /** The progress of a workflow by step, and its remaining time */
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
  /** Import proxies, or a list of proxies at a URL; existing ones are not changed */
  "post /proxies": {
    params: undefined;
    query: undefined;
    body: {
      proxies: string[];
    } | {
      /** a list, one proxy per line */
      url: string;
    };
    answer: {
      added: number;
      existing: number;
      /** the first 1,000 errors */
      invalid: {
        index: number;
        message: string;
      }[];
      invalid_count: number;
    };
  };
  /** Exempt a run from retention: it is kept until you delete it */
  "post /jobs/runs/{run_id}/keep": {
    params: {
      run_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Run;
  };
  /** Learn rules from example values on pages; nothing is stored */
  "post /extract/learn": {
    params: undefined;
    query: undefined;
    body: {
      /** pages of one kind, such as products of a shop */
      pages: {
        url?: string;
        /** HTML of the page, instead of fetching it */
        html?: string;
        /** content type of html; default: text/html */
        content_type?: string;
        /** by field: the value as the page shows it, several for a list, or null if a page has none. If several fields have the same number of values, they are read as the first records of a list */
        examples?: Record<string, string | number | (string | number)[] | null>;
      }[];
      /** by field: the value as the page shows it, several for a list, or null if a page has none. If several fields have the same number of values, they are read as the first records of a list */
      examples?: Record<string, string | number | (string | number)[] | null>;
      /** whether each page is one record, or a list of them: then each field has the values of its first records. Absent: several fields with the same number of values are a list */
      records?: "one" | "list";
      strategy?: "auto" | "http" | "browser";
      timeout_seconds?: number;
      session_id?: string | null;
    };
    answer: {
      items: Record<string, Json> | null;
      /** the best rule for each field, in the format of a job */
      fields: Record<string, Record<string, Json>>;
      /** by field, the best one first */
      alternatives: Record<string, {
        rule: Record<string, Json>;
        /** expected stability when the page changes */
        score: number;
        /** its value on each page, or in each record */
        values: Json[];
      }[]>;
      /** extracted records by page, at most 20 each */
      records: Record<string, Json>[][];
      /** number of extracted records, by page */
      record_counts: number[];
      /** examples that were not found, and fields without a rule that finds all their examples */
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
      kind?: "breaker_open" | "worker_lost" | "crash_loop" | "run_failed" | "extraction_degraded" | "repair_proposed" | "repair_accepted" | "monitor_changed" | "disk_low" | "disk_budget" | "channel_failing" | "test";
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      id: string;
      kind: "breaker_open" | "worker_lost" | "crash_loop" | "run_failed" | "extraction_degraded" | "repair_proposed" | "repair_accepted" | "monitor_changed" | "disk_low" | "disk_budget" | "channel_failing" | "test";
      /** subject: a site, or the id of a run or worker */
      subject: string;
      message: string;
      /** depends on the kind; see docs/monitoring.md */
      detail: Json;
      /** UTC, ISO 8601 */
      created_at: string;
      /** off: no receiver is configured */
      delivery: "waiting" | "delivered" | "given_up" | "off";
      tries: number;
      next_try_at: string | null;
      last_error: string | null;
      delivered_at: string | null;
    }[];
  };
  /** Steps of all workflows, newest workflow first; ?status=retryable: those that a retry may fix */
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
  /** Who changed what, from where and when, newest first; with format, all of it as a file */
  "get /audit-log": {
    params: undefined;
    query: {
      actor?: string;
      actor_kind?: "key" | "person" | "token" | "local" | "schedule" | "repair" | "system";
      action?: string;
      object_kind?: string;
      object_id?: string;
      since?: string;
      until?: string;
      format?: "jsonl" | "csv";
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      seq: number;
      /** UTC, ISO 8601 */
      at: string;
      /** who did it */
      actor: {
        kind: "key" | "person" | "token" | "local" | "schedule" | "repair" | "system";
        id: string | null;
        name: string;
      };
      /** such as job.updated */
      action: string;
      object: {
        kind: string;
        id: string | null;
      };
      ip: string | null;
      request_id: string | null;
      /** the fields that differ, with secrets masked */
      changes: {
        path: string;
        before: Json;
        after: Json;
      }[];
    }[];
  };
  /** Kinds of channels, with their settings */
  "get /notifications/kinds": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      kind: "email" | "slack" | "discord" | "teams" | "telegram" | "ntfy" | "webhook" | "apprise";
      label: string;
      about: string;
      fields: {
        name: string;
        label: string;
        about: string;
        type: "text" | "url" | "integer" | "choice" | "list";
        required: boolean;
        secret: boolean;
        /** when it changes, secrets must be entered again */
        destination: boolean;
        example: string | null;
        choices: string[] | null;
        default: string | number | null;
      }[];
    }[];
  };
  /** Notification channels by name, without their secrets */
  "get /notifications/channels": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: Channel[];
  };
  /** The results of a crawl so far, oldest first; with format, all of them as a file */
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
      /** the first 100 start URLs of a crawl (of url_count); GET /jobs/runs/{run_id}/recipe has all of them */
      urls: string[];
      /** number of start URLs */
      url_count: number;
      status: "pending" | "running" | "paused" | "waiting_for_human" | "recovering" | "completed" | "partial" | "failed" | "cancelled";
      /** percent of the known pages; never decreases, 100 only at the end; for a cancelled crawl, the last value */
      progress: number;
      /** known pages: the sum of the counts below */
      total_items: number;
      /** maximum pages to fetch */
      max_pages: number;
      /** queued, or waiting for the next attempt */
      queued_items: number;
      /** part of queued_items: failed, with a retry scheduled */
      retrying_items: number;
      /** in flight */
      running_items: number;
      /** fetched */
      completed_items: number;
      /** failed after all attempts */
      failed_items: number;
      /** skipped, because another page of the crawl is the same */
      skipped_items: number;
      /** not done when the crawl was cancelled or reached its time limit */
      cancelled_items: number;
      /** part of completed_items: unchanged since the previous run of the job */
      unchanged_items: number;
      /** redirected to a sign-in page, which was fetched or skipped; their records have a warning */
      sign_in_items: number;
      /** part of completed_items: fetched only for their links (follow, read), without records */
      followed_items: number;
      /** URLs that a crawl found but did not fetch, by reason, each counted once per worker; depth and page_limit are lower bounds */
      skipped: {
        /** not matched by include, follow or read */
        not_included?: number;
        /** matched by exclude */
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
        /** files, by their extension */
        file?: number;
        /** look like an endless calendar, filter or loop */
        trap?: number;
        /** URLs that are too long */
        too_long?: number;
      };
      /** probable mistakes in the settings */
      warnings: {
        code: "pagination_cut" | "sign_in" | "document_incomplete";
        /** what happened, an example, and what to do */
        message: string;
        /** pagination_cut: the option that excluded the link */
        option?: "include" | "follow" | "exclude";
        patterns?: string[];
        /** the excluded link */
        url?: string;
        found_on?: string;
        follow?: string | null;
      }[];
      changes: {
        compared_with: string | null;
        new: number;
        changed: number;
        unchanged: number;
        /** answered 404 or 410, or no longer linked in a complete crawl */
        gone: number;
        unknown: number | null;
      } | null;
      /** completed pages divided by completed and failed pages */
      success_rate: number;
      /** total running time, also before it was reopened; waiting and pauses do not count */
      duration_seconds: number;
      time_remaining_seconds: number | null;
      /** ended pages per second of running time, since the start */
      pages_per_second: number;
      errors: {
        timeout: number;
        connection: number;
        general: number;
      };
      goal: {
        text: string;
        /** pages compared with the goal */
        pages_read: number;
        /** part of pages_read: at least half as relevant as the best page then */
        relevant_pages: number;
        /** of the most relevant page */
        best_relevance: number;
      } | null;
      end_reason: "exhausted" | "limit_pages" | "limit_depth" | "limit_time" | "saturated" | "breaker_open" | "no_proxies" | null;
      /** as requested; orb crawl --resume writes its results in this format */
      export_format: "json" | "jsonl" | "csv" | "csv-excel" | "markdown" | "markdown-zip" | "parquet" | "warc";
      /** UTC, ISO 8601 */
      created_at: string;
      started_at: string | null;
      finished_at: string | null;
      expires_at: string | null;
      /** marked to be kept: exempt from retention */
      kept: boolean;
      keep_runs: number | null;
      message: string | null;
      waiting_for: {
        reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "data_quality" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
        until: string | null;
        /** a sentence for humans */
        message: string;
        last_failure: {
          failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
          failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
  /** The last 100 deletions of many runs, newest first */
  "get /runs/deletions": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: Deletion[];
  };
  /** Notifications that were sent or wait, newest first */
  "get /notifications/deliveries": {
    params: undefined;
    query: {
      channel?: string;
      state?: "waiting" | "delivered" | "given_up";
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      id: string;
      channel_id: string;
      channel: string;
      /** the same in every channel and attempt */
      notification_id: string;
      message_id: string | null;
      type: "run_failed" | "run_partial" | "run_completed" | "run_cancelled" | "waiting_for_human" | "extraction_degraded" | "repair_proposed" | "repair_accepted" | "monitor_changed" | "breaker_open" | "worker_lost" | "crash_loop" | "disk_low" | "disk_budget" | "channel_failing" | "test";
      subject: string;
      message: string;
      job_id: string | null;
      job_name: string | null;
      site: string | null;
      run_id: string | null;
      state: "waiting" | "delivered" | "given_up";
      tries: number;
      next_try_at: string | null;
      last_error: string | null;
      /** UTC, ISO 8601 */
      created_at: string;
      delivered_at: string | null;
    }[];
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
      failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal" | null;
      attempts: {
        attempt: number;
        strategy: string;
        proxy: string | null;
        /** UTC, ISO 8601 */
        started_at: string;
        duration_ms: number;
        http_status: number | null;
        failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown" | null;
        failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal" | null;
      }[];
      /** UTC, ISO 8601 */
      created_at: string;
      completed_at: string | null;
    }[];
  };
  /** The events of a run, oldest or newest first */
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
      type: "run.created" | "run.started" | "run.completed" | "run.partial" | "run.failed" | "run.cancelled" | "run.paused" | "run.resumed" | "run.reopened" | "run.waiting_for_human" | "run.held" | "run.released" | "run.recovering" | "run.recovered" | "task.retry_scheduled" | "task.rate_limited" | "task.redirected" | "task.deferred" | "challenge.solution_rejected" | "strategy.resolved" | "strategy.escalated" | "site.rate_limited" | "circuit.opened" | "robots.overridden" | "sitemap.read" | "sitemap.not_found" | "sitemap.failed" | "feed.read" | "url_list.read" | "crawl.starts_added" | "crawl.start_moved" | "crawl.pagination_cut_off" | "workflow.step_started" | "workflow.step_completed" | "workflow.step_skipped" | "workflow.step_failed" | "extraction.degraded" | "repair.proposed" | "repair.accepted" | "monitor.changed" | "schedule.paused" | "webhook.failed" | "log.truncated" | "event.unknown";
      level: "info" | "warn" | "error";
      /** a sentence for humans; it may change: match `type` instead */
      message: string;
      meta: Record<string, Json>;
      /** UTC, ISO 8601 */
      created_at: string;
    }[];
  };
  /** Saved pages of a job, newest first */
  "get /jobs/{job_id}/fixtures": {
    params: {
      job_id: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      /** for DELETE /jobs/{job_id}/fixtures/{number} */
      number: number;
      url: string;
      /** UTC, ISO 8601 */
      fetched_at: string;
      run_id: string;
      content_type: string | null;
      bytes: number;
      records: number;
      /** stored encrypted: the page was fetched with credentials */
      encrypted: boolean;
    }[];
  };
  /** Places that the monitor of a job leaves out, by page */
  "get /jobs/{job_id}/ignored-places": {
    params: {
      job_id: string;
    };
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      url: string;
      places: {
        /** words: some words of a line; place: a place that changes on its own; shuffled: the order of a list */
        kind: "words" | "place" | "shuffled";
        /** its name, for monitor.watch */
        place: string;
        /** the first lines that the page showed there last */
        texts: string[];
      }[];
    }[];
  };
  /** The items that a completed step produced */
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
  /** Changes that the monitor of a job found, newest first */
  "get /jobs/{job_id}/changes": {
    params: {
      job_id: string;
    };
    query: {
      change?: "new" | "changed" | "removed";
      run_id?: string;
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      /** from 1, per job */
      number: number;
      run_id: string;
      url: string;
      change: "new" | "changed" | "removed";
      what: "text" | "markdown" | "fields" | "links" | "screenshot";
      /** UTC, ISO 8601 */
      found_at: string;
      previous_at: string | null;
      words_added: number;
      words_removed: number;
      /** changed words of all words; of a screenshot: pixels */
      share: number;
      summary: string | null;
    }[];
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
  /** The newest 100 versions of a job, newest first: every change of it is one */
  "get /jobs/{job_id}/versions": {
    params: {
      job_id: string;
    };
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      /** from 1; the newest is the job as it is */
      version: number;
      /** UTC, ISO 8601 */
      made_at: string;
      made_by: {
        kind: "key" | "person" | "token" | "local" | "schedule" | "repair" | "system";
        id: string | null;
        name: string;
      } | null;
      /** which program made the change, as it names itself; repair: an accepted repair, upgrade: the job was there before versions were kept */
      author: "api" | "cli" | "dashboard" | "mcp" | "library" | "repair" | "upgrade";
      restored_version: number | null;
    }[];
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
  /** API keys, newest first */
  "get /keys": {
    params: undefined;
    query: {
      revoked?: boolean;
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: Key[];
  };
  /** Lanes with open work, by name: their owner, their queued tasks, and why they wait */
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
      /** up to 5 sites with open work in the lane; empty for a step */
      sites: string[];
      counts: {
        queued: number;
        running: number;
        retrying: number;
      };
      /** number of runs with open work in the lane */
      runs: number;
      /** paused by an operator; blocked: its circuit is open; idle: no open work */
      state: "active" | "waiting" | "paused" | "blocked" | "idle";
      waiting_for: {
        reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "data_quality" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency" | "step_time" | "step_run" | "step_entries";
        until: string | null;
        /** a sentence for humans */
        message: string;
        last_failure: {
          failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
          failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
          message: string;
          http_status: number | null;
          url: string | null;
          attempt: number | null;
          max_attempts: number | null;
          next_try_at: string | null;
        } | null;
      } | null;
      /** true: a worker owns the lane, and no other works on it */
      owned: boolean;
      worker_id: string | null;
      oldest_queued_at: string | null;
    }[];
  };
  /** Live views that are open on this server */
  "get /live-views": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: LiveView[];
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
        /** *** replaces the user name and password */
        proxy: string;
        scheme: "http" | "https" | "socks5";
        host: string;
        port: number;
        has_credentials: boolean;
        state: "unchecked" | "usable" | "resting" | "disabled";
        /** success score; recent requests count most */
        score: number;
        latency_ms: number | null;
        successes: number;
        failures: number;
        /** responses in which a site blocked this proxy */
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
        /** end of the lease; renewed while the worker is alive */
        lease_expires_at: string;
      } | null;
      waiting_for: {
        reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "data_quality" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
        until: string | null;
        /** a sentence for humans */
        message: string;
        last_failure: {
          failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
          failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
  /** The records of a run, oldest first; with format, all of them as a streamed file */
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
      /** for a crawl: its crawl_id */
      run_id: string;
      /** the task that produced the record; in a crawl, the task of the page */
      task_id: string;
      url: string;
      data: Record<string, Json>;
      /** UTC, ISO 8601 */
      created_at: string;
    }[];
  };
  /** New, changed and gone pages of a run of a saved crawl, in this order */
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
  /** Failures of a run by reason, each with an example: scheduled retries first, then by frequency */
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
      failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
      class: "timeout" | "connection" | "general";
      count: number;
      /** failed: after all attempts; retrying: a retry is scheduled */
      status: "failed" | "retrying";
      /** whether a retry may fix the failure */
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
  /** The progress of a run per site, and why work waits */
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
        /** in flight, within the limits of the site and of the crawl */
        running: number;
        retrying: number;
        completed: number;
        failed: number;
        skipped: number;
      };
      waiting_for: {
        reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "data_quality" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
        until: string | null;
        /** a sentence for humans */
        message: string;
        last_failure: {
          failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
          failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
        failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
  /** All jobs with a schedule, newest first: their next times and past outcomes */
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
  /** Outcomes of the last 1,000 times of a schedule, newest first */
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
      /** the scheduled time, without jitter */
      at: string;
      /** for several missed times in a row: the last one */
      until: string;
      /** for several missed times in a row: their number */
      count: number;
      outcome: "started" | "missed" | "skipped" | "refused";
      run_id: string | null;
      message: string | null;
      /** UTC, ISO 8601 */
      noted_at: string;
    }[];
  };
  /** The step kinds, with the schema of their params */
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
  /** The workers, also those on standby, newest first */
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
      /** index of the first step that has not ended; for a failed workflow, of the step to recover from */
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
        reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "data_quality" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
        until: string | null;
        /** a sentence for humans */
        message: string;
        last_failure: {
          failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
          failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
  /** Log in with a key or the token; sets a cookie */
  "post /session": {
    params: undefined;
    query: undefined;
    body: {
      token: string;
    };
    answer: null;
  };
  /** Log out: the cookie becomes invalid */
  "delete /session": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: null;
  };
  /** Open a page to control by hand: of a run that waits for a person, or to sign in at */
  "post /live-views": {
    params: undefined;
    query: undefined;
    body: {
      /** a run of one page that waits for a person */
      run_id?: string;
      /** instead: a page to sign in at */
      url?: string;
      /** with url: emulate a phone */
      mobile?: boolean;
      proxy?: string | null;
      session_id?: string | null;
      /** record what is done as browser actions; never passwords */
      record?: boolean;
      name?: string | null;
      check_url?: string | null;
    };
    answer: LiveView;
  };
  /** Pause a run: finish tasks in flight and start no new ones */
  "post /jobs/runs/{run_id}/pause": {
    params: {
      run_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Run;
  };
  /** Pause a schedule: no runs start until it is resumed, and times in between do not count as missed */
  "post /schedules/{job_id}/pause": {
    params: {
      job_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Schedule;
  };
  /** Pause a site: no requests are sent until it is resumed */
  "post /sites/{site}/pause": {
    params: {
      site: string;
    };
    query: undefined;
    body: undefined;
    answer: Site;
  };
  /** Pause a workflow: finish running steps and start no new ones */
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
      /** index of the first step that has not ended; for a failed workflow, of the step to recover from */
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
        reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "data_quality" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
        until: string | null;
        /** a sentence for humans */
        message: string;
        last_failure: {
          failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
          failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
  /** Ping a worker, and wait up to five seconds for its response */
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
  /** Extract a page with these rules; nothing is stored */
  "post /extract/preview": {
    params: undefined;
    query: undefined;
    body: {
      url?: string;
      /** HTML of the page, instead of fetching it */
      html?: string;
      /** content type of html; default: text/html */
      content_type?: string;
      /** a document in Base64, such as a PDF, instead of fetching it */
      file?: string;
      /** name of file, such as prices.csv */
      file_name?: string;
      /** include the page in the response */
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
        /** do not load images, fonts and media */
        block_resources?: boolean;
        wait_ms?: number | null;
        /** emulate a phone: window size, touch screen and user agent */
        mobile?: boolean;
        /** actions on the page before it is read, in this order; see docs/documents.md */
        actions?: {
          type: "wait" | "click" | "write" | "press" | "scroll" | "scroll_to_end" | "screenshot" | "scrape";
          /** wait: duration */
          milliseconds?: number;
          /** click: element to click; wait: element to wait for; scroll and scroll_to_end: element to scroll (default: the page) */
          selector?: string;
          /** click: all matching elements, not only the first */
          all?: boolean;
          /** write: text to type into the focused element */
          text?: string;
          /** write: store the text encrypted and show it as ***, for passwords */
          secret?: boolean;
          /** press: key, such as Enter or Control+A */
          key?: string;
          /** scroll: direction */
          direction?: "up" | "down";
          /** scroll: pixels; default: the height of the window */
          amount?: number;
          /** scroll_to_end: maximum number of steps; default: 100 */
          max_steps?: number;
          /** scroll_to_end: maximum seconds, within the time limit of the page; default: 60 */
          max_seconds?: number;
          /** screenshot: the whole page */
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
      /** required fields and schemas that fail, with the values found instead */
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
      document_type: string | null;
      duration_ms: number;
    };
  };
  /** Preview the next times of a schedule */
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
        /** local times in the time zone, with their UTC offset */
        local: string;
      }[];
    };
  };
  /** Propose new rules for the broken fields of a job, from its newest degraded run; nothing is fetched */
  "post /jobs/{job_id}/repair": {
    params: {
      job_id: string;
    };
    query: undefined;
    body: undefined;
    answer: JobRepair;
  };
  /** Save a template; each change creates a new version, and runs keep the version they started with */
  "put /workflows/templates/{name}": {
    params: {
      name: string;
    };
    query: undefined;
    body: {
      /** name, steps, params, max_recovery_attempts: docs/workflows.md describes it */
      definition: Record<string, unknown>;
      /** the newest version that you read; rejected with 409 if there is a newer one */
      version?: number;
    } | {
      /** of a definition that is the whole body */
      steps: unknown;
    } | string;
    answer: Template;
  };
  /** Repeat the steps of a failed workflow that did not complete, or one step and those that depend on it */
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
      /** index of the first step that has not ended; for a failed workflow, of the step to recover from */
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
        reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "data_quality" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
        until: string | null;
        /** a sentence for humans */
        message: string;
        last_failure: {
          failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
          failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
  /** Check all proxies. If a check is already running, its run is returned */
  "post /proxies/refresh": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: ProxyRefresh;
  };
  /** Reject the open repair proposal */
  "post /jobs/{job_id}/repair/reject": {
    params: {
      job_id: string;
    };
    query: {
      number?: number;
    };
    body: undefined;
    answer: JobRepair;
  };
  /** Start a new run of the same workflow, optionally with other params or another definition */
  "post /workflows/{workflow_id}/rerun": {
    params: {
      workflow_id: string;
    };
    query: undefined;
    body: {
      /** override params of the same name */
      params?: Record<string, unknown>;
      definition?: Record<string, unknown> | null;
      start?: boolean;
      metadata?: Record<string, unknown>;
    } | null;
    answer: Workflow;
  };
  /** Reset the circuit breaker and rate limit waits of a site, and continue at once */
  "post /sites/{site}/reset-breaker": {
    params: {
      site: string;
    };
    query: undefined;
    body: undefined;
    answer: Site;
  };
  /** Resolve a run that waits for a person: continue with a session, or skip the page */
  "post /jobs/runs/{run_id}/resolve": {
    params: {
      run_id: string;
    };
    query: undefined;
    body: {
      /** continue with this session: id or name */
      session_id?: string;
      /** give up the page; the run fails as human_skipped */
      skip?: true;
    };
    answer: Run;
  };
  /** Restore a version of a job: its definition becomes a new version */
  "post /jobs/{job_id}/versions/{version}/restore": {
    params: {
      job_id: string;
      version: number;
    };
    query: undefined;
    body: undefined;
    answer: JobVersion;
  };
  /** Resume a paused run */
  "post /jobs/runs/{run_id}/resume": {
    params: {
      run_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Run;
  };
  /** Resume a paused schedule from its next time on */
  "post /schedules/{job_id}/resume": {
    params: {
      job_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Schedule;
  };
  /** Resume a paused site */
  "post /sites/{site}/resume": {
    params: {
      site: string;
    };
    query: undefined;
    body: undefined;
    answer: Site;
  };
  /** Resume a drained worker */
  "post /workers/{id}/resume": {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: Worker;
  };
  /** Resume a paused workflow */
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
      /** index of the first step that has not ended; for a failed workflow, of the step to recover from */
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
        reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "data_quality" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
        until: string | null;
        /** a sentence for humans */
        message: string;
        last_failure: {
          failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
          failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
  /** Retry failed items, of all sites or of one */
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
  /** Retry failed tasks, all or filtered; reopens an ended run */
  "post /jobs/runs/{run_id}/retry-failed": {
    params: {
      run_id: string;
    };
    query: undefined;
    body: {
      failure_code?: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
      failure_reason?: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
      /** the first 100 start URLs of a crawl (of url_count); GET /jobs/runs/{run_id}/recipe has all of them */
      urls: string[];
      /** number of start URLs of a crawl; 0 or 1 for other kinds */
      url_count: number;
      site: string | null;
      status: "queued" | "running" | "paused" | "waiting_for_human" | "recovering" | "completed" | "partial" | "failed" | "cancelled";
      /** increases each time an ended run is reopened */
      generation: number;
      attempt: number;
      max_attempts: number | null;
      requested_strategy: string | null;
      resolved_strategy: string | null;
      strategy_evidence: Record<string, Json> | null;
      failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown" | null;
      failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal" | null;
      error_message: string | null;
      message: string | null;
      waiting_for: {
        reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "data_quality" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
        until: string | null;
        /** a sentence for humans */
        message: string;
        last_failure: {
          failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
          failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
      /** percent; 100 at the end; for a cancelled run, the last value */
      progress: number;
      changes: {
        compared_with: string | null;
        new: number;
        changed: number;
        unchanged: number;
        /** answered 404 or 410, or no longer linked in a complete crawl */
        gone: number;
        unknown: number | null;
      } | null;
      monitor: {
        new: number;
        changed: number;
        removed: number;
      } | null;
      skipped: {
        /** not matched by include, follow or read */
        not_included?: number;
        /** matched by exclude */
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
        /** files, by their extension */
        file?: number;
        /** look like an endless calendar, filter or loop */
        trap?: number;
        /** URLs that are too long */
        too_long?: number;
      } | null;
      degraded: {
        field: string | null;
        /** docs/data-quality.md describes them */
        metric: "records" | "records_per_page" | "missing" | "coverage" | "class" | "distinct" | "range" | "length" | "digits";
        /** the median of earlier runs */
        before: number;
        now: number;
        /** of metric class: whose share that is */
        class?: "number" | "price" | "date" | "url" | "email" | "code" | "text" | "boolean" | "list" | "object";
        /** other metrics of the field that changed */
        also?: ("records" | "records_per_page" | "missing" | "coverage" | "class" | "distinct" | "range" | "length" | "digits")[];
        /** values of this run, cut */
        examples?: string[];
        /** URLs of pages of this run that show it */
        pages?: string[];
      }[] | null;
      /** probable mistakes in the settings */
      warnings: {
        code: "pagination_cut" | "sign_in" | "document_incomplete";
        /** what happened, an example, and what to do */
        message: string;
        /** pagination_cut: the option that excluded the link */
        option?: "include" | "follow" | "exclude";
        patterns?: string[];
        /** the excluded link */
        url?: string;
        found_on?: string;
        follow?: string | null;
      }[];
      started_by: {
        kind: "key" | "person" | "token" | "local" | "schedule" | "repair" | "system";
        id: string | null;
        name: string;
      } | null;
      /** UTC, ISO 8601 */
      created_at: string;
      started_at: string | null;
      finished_at: string | null;
      expires_at: string | null;
      /** marked to be kept: exempt from retention */
      kept: boolean;
      keep_runs: number | null;
      /** retried tasks */
      retried: number;
    };
  };
  /** Revoke an API key for ever, on every machine within a second; open streams end. It stays in the list */
  "delete /keys/{key_id}": {
    params: {
      key_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Key;
  };
  /** Store cookies and storage as a session, continue the run with it, and close the live view */
  "post /live-views/{view_id}/save": {
    params: {
      view_id: string;
    };
    query: undefined;
    body: {
      name?: string | null;
      check_url?: string | null;
    };
    answer: {
      session: {
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
        /** saved jobs that use it */
        jobs: {
          id: string;
          name: string | null;
          target_url: string | null;
        }[];
      };
      run: {
        id: string;
        job_id: string | null;
        parent: {
          run_id: string;
          task_id: string;
        } | null;
        kind: "queue" | "page" | "crawl" | "workflow" | "download" | "proxy_refresh";
        name: string | null;
        url: string | null;
        /** the first 100 start URLs of a crawl (of url_count); GET /jobs/runs/{run_id}/recipe has all of them */
        urls: string[];
        /** number of start URLs of a crawl; 0 or 1 for other kinds */
        url_count: number;
        site: string | null;
        status: "queued" | "running" | "paused" | "waiting_for_human" | "recovering" | "completed" | "partial" | "failed" | "cancelled";
        /** increases each time an ended run is reopened */
        generation: number;
        attempt: number;
        max_attempts: number | null;
        requested_strategy: string | null;
        resolved_strategy: string | null;
        strategy_evidence: Record<string, Json> | null;
        failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown" | null;
        failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal" | null;
        error_message: string | null;
        message: string | null;
        waiting_for: {
          reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "data_quality" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
          until: string | null;
          /** a sentence for humans */
          message: string;
          last_failure: {
            failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
            failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
        /** percent; 100 at the end; for a cancelled run, the last value */
        progress: number;
        changes: {
          compared_with: string | null;
          new: number;
          changed: number;
          unchanged: number;
          /** answered 404 or 410, or no longer linked in a complete crawl */
          gone: number;
          unknown: number | null;
        } | null;
        monitor: {
          new: number;
          changed: number;
          removed: number;
        } | null;
        skipped: {
          /** not matched by include, follow or read */
          not_included?: number;
          /** matched by exclude */
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
          /** files, by their extension */
          file?: number;
          /** look like an endless calendar, filter or loop */
          trap?: number;
          /** URLs that are too long */
          too_long?: number;
        } | null;
        degraded: {
          field: string | null;
          /** docs/data-quality.md describes them */
          metric: "records" | "records_per_page" | "missing" | "coverage" | "class" | "distinct" | "range" | "length" | "digits";
          /** the median of earlier runs */
          before: number;
          now: number;
          /** of metric class: whose share that is */
          class?: "number" | "price" | "date" | "url" | "email" | "code" | "text" | "boolean" | "list" | "object";
          /** other metrics of the field that changed */
          also?: ("records" | "records_per_page" | "missing" | "coverage" | "class" | "distinct" | "range" | "length" | "digits")[];
          /** values of this run, cut */
          examples?: string[];
          /** URLs of pages of this run that show it */
          pages?: string[];
        }[] | null;
        /** probable mistakes in the settings */
        warnings: {
          code: "pagination_cut" | "sign_in" | "document_incomplete";
          /** what happened, an example, and what to do */
          message: string;
          /** pagination_cut: the option that excluded the link */
          option?: "include" | "follow" | "exclude";
          patterns?: string[];
          /** the excluded link */
          url?: string;
          found_on?: string;
          follow?: string | null;
        }[];
        started_by: {
          kind: "key" | "person" | "token" | "local" | "schedule" | "repair" | "system";
          id: string | null;
          name: string;
        } | null;
        /** UTC, ISO 8601 */
        created_at: string;
        started_at: string | null;
        finished_at: string | null;
        expires_at: string | null;
        /** marked to be kept: exempt from retention */
        kept: boolean;
        keep_runs: number | null;
      } | null;
      /** what was done so far, as browser actions; only with record */
      actions: {
        type: "wait" | "click" | "write" | "press" | "scroll" | "scroll_to_end" | "screenshot" | "scrape";
        /** wait: duration */
        milliseconds?: number;
        /** click: element to click; wait: element to wait for; scroll and scroll_to_end: element to scroll (default: the page) */
        selector?: string;
        /** click: all matching elements, not only the first */
        all?: boolean;
        /** write: text to type into the focused element */
        text?: string;
        /** write: store the text encrypted and show it as ***, for passwords */
        secret?: boolean;
        /** press: key, such as Enter or Control+A */
        key?: string;
        /** scroll: direction */
        direction?: "up" | "down";
        /** scroll: pixels; default: the height of the window */
        amount?: number;
        /** scroll_to_end: maximum number of steps; default: 100 */
        max_steps?: number;
        /** scroll_to_end: maximum seconds, within the time limit of the page; default: 60 */
        max_seconds?: number;
        /** screenshot: the whole page */
        full_page?: boolean;
      }[];
      /** what could not be recorded, such as passwords */
      notes: string[];
    };
  };
  /** Search the web */
  "post /search": {
    params: undefined;
    query: undefined;
    body: {
      /** what to search for */
      query: string;
      /** results per source; default: 10 */
      limit?: number;
      /** what to search; default: ["web"] */
      sources?: ("web" | "news" | "images")[];
      /** such as en or de-AT; default: any */
      language?: string;
      /** how old a result may be */
      time_range?: "day" | "week" | "month" | "year";
      /** only results of these domains */
      include_domains?: string[];
      /** no results of these domains */
      exclude_domains?: string[];
    };
    answer: {
      web: {
        url: string;
        title: string;
        description: string;
        published: string | null;
        image: string | null;
        resolution: string | null;
      }[];
      news: {
        url: string;
        title: string;
        description: string;
        published: string | null;
        image: string | null;
        resolution: string | null;
      }[];
      images: {
        url: string;
        title: string;
        description: string;
        published: string | null;
        image: string | null;
        resolution: string | null;
      }[];
      /** such as engines that did not answer */
      warnings: string[];
    };
  };
  /** Change the concurrency limit of a concurrency key; also applies to running work */
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
  /** Change the settings of a site, known or not; only the given keys change. Applies to running work within a second */
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
      /** sites whose work must finish before work on this site starts; cycles are rejected */
      depends_on?: string[];
      paused?: boolean;
      /** the version that you read; an update with it is rejected with 409 if the resource has changed since */
      version?: string;
    };
    answer: Site;
  };
  /** Start a crawl in the background */
  "post /scraping/async-scrape": {
    params: undefined;
    query: undefined;
    body: {
      /** name */
      name?: string;
      /** pages, feeds (RSS, Atom, JSON), sitemaps or lists of URLs */
      url?: string | string[];
      /** several start URLs; set either this or url */
      urls?: string[];
      /** maximum link hops from a start URL; 0: only the start URLs */
      max_depth?: number;
      max_pages?: number;
      timeout_minutes?: number;
      max_concurrent_articles?: number;
      /** retries after the first attempt */
      retry_attempts?: number;
      /** maximum attempts, as in jobs: retry_attempts + 1; set only one of the two */
      max_attempts?: number;
      /** false: a run with failed or missing pages counts as failed */
      partial_results_ok?: boolean;
      /** only follow and read matching pages, such as /blog/**; start URLs are always followed */
      include?: string[];
      /** skip matching pages; overrides the other patterns */
      exclude?: string[];
      /** pages to follow in addition to include or read, such as /page/**; they give no records. Alone, it works like include */
      follow?: string[];
      /** only matching pages give records; without include and follow, every page of the site is followed */
      read?: string[];
      same_site?: boolean;
      /** with same_site: limit the crawl to the site (with subdomains), the host, or the path of the start URL */
      stay_within?: "site" | "host" | "path";
      /** what the crawl looks for, in words or a sentence: the most promising links are fetched first, by their text, address and surroundings */
      goal?: string;
      /** with goal: end the crawl when hardly any of the last 50 pages was relevant */
      stop_when_saturated?: boolean;
      /** false: fetch only the start URLs and pages listed in sitemaps */
      follow_links?: boolean;
      /** follow links to PDF, Word, Excel, PowerPoint, OpenDocument, EPUB, RTF and CSV files, and read them; default: true, but false with fields, items or extract */
      documents?: boolean;
      /** delay between two pages of this crawl; pages are then fetched one at a time */
      delay_seconds?: number;
      /** also start from the pages listed in the site's sitemaps */
      use_sitemap?: boolean;
      /** for a saved crawl: return only pages that are new or changed since the previous run */
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
        /** contents of the document; default: markdown. A screenshot needs a browser */
        formats?: ("markdown" | "html" | "raw_html" | "links" | "images" | "screenshot" | "screenshot_full")[];
        /** html and markdown without navigation and advertisements; default: true */
        only_main_content?: boolean;
        /** CSS selectors: keep only matching elements */
        include_tags?: string[];
        /** CSS selectors: remove matching elements */
        exclude_tags?: string[];
      } | null;
      browser?: {
        wait_for?: string | null;
        /** do not load images, fonts and media */
        block_resources?: boolean;
        wait_ms?: number | null;
        /** emulate a phone: window size, touch screen and user agent */
        mobile?: boolean;
        /** actions on the page before it is read, in this order; see docs/documents.md */
        actions?: {
          type: "wait" | "click" | "write" | "press" | "scroll" | "scroll_to_end" | "screenshot" | "scrape";
          /** wait: duration */
          milliseconds?: number;
          /** click: element to click; wait: element to wait for; scroll and scroll_to_end: element to scroll (default: the page) */
          selector?: string;
          /** click: all matching elements, not only the first */
          all?: boolean;
          /** write: text to type into the focused element */
          text?: string;
          /** write: store the text encrypted and show it as ***, for passwords */
          secret?: boolean;
          /** press: key, such as Enter or Control+A */
          key?: string;
          /** scroll: direction */
          direction?: "up" | "down";
          /** scroll: pixels; default: the height of the window */
          amount?: number;
          /** scroll_to_end: maximum number of steps; default: 100 */
          max_steps?: number;
          /** scroll_to_end: maximum seconds, within the time limit of the page; default: 60 */
          max_seconds?: number;
          /** screenshot: the whole page */
          full_page?: boolean;
        }[];
      } | null;
      headers?: Record<string, string> | null;
      /** delete it APP_RETENTION_HOURS after its end, unless it is marked to be kept */
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
  /** Start the demo site, reachable only from this machine, until the server stops; if it already runs, nothing changes */
  "post /demo-site": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      url: string;
      /** whether a browser is available for its pages that need one */
      browser: boolean;
      /** a crawl of it, for POST /scraping/async-scrape */
      crawl: Record<string, Json>;
    };
  };
  /** Fetch one page now, without a job */
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
      /** with http and api_replay: after a block or a page that is empty without JavaScript, the next attempt uses a browser; no effect with auto */
      escalate?: boolean;
      respect_robots?: boolean;
      /** false: a document, such as a PDF or an Office file, is not read and fails as not_html (default: true) */
      documents?: boolean;
      timeout_seconds?: number | null;
      session_id?: string | null;
      proxy?: string | null;
      /** the request for strategy api_replay: {request, items, pagination}; docs/jobs.md describes it */
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
        /** contents of the document; default: markdown. A screenshot needs a browser */
        formats?: ("markdown" | "html" | "raw_html" | "links" | "images" | "screenshot" | "screenshot_full")[];
        /** html and markdown without navigation and advertisements; default: true */
        only_main_content?: boolean;
        /** CSS selectors: keep only matching elements */
        include_tags?: string[];
        /** CSS selectors: remove matching elements */
        exclude_tags?: string[];
      } | null;
      browser?: {
        wait_for?: string | null;
        /** do not load images, fonts and media */
        block_resources?: boolean;
        wait_ms?: number | null;
        /** emulate a phone: window size, touch screen and user agent */
        mobile?: boolean;
        /** actions on the page before it is read, in this order; see docs/documents.md */
        actions?: {
          type: "wait" | "click" | "write" | "press" | "scroll" | "scroll_to_end" | "screenshot" | "scrape";
          /** wait: duration */
          milliseconds?: number;
          /** click: element to click; wait: element to wait for; scroll and scroll_to_end: element to scroll (default: the page) */
          selector?: string;
          /** click: all matching elements, not only the first */
          all?: boolean;
          /** write: text to type into the focused element */
          text?: string;
          /** write: store the text encrypted and show it as ***, for passwords */
          secret?: boolean;
          /** press: key, such as Enter or Control+A */
          key?: string;
          /** scroll: direction */
          direction?: "up" | "down";
          /** scroll: pixels; default: the height of the window */
          amount?: number;
          /** scroll_to_end: maximum number of steps; default: 100 */
          max_steps?: number;
          /** scroll_to_end: maximum seconds, within the time limit of the page; default: 60 */
          max_seconds?: number;
          /** screenshot: the whole page */
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
  /** Start a workflow that was created with start: false */
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
      /** index of the first step that has not ended; for a failed workflow, of the step to recover from */
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
        reason: "run_paused" | "turn" | "person" | "previous_run" | "proxies" | "data_quality" | "no_worker" | "workers_drained" | "worker_paused" | "worker_lost" | "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on" | "page_limit" | "retry" | "memory" | "concurrency_key" | "crawl_delay" | "min_delay" | "rate" | "concurrency";
        until: string | null;
        /** a sentence for humans */
        message: string;
        last_failure: {
          failure_code: "blocked" | "rate_limited" | "timeout" | "network" | "bad_response" | "extraction" | "forbidden_target" | "robots" | "circuit_open" | "cancelled" | "unknown";
          failure_reason: "timeout_connect" | "timeout_headers" | "timeout_idle" | "timeout_total" | "dns_failed" | "connection_refused" | "connection_reset" | "connection_failed" | "tls_failed" | "no_proxies" | "proxy_unreachable" | "proxy_auth" | "proxy_refused" | "proxy_timeout" | "truncated_body" | "malformed_response" | "headers_too_large" | "body_too_large" | "decompression_limit" | "decompression_failed" | "unsupported_encoding" | "too_many_redirects" | "bad_redirect" | "not_html" | "document_encrypted" | "document_damaged" | "document_unsupported" | "document_too_large" | "document_timeout" | "needs_ocr" | "http_not_found" | "http_client_error" | "http_server_error" | "http_unexpected" | "http_unauthorized" | "http_forbidden" | "challenge_page" | "captcha_page" | "empty_shell" | "login_page" | "human_skipped" | "http_too_many_requests" | "http_unavailable" | "retry_after_too_long" | "private_address" | "scheme_not_allowed" | "url_not_allowed" | "proxy_forbidden" | "field_missing" | "field_invalid" | "schema_mismatch" | "extraction_failed" | "extraction_timeout" | "action_failed" | "records_degraded" | "llm_rate_limited" | "llm_unavailable" | "llm_timeout" | "llm_refused" | "llm_bad_answer" | "robots_disallowed" | "robots_unreachable" | "breaker_open" | "run_cancelled" | "task_stopped" | "browser_missing" | "browser_failed" | "browser_crashed" | "page_crashed" | "session_unusable" | "request_invalid" | "handler_threw" | "handler_refused" | "handler_timeout" | "handler_out_of_memory" | "handler_exited" | "handler_missing" | "handler_bad_result" | "step_timeout" | "step_params" | "step_bad_result" | "step_child_failed" | "step_child_cancelled" | "step_entries_failed" | "internal";
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
  /** Stop a task: it fails as task_stopped, and the rest of its run continues */
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
      /** running: its worker is notified and stops it */
      state: "failed" | "running";
    };
  };
  /** The events of all runs, live; from now on, or after Last-Event-ID */
  "get /events/stream": {
    params: undefined;
    query: {
      last_event_id?: string;
      type?: string;
    };
    body: undefined;
    answer: string;
  };
  /** The events of a run, live; ends with the run. 204: the run has ended and no events are left */
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
  /** The same as a stream: immediately, then on changes, at most once a second */
  "get /sites/progress/stream": {
    params: undefined;
    query: {
      last_event_id?: string;
    };
    body: undefined;
    answer: string;
  };
  /** Send a test alert */
  "post /alerts/test": {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      kind: "breaker_open" | "worker_lost" | "crash_loop" | "run_failed" | "extraction_degraded" | "repair_proposed" | "repair_accepted" | "monitor_changed" | "disk_low" | "disk_budget" | "channel_failing" | "test";
      /** subject: a site, or the id of a run or worker */
      subject: string;
      message: string;
      /** depends on the kind; see docs/monitoring.md */
      detail: Json;
      /** UTC, ISO 8601 */
      created_at: string;
      /** off: no receiver is configured */
      delivery: "waiting" | "delivered" | "given_up" | "off";
      tries: number;
      next_try_at: string | null;
      last_error: string | null;
      delivered_at: string | null;
    };
  };
  /** Send a test message, in quiet hours, too */
  "post /notifications/channels/{channel_id}/test": {
    params: {
      channel_id: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      delivered: boolean;
      error: string | null;
      channel: {
        id: string;
        name: string;
        kind: "email" | "slack" | "discord" | "teams" | "telegram" | "ntfy" | "webhook" | "apprise";
        /** the receiver, without secrets */
        target: string;
        settings: Record<string, Json>;
        /** secret settings that are set */
        secrets: string[];
        /** a notification that matches one of them is sent; [{}]: all but run_completed and run_cancelled (the default), []: only for jobs that name the channel */
        rules: {
          /** absent: all but run_completed and run_cancelled */
          types?: ("run_failed" | "run_partial" | "run_completed" | "run_cancelled" | "waiting_for_human" | "extraction_degraded" | "repair_proposed" | "repair_accepted" | "monitor_changed" | "breaker_open" | "worker_lost" | "crash_loop" | "disk_low" | "disk_budget" | "channel_failing")[];
          min_severity?: "info" | "warning" | "error";
          /** jobs with one of these tags */
          tags?: string[];
          /** sites with their subdomains */
          sites?: string[];
          /** ids of jobs */
          jobs?: string[];
        }[];
        quiet_hours: {
          /** local time, such as 22:00 */
          from: string;
          /** local time, such as 07:00 */
          to: string;
          /** such as Europe/Berlin (default: UTC) */
          timezone: string;
          except: "info" | "warning" | "error" | null;
        } | null;
        group_minutes: number;
        enabled: boolean;
        status: "healthy" | "failing" | "unused" | "disabled";
        failing_since: string | null;
        last_error: string | null;
        last_error_at: string | null;
        last_delivered_at: string | null;
        /** deliveries that wait */
        waiting: number;
        /** UTC, ISO 8601 */
        created_at: string;
        /** UTC, ISO 8601 */
        updated_at: string;
      };
    };
  };
  /** Test a job's rules on its saved pages; nothing is fetched or changed */
  "post /jobs/{job_id}/test": {
    params: {
      job_id: string;
    };
    query: undefined;
    body: {
      /** names of well-known fields (title, price, markdown …), or rules by field name; docs/extraction.md has both. Without: title, description, author, published_at and markdown */
      fields?: string[] | Record<string, unknown> | null;
      items?: string | Record<string, unknown> | null;
      schema?: boolean | Record<string, unknown> | null;
    } | null;
    answer: {
      /** nothing was lost or changed, and no page fails */
      passed: boolean;
      /** fields of all pages by result */
      summary: {
        pages: number;
        lost: number;
        changed: number;
        new: number;
        same: number;
        failed: number;
      };
      pages: {
        /** for DELETE /jobs/{job_id}/fixtures/{number} */
        number: number;
        url: string;
        /** UTC, ISO 8601 */
        fetched_at: string;
        run_id: string;
        records_before: number;
        records_now: number;
        error: string | null;
        fields: {
          field: string;
          /** of several records, the first of these that occurs */
          result: "lost" | "changed" | "new" | "same";
          /** records by result */
          counts: {
            lost: number;
            changed: number;
            new: number;
            same: number;
          };
          /** the first records that differ; long values are cut off */
          differences: {
            record: number;
            before: Json;
            now: Json;
          }[];
        }[];
      }[];
    };
  };
  /** Apply the retention rules to a run again */
  "delete /jobs/runs/{run_id}/keep": {
    params: {
      run_id: string;
    };
    query: undefined;
    body: undefined;
    answer: Run;
  };
  /** Change a channel; secrets that are not sent stay */
  "patch /notifications/channels/{channel_id}": {
    params: {
      channel_id: string;
    };
    query: undefined;
    body: {
      /** unique; can be used instead of the id */
      name?: string;
      kind?: "email" | "slack" | "discord" | "teams" | "telegram" | "ntfy" | "webhook" | "apprise";
      /** depends on the kind: GET /notifications/kinds lists them; secrets are never returned */
      settings?: Record<string, unknown>;
      /** a notification that matches one of them is sent; [{}]: all but run_completed and run_cancelled (the default), []: only for jobs that name the channel */
      rules?: {
        /** absent: all but run_completed and run_cancelled */
        types?: ("run_failed" | "run_partial" | "run_completed" | "run_cancelled" | "waiting_for_human" | "extraction_degraded" | "repair_proposed" | "repair_accepted" | "monitor_changed" | "breaker_open" | "worker_lost" | "crash_loop" | "disk_low" | "disk_budget" | "channel_failing")[];
        min_severity?: "info" | "warning" | "error";
        /** jobs with one of these tags */
        tags?: string[];
        /** sites with their subdomains */
        sites?: string[];
        /** ids of jobs */
        jobs?: string[];
      }[];
      quiet_hours?: {
        /** local time, such as 22:00 */
        from: string;
        /** local time, such as 07:00 */
        to: string;
        /** such as Europe/Berlin (default: UTC) */
        timezone?: string;
        except?: "info" | "warning" | "error" | null;
      } | null;
      /** at most one message in this time (default: 0) */
      group_minutes?: number;
      /** default: true */
      enabled?: boolean;
    };
    answer: Channel;
  };
  /** Validate a definition, a template or params, and list all errors; nothing is created */
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
      /** the YAML body converted to JSON, for calls that accept only JSON (POST /jobs) */
      source?: Record<string, Json>;
    };
  };
}

/** By the names that the description gives them. */
export const ROUTES = {
  acceptJobHealth: "post /jobs/{job_id}/health/accept",
  acceptJobRepair: "post /jobs/{job_id}/repair/accept",
  addQueueItems: "post /queue/items",
  cancelCrawl: "delete /scraping/tasks/{task_id}",
  cancelRun: "post /jobs/runs/{run_id}/cancel",
  cancelWorkflow: "post /workflows/{workflow_id}/cancel",
  changeJob: "patch /jobs/{job_id}",
  changeKey: "patch /keys/{key_id}",
  changeRuns: "post /runs/bulk",
  changeSite: "patch /sites/{site}",
  changeWorkflow: "patch /workflows/{workflow_id}",
  checkSession: "post /sessions/{session_id}/check",
  closeLiveView: "delete /live-views/{view_id}",
  createChannel: "post /notifications/channels",
  createJob: "post /jobs",
  createKey: "post /keys",
  createSession: "post /sessions",
  createWorkflow: "post /workflows",
  deleteChannel: "delete /notifications/channels/{channel_id}",
  deleteFixture: "delete /jobs/{job_id}/fixtures/{number}",
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
  getChannel: "get /notifications/channels/{channel_id}",
  getConcurrencyKey: "get /queue/concurrency-keys/{name}",
  getConfig: "get /config",
  getCrawl: "get /scraping/tasks/{task_id}/status",
  getCrawlHealth: "get /scraping/status",
  getDeletion: "get /runs/deletions/{deletion_id}",
  getDemoSite: "get /demo-site",
  getHealth: "get /health",
  getJob: "get /jobs/{job_id}",
  getJobChange: "get /jobs/{job_id}/changes/{number}",
  getJobChangeContent: "get /jobs/{job_id}/changes/{number}/{version}",
  getJobHealth: "get /jobs/{job_id}/health",
  getJobRepair: "get /jobs/{job_id}/repair",
  getJobVersion: "get /jobs/{job_id}/versions/{version}",
  getJobWorkflow: "get /jobs/{job_id}/workflow",
  getKey: "get /keys/{key_id}",
  getLiveView: "get /live-views/{view_id}",
  getLogin: "get /session",
  getMetrics: "get /metrics",
  getOpenapi: "get /openapi.json",
  getOverview: "get /overview",
  getOwnKey: "get /keys/me",
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
  listAuditLog: "get /audit-log",
  listChannelKinds: "get /notifications/kinds",
  listChannels: "get /notifications/channels",
  listCrawlResults: "get /scraping/tasks/{task_id}/results",
  listCrawls: "get /scraping/tasks",
  listDeletions: "get /runs/deletions",
  listDeliveries: "get /notifications/deliveries",
  listEntries: "get /workflows/{workflow_id}/tasks/{task}/entries",
  listEvents: "get /jobs/runs/{run_id}/events",
  listFixtures: "get /jobs/{job_id}/fixtures",
  listIgnoredPlaces: "get /jobs/{job_id}/ignored-places",
  listItems: "get /workflows/{workflow_id}/tasks/{task}/items",
  listJobChanges: "get /jobs/{job_id}/changes",
  listJobRuns: "get /jobs/{job_id}/runs",
  listJobVersions: "get /jobs/{job_id}/versions",
  listJobs: "get /jobs",
  listKeys: "get /keys",
  listLanes: "get /queue/lanes",
  listLiveViews: "get /live-views",
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
  openLiveView: "post /live-views",
  pauseRun: "post /jobs/runs/{run_id}/pause",
  pauseSchedule: "post /schedules/{job_id}/pause",
  pauseSite: "post /sites/{site}/pause",
  pauseWorkflow: "post /workflows/{workflow_id}/pause",
  pingWorker: "post /workers/{id}/ping",
  previewExtraction: "post /extract/preview",
  previewSchedule: "get /schedules/preview",
  proposeJobRepair: "post /jobs/{job_id}/repair",
  putTemplate: "put /workflows/templates/{name}",
  recoverWorkflow: "post /workflows/{workflow_id}/recover",
  refreshProxies: "post /proxies/refresh",
  rejectJobRepair: "post /jobs/{job_id}/repair/reject",
  rerunWorkflow: "post /workflows/{workflow_id}/rerun",
  resetBreaker: "post /sites/{site}/reset-breaker",
  resolveRun: "post /jobs/runs/{run_id}/resolve",
  restoreJobVersion: "post /jobs/{job_id}/versions/{version}/restore",
  resumeRun: "post /jobs/runs/{run_id}/resume",
  resumeSchedule: "post /schedules/{job_id}/resume",
  resumeSite: "post /sites/{site}/resume",
  resumeWorker: "post /workers/{id}/resume",
  resumeWorkflow: "post /workflows/{workflow_id}/resume",
  retryFailedItems: "post /queue/retry-failed",
  retryFailedTasks: "post /jobs/runs/{run_id}/retry-failed",
  revokeKey: "delete /keys/{key_id}",
  saveLiveView: "post /live-views/{view_id}/save",
  searchWeb: "post /search",
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
  testChannel: "post /notifications/channels/{channel_id}/test",
  testJob: "post /jobs/{job_id}/test",
  unkeepRun: "delete /jobs/runs/{run_id}/keep",
  updateChannel: "patch /notifications/channels/{channel_id}",
  validateWorkflow: "post /workflows/validate",
} as const satisfies Record<string, keyof Operations>;

/** They take a body. */
export const BODIES: ReadonlySet<string> = new Set<keyof Operations>([
  "post /queue/items",
  "patch /jobs/{job_id}",
  "patch /keys/{key_id}",
  "post /runs/bulk",
  "patch /sites/{site}",
  "patch /workflows/{workflow_id}",
  "post /notifications/channels",
  "post /jobs",
  "post /keys",
  "post /sessions",
  "post /workflows",
  "post /runs/deletions",
  "post /proxies",
  "post /extract/learn",
  "post /session",
  "post /live-views",
  "post /extract/preview",
  "put /workflows/templates/{name}",
  "post /workflows/{workflow_id}/recover",
  "post /workflows/{workflow_id}/rerun",
  "post /jobs/runs/{run_id}/resolve",
  "post /queue/retry-failed",
  "post /jobs/runs/{run_id}/retry-failed",
  "post /live-views/{view_id}/save",
  "post /search",
  "put /queue/concurrency-keys/{name}",
  "put /queue/resolvers/{name}",
  "put /sites/{site}",
  "post /scraping/async-scrape",
  "post /runs",
  "post /jobs/{job_id}/test",
  "patch /notifications/channels/{channel_id}",
  "post /workflows/validate",
]);

/** They take a query. */
export const QUERIES: ReadonlySet<string> = new Set<keyof Operations>([
  "post /jobs/{job_id}/health/accept",
  "post /jobs/{job_id}/repair/accept",
  "delete /jobs/{job_id}",
  "delete /jobs/runs/{run_id}",
  "delete /workflows/{workflow_id}",
  "get /jobs/{job_id}/health",
  "get /sites/{site}/robots",
  "get /sites/series",
  "get /workflows/templates/{name}",
  "get /alerts",
  "get /workflows/tasks",
  "get /audit-log",
  "get /scraping/tasks/{task_id}/results",
  "get /scraping/tasks",
  "get /notifications/deliveries",
  "get /workflows/{workflow_id}/tasks/{task}/entries",
  "get /jobs/runs/{run_id}/events",
  "get /jobs/{job_id}/ignored-places",
  "get /workflows/{workflow_id}/tasks/{task}/items",
  "get /jobs/{job_id}/changes",
  "get /jobs/{job_id}/runs",
  "get /jobs/{job_id}/versions",
  "get /jobs",
  "get /keys",
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
  "post /jobs/{job_id}/repair/reject",
  "get /events/stream",
  "get /jobs/runs/{run_id}/events/stream",
  "get /live/stream",
  "get /sites/progress/stream",
]);

/** They answer a page of a list. */
export const PAGED: ReadonlySet<string> = new Set<keyof Operations>([
  "get /alerts",
  "get /workflows/tasks",
  "get /audit-log",
  "get /scraping/tasks/{task_id}/results",
  "get /scraping/tasks",
  "get /notifications/deliveries",
  "get /workflows/{workflow_id}/tasks/{task}/entries",
  "get /jobs/{job_id}/ignored-places",
  "get /workflows/{workflow_id}/tasks/{task}/items",
  "get /jobs/{job_id}/changes",
  "get /jobs/{job_id}/runs",
  "get /jobs/{job_id}/versions",
  "get /jobs",
  "get /keys",
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
  "post /notifications/channels",
  "post /jobs",
  "post /sessions",
  "post /workflows",
  "post /workflows/{workflow_id}/rerun",
  "post /scraping/async-scrape",
  "post /runs",
  "post /jobs/{job_id}/runs",
]);

/** They need the role operator. */
export const OPERATOR: ReadonlySet<string> = new Set<keyof Operations>([
  "post /jobs/{job_id}/health/accept",
  "post /jobs/{job_id}/repair/accept",
  "post /queue/items",
  "delete /scraping/tasks/{task_id}",
  "post /jobs/runs/{run_id}/cancel",
  "post /workflows/{workflow_id}/cancel",
  "patch /jobs/{job_id}",
  "post /runs/bulk",
  "patch /workflows/{workflow_id}",
  "delete /live-views/{view_id}",
  "post /jobs",
  "post /workflows",
  "delete /jobs/{job_id}/fixtures/{number}",
  "delete /jobs/{job_id}",
  "delete /jobs/runs/{run_id}",
  "post /runs/deletions",
  "delete /workflows/templates/{name}",
  "delete /workflows/{workflow_id}",
  "delete /sites/{site}/learned-strategy",
  "get /live-views/{view_id}",
  "post /jobs/runs/{run_id}/keep",
  "post /extract/learn",
  "get /live-views",
  "post /live-views",
  "post /jobs/runs/{run_id}/pause",
  "post /schedules/{job_id}/pause",
  "post /sites/{site}/pause",
  "post /workflows/{workflow_id}/pause",
  "post /workers/{id}/ping",
  "post /extract/preview",
  "post /jobs/{job_id}/repair",
  "put /workflows/templates/{name}",
  "post /workflows/{workflow_id}/recover",
  "post /jobs/{job_id}/repair/reject",
  "post /workflows/{workflow_id}/rerun",
  "post /sites/{site}/reset-breaker",
  "post /jobs/runs/{run_id}/resolve",
  "post /jobs/{job_id}/versions/{version}/restore",
  "post /jobs/runs/{run_id}/resume",
  "post /schedules/{job_id}/resume",
  "post /sites/{site}/resume",
  "post /workflows/{workflow_id}/resume",
  "post /queue/retry-failed",
  "post /jobs/runs/{run_id}/retry-failed",
  "post /live-views/{view_id}/save",
  "post /search",
  "post /scraping/async-scrape",
  "post /demo-site",
  "post /runs",
  "post /jobs/{job_id}/runs",
  "post /workflows/{workflow_id}/start",
  "post /jobs/runs/{run_id}/tasks/{task_id}/stop",
  "post /jobs/{job_id}/test",
  "delete /jobs/runs/{run_id}/keep",
]);

/** They need the role admin. */
export const ADMIN: ReadonlySet<string> = new Set<keyof Operations>([
  "patch /keys/{key_id}",
  "patch /sites/{site}",
  "post /sessions/{session_id}/check",
  "post /notifications/channels",
  "post /keys",
  "post /sessions",
  "delete /notifications/channels/{channel_id}",
  "delete /proxies/{proxy_id}",
  "delete /sessions/{session_id}",
  "post /proxies/{proxy_id}/disable",
  "post /workers/{id}/drain",
  "post /proxies/{proxy_id}/enable",
  "get /notifications/channels/{channel_id}",
  "get /keys/{key_id}",
  "post /proxies",
  "get /audit-log",
  "get /notifications/channels",
  "get /notifications/deliveries",
  "get /keys",
  "post /proxies/refresh",
  "post /workers/{id}/resume",
  "delete /keys/{key_id}",
  "put /queue/concurrency-keys/{name}",
  "put /queue/resolvers/{name}",
  "put /sites/{site}",
  "post /alerts/test",
  "post /notifications/channels/{channel_id}/test",
  "patch /notifications/channels/{channel_id}",
]);

/** Not for keys with limits. */
export const UNLIMITED: ReadonlySet<string> = new Set<keyof Operations>([
  "post /queue/items",
  "patch /keys/{key_id}",
  "post /runs/bulk",
  "patch /sites/{site}",
  "post /sessions/{session_id}/check",
  "delete /live-views/{view_id}",
  "post /notifications/channels",
  "post /keys",
  "post /sessions",
  "post /workflows",
  "delete /notifications/channels/{channel_id}",
  "delete /proxies/{proxy_id}",
  "post /runs/deletions",
  "delete /sessions/{session_id}",
  "delete /workflows/templates/{name}",
  "post /proxies/{proxy_id}/disable",
  "post /workers/{id}/drain",
  "post /proxies/{proxy_id}/enable",
  "delete /sites/{site}/learned-strategy",
  "get /notifications/channels/{channel_id}",
  "get /queue/concurrency-keys/{name}",
  "get /config",
  "get /scraping/status",
  "get /runs/deletions/{deletion_id}",
  "get /demo-site",
  "get /keys/{key_id}",
  "get /live-views/{view_id}",
  "get /metrics",
  "get /overview",
  "get /proxies/{proxy_id}",
  "get /queue/items/{id}",
  "get /queue/stats",
  "get /ready",
  "get /queue/resolvers/{name}",
  "get /sessions/{session_id}",
  "get /sites/{site}",
  "get /sites/{site}/robots",
  "get /sites/series",
  "get /sites/progress",
  "get /storage",
  "get /workflows/tasks/by-engine-id/{engine_id}",
  "get /workflows/templates/{name}",
  "get /workers/{id}",
  "post /proxies",
  "post /extract/learn",
  "get /alerts",
  "get /workflows/tasks",
  "get /audit-log",
  "get /notifications/kinds",
  "get /notifications/channels",
  "get /runs/deletions",
  "get /notifications/deliveries",
  "get /keys",
  "get /queue/lanes",
  "get /live-views",
  "get /proxies",
  "get /queue/items",
  "get /sessions",
  "get /sites",
  "get /workflows/templates/{name}/versions",
  "get /workflows/templates",
  "get /workers",
  "post /live-views",
  "post /sites/{site}/pause",
  "post /workers/{id}/ping",
  "post /extract/preview",
  "put /workflows/templates/{name}",
  "post /proxies/refresh",
  "post /sites/{site}/reset-breaker",
  "post /sites/{site}/resume",
  "post /workers/{id}/resume",
  "post /queue/retry-failed",
  "delete /keys/{key_id}",
  "post /live-views/{view_id}/save",
  "post /search",
  "put /queue/concurrency-keys/{name}",
  "put /queue/resolvers/{name}",
  "put /sites/{site}",
  "post /demo-site",
  "get /events/stream",
  "get /live/stream",
  "get /sites/progress/stream",
  "post /alerts/test",
  "post /notifications/channels/{channel_id}/test",
  "patch /notifications/channels/{channel_id}",
  "post /workflows/validate",
]);

/** What they answer is never JSON. */
export const TEXTS: ReadonlySet<string> = new Set<keyof Operations>([
  "get /artifacts/{artifact_id}",
  "get /jobs/{job_id}/changes/{number}/{version}",
  "get /metrics",
  "get /events/stream",
  "get /jobs/runs/{run_id}/events/stream",
  "get /live/stream",
  "get /sites/progress/stream",
]);
