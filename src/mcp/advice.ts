/** Advice for an agent after a failure: a tool to call, or what to report to its operator. */
import type { FailureCode, FailureReason } from "../domain/run/failure.ts";

const BY_CODE: Readonly<Record<FailureCode, string>> = {
  blocked: 'The site blocks programs. Try once with "strategy": "browser"; if that fails, too, use another source.',
  rate_limited: "The site is rate limited. Do not retry in a loop: the tool sites shows until when.",
  timeout: "It took too long. Try once more; then use another source.",
  network: "Check the URL. If it is correct, try once more later.",
  bad_response: "The response of the site is unusable. Check the URL.",
  extraction: "The page was fetched, but the rules did not match. Correct them with extract_preview.",
  forbidden_target:
    "Only public http and https URLs are fetched. If the target belongs to the operator, the operator can set APP_ALLOW_PRIVATE_NETWORKS.",
  robots: "Use another page or source; only the operator can change this.",
  circuit_open: "The circuit of the site is open because it kept failing: the tool sites shows until when.",
  cancelled: "It was cancelled. Start it again if it is still needed.",
  unknown: "Try once more. If it persists, tell the operator, who finds details with: orb runs events RUN_ID",
};

const BY_REASON: Partial<Record<FailureReason, string>> = {
  http_not_found: "There is no such page. Check the URL.",
  dns_failed: "There is no such host. Check the URL.",
  http_server_error: "The site has a server error. Try again later.",
  http_unauthorized:
    "The page needs a sign-in. The operator can store a session (orb login); otherwise use another source.",
  login_page: "The page needs a sign-in. The operator can store a session (orb login); otherwise use another source.",
  captcha_page: "The site requires a person. Use another source, or ask the operator to sign in manually (orb login).",
  empty_shell: 'The page is rendered by scripts. Call again with "strategy": "browser".',
  not_html: "It is not a page (perhaps a file). Use a page that links to it.",
  robots_unreachable: "The site's robots.txt cannot be read, so nothing is fetched there. Try again later.",
  browser_missing: "The page needs a browser, and this machine has none. The operator runs: orb doctor --fix",
  browser_failed: "The browser did not start. The operator runs: orb doctor",
  browser_crashed: "The browser exited while the page was open. Try once more.",
  page_crashed: "The page crashed in the browser. Try once more.",
  no_proxies: "No proxy is usable. The operator runs: orb proxies list",
};

export function adviceFor(code: string | null, reason: string | null): string | null {
  const byReason = BY_REASON[reason as FailureReason];
  return byReason ?? BY_CODE[code as FailureCode] ?? null;
}
