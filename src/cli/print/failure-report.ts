/** Why a page failed, and what helps. */
import type { FailureCode, FailureReason } from "../../domain/run/failure.ts";
import type { RunView } from "../../orchestrator/runs/view.ts";
import { facts, oneLine, paint, type Terminal } from "./output.ts";

const BY_CODE: Readonly<Record<FailureCode, string>> = {
  blocked: "The site does not let us in: try --strategy browser, or a session of somebody who may (orb login).",
  rate_limited: "The site asks for patience: try again later, or slower (orb sites set).",
  timeout: "It took too long: try again, or give it more time with --timeout.",
  network: "Look at the address; then try again, or look at the machine's connection.",
  bad_response: "Look at the address in a browser; the site answered something that cannot be used.",
  extraction: "The page was there, but not what the rules ask for: correct the fields, or the page has changed.",
  forbidden_target: "Only public addresses are fetched; APP_ALLOW_PRIVATE_NETWORKS opens networks that are yours.",
  robots: "The site's robots.txt asks not to fetch this; it is heeded because the job says so.",
  circuit_open: "The circuit of the site is open because it kept failing; orb sites reset-breaker tries it at once.",
  cancelled: "Nothing: it was cancelled.",
  unknown: "Look at what happened: orb runs events shows it.",
};

const BY_REASON: Partial<Record<FailureReason, string>> = {
  http_server_error: "The site has a fault of its own: try again later; --max-attempts 3 tries again by itself.",
  http_not_found: "There is no such page: look at the address.",
  http_unauthorized: "The page needs a sign-in: store a session (orb login, orb sessions add) and use --session.",
  login_page: "The page needs a sign-in: store a session (orb login, orb sessions add) and use --session.",
  human_skipped: "Nothing: somebody decided to leave the page.",
  captcha_page:
    "The site wants to see a person: sign in by hand and store the session (orb login), then use --session.",
  challenge_page: "The site tests for a browser: try --strategy browser, or a session of a browser that passed.",
  empty_shell: "The page is put together by scripts: use --strategy browser, or orb capture to find its API.",
  browser_failed: "The browser did not start: orb doctor looks at it.",
  browser_crashed: "The browser ended with the page in it: try again; --max-attempts 3 tries again by itself.",
  page_crashed: "The page crashed in the browser: try again; --max-attempts 3 tries again by itself.",
  browser_missing: "Install a Chromium: orb doctor has the one command.",
  session_unusable: "orb sessions list shows the sessions and their origins.",
  dns_failed: "There is no such host: look at the address.",
  proxy_unreachable: "Look at the proxy's address, and whether it runs.",
  proxy_auth: "Look at the user name and the password of the proxy.",
  proxy_forbidden: "A proxy is a target, too; APP_ALLOW_PRIVATE_NETWORKS opens networks that are yours.",
  proxy_refused: "The proxy got no connection to the site: try another one, or none.",
  proxy_timeout: "The proxy got no connection to the site in time: try another one, or none.",
  no_proxies:
    "orb proxies list shows which can be used; orb proxies import brings more, orb proxies refresh checks them.",
};

/** What a browser has met: it is no use to advise one. */
const IN_A_BROWSER: Partial<Record<FailureReason, string>> = {
  http_forbidden:
    "The site refuses this client: use a session of somebody who may (orb login, --session), or another APP_USER_AGENT.",
  challenge_page:
    "The site tests for a person's browser: pass the test by hand and store the session (orb login), then use --session.",
  empty_shell: "The page stays empty: wait for something on it with --wait-for, or find its API with orb capture.",
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
        ["tries", run.attempt > 1 ? run.attempt : null],
        ["what to do", remedy],
      ],
      terminal.columns,
    ),
  );
}

/** How the page was got, and why so. */
export function strategyOf(run: RunView): string | null {
  if (run.resolved_strategy === null) return null;
  const because = run.strategy_evidence?.["because"];
  return typeof because === "string" ? `${run.resolved_strategy}, because ${because}` : run.resolved_strategy;
}
