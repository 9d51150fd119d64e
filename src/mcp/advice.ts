/** Advice for an agent after a failure: a tool to call, or what to report to its operator. */
import type { FailureCode, FailureReason } from "../domain/run/failure.ts";

const BY_CODE: Readonly<Record<FailureCode, string>> = {
  blocked:
    'The site does not let programs in. Try once with "strategy": "browser"; if that fails too, take another source.',
  rate_limited: "The site asks for patience. Do not retry in a loop: the tool sites says until when it is held.",
  timeout: "It took too long. Try once more; then take another source.",
  network: "Check the address. If it is right, try once more later.",
  bad_response: "The site answered something that cannot be used. Check the address.",
  extraction: "The page was there, but not what the rules ask for. Correct the rules with extract_preview.",
  forbidden_target:
    "Only public http and https addresses are fetched. If the target is the operator's own, the operator sets APP_ALLOW_PRIVATE_NETWORKS.",
  robots: "Take another page or another source; only the operator can decide otherwise.",
  circuit_open: "The circuit of the site is open because it kept failing: the tool sites says until when.",
  cancelled: "It was cancelled. Start it again if it is still wanted.",
  unknown: "Try once more. If it stays so, tell the operator, who sees more with: orb runs events RUN_ID",
};

const BY_REASON: Partial<Record<FailureReason, string>> = {
  http_not_found: "There is no such page. Check the address.",
  dns_failed: "There is no such host. Check the address.",
  http_server_error: "The site has a fault of its own. Try again later.",
  http_unauthorized:
    "The page needs a sign-in. The operator can store a session (orb login); without one take another source.",
  login_page:
    "The page needs a sign-in. The operator can store a session (orb login); without one take another source.",
  captcha_page:
    "The site wants to see a person. Take another source, or ask the operator to sign in by hand (orb login).",
  empty_shell: 'The page is put together by scripts. Call again with "strategy": "browser".',
  not_html: "It is not a page (a file, perhaps). Take a page that links to it.",
  robots_unreachable: "The site's robots.txt cannot be read, so nothing is fetched there. Try again later.",
  browser_missing: "The page needs a browser, and this machine has none. The operator runs: orb doctor --fix",
  browser_failed: "The browser did not start. The operator runs: orb doctor",
  browser_crashed: "The browser ended with the page in it. Try once more.",
  page_crashed: "The page crashed in the browser. Try once more.",
  no_proxies: "There is no proxy left that works. The operator looks at: orb proxies list",
};

export function adviceFor(code: string | null, reason: string | null): string | null {
  const byReason = BY_REASON[reason as FailureReason];
  return byReason ?? BY_CODE[code as FailureCode] ?? null;
}
