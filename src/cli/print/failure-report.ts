/** Why a page failed, and the remedy. */
import type { FailureCode, FailureReason } from "../../domain/run/failure.ts";
import type { RunView } from "../../orchestrator/runs/view.ts";
import { facts, oneLine, paint, type Terminal } from "./output.ts";

const BY_CODE: Readonly<Record<FailureCode, string>> = {
  blocked: "The site blocks this client: try --strategy browser, or a session (orb login).",
  rate_limited: "The site limits requests: try again later, or lower its rate (orb sites set).",
  timeout: "It took too long: try again, or increase --timeout.",
  network: "Check the URL and this machine's network, then try again.",
  bad_response: "The response cannot be used: open the URL in a browser and compare.",
  extraction: "The page was fetched, but the fields do not match: correct the selectors, or the page has changed.",
  forbidden_target: "Only public addresses are fetched; APP_ALLOW_PRIVATE_NETWORKS allows your own networks.",
  robots:
    "robots.txt disallows this page. To fetch it anyway, with the owner's consent: orb crawl --ignore-robots; orb scrape without --respect-robots.",
  circuit_open: "The circuit of the site is open because it kept failing; orb sites reset-breaker tries it at once.",
  cancelled: "Nothing to do: it was cancelled.",
  unknown: "See what happened with orb runs events.",
};

const NO_MODEL = "The language model did not answer: try again later.";

const BY_REASON: Partial<Record<FailureReason, string>> = {
  robots_unreachable: "robots.txt could not be read, so nothing is fetched: try again later.",
  llm_rate_limited: NO_MODEL,
  llm_unavailable: NO_MODEL,
  llm_timeout: NO_MODEL,
  llm_refused: "Check APP_LLM_URL, APP_LLM_KEY and APP_LLM_MODEL.",
  llm_bad_answer: "The model's answer does not fit the schema: simplify the schema, or use another model.",
  action_failed: "A browser action failed: correct the action named above.",
  extraction_timeout: "Reading the page took too long: simplify the rules.",
  http_server_error: "The site has an error: try again later, or use --max-attempts 3 to retry automatically.",
  http_not_found: "The page does not exist: check the URL.",
  http_unauthorized: "The page needs a sign-in: store a session (orb login, orb sessions add) and use --session.",
  login_page: "The page needs a sign-in: store a session (orb login, orb sessions add) and use --session.",
  human_skipped: "Nothing to do: a person skipped the page.",
  captcha_page:
    "The site shows a CAPTCHA: solve it in a browser and store the session (orb login), then use --session.",
  challenge_page: "The site tests for a browser: try --strategy browser, or a session of a browser that passed.",
  empty_shell: "The page is built by scripts: use --strategy browser, or orb capture to find its API.",
  browser_failed: "The browser did not start: run orb doctor.",
  browser_crashed: "The browser crashed: try again, or use --max-attempts 3 to retry automatically.",
  page_crashed: "The page crashed in the browser: try again, or use --max-attempts 3 to retry automatically.",
  browser_missing: "Install Chromium: orb doctor shows the command.",
  records_degraded:
    "The records are kept. Correct the rules (orb jobs test tries them), or accept the change (orb jobs health ID --accept).",
  session_unusable: "orb sessions list shows the sessions and their origins.",
  document_encrypted: "Store a copy of the file without the password, and scrape that.",
  document_damaged: "Get the file again: it is incomplete or not valid.",
  document_unsupported: "Convert the file: docs/files.md lists the formats that are read.",
  document_too_large: "Split the file; in a crawl, raise APP_MAX_BODY_BYTES.",
  document_timeout: "Split the file: reading it may take 90 seconds.",
  needs_ocr: "Set APP_OCR_COMMAND or APP_OCR_URL: docs/files.md shows how.",
  dns_failed: "The host does not exist: check the URL.",
  proxy_unreachable: "Check the URL of the proxy and whether it is running.",
  proxy_auth: "Check the user name and password of the proxy.",
  proxy_forbidden: "The address of the proxy is not public; APP_ALLOW_PRIVATE_NETWORKS allows your own networks.",
  proxy_refused: "The proxy could not connect to the site: try another proxy, or none.",
  proxy_timeout: "The proxy could not connect to the site in time: try another proxy, or none.",
  no_proxies:
    "orb proxies list shows the usable ones; add more with orb proxies import, check them with orb proxies refresh.",
};

/** The failure occurred in a browser: do not advise one. */
const IN_A_BROWSER: Partial<Record<FailureReason, string>> = {
  http_forbidden:
    "The site refuses this client: use a session with access (orb login, --session), or another APP_USER_AGENT.",
  challenge_page:
    "The site tests for a human: pass the test in a browser and store the session (orb login), then use --session.",
  empty_shell: "The page stays empty: wait for its content with --wait-for, or find its API with orb capture.",
};

type Failed = Pick<RunView, "failure_code" | "failure_reason"> & Partial<Pick<RunView, "resolved_strategy">>;

export function remedyOf(run: Failed): string | null {
  const { failure_code: code, failure_reason: reason } = run;
  if (code === null) return null;
  const met = run.resolved_strategy === "browser" ? IN_A_BROWSER : BY_REASON;
  const byReason = reason === null ? undefined : (met[reason] ?? BY_REASON[reason]);
  return byReason ?? BY_CODE[code];
}

export function reportFailure(terminal: Terminal, run: RunView, remedy = remedyOf(run)): void {
  const what = run.failure_code === null ? run.status : `${run.failure_code} (${run.failure_reason ?? "unknown"})`;
  const message = oneLine(run.error_message ?? run.message ?? "the run did not succeed");
  terminal.err(`${paint(terminal, "red", "failed:")} ${what}: ${message}\n`);
  const status = run.stats["http_status"];
  terminal.err(
    facts(
      [
        ["page", run.url],
        ["status", typeof status === "number" ? status : null],
        ["strategy", strategyOf(run)],
        ["attempts", run.attempt > 1 ? run.attempt : null],
        ["what to do", remedy],
      ],
      terminal.columns,
    ),
  );
}

/** How the page was fetched, and why that way. */
export function strategyOf(run: RunView): string | null {
  if (run.resolved_strategy === null) return null;
  const because = run.strategy_evidence?.["because"];
  return typeof because === "string" ? `${run.resolved_strategy}, because ${because}` : run.resolved_strategy;
}
