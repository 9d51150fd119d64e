/**
 * The table of soft blocks. A new one is a line here and a page in test/fixtures/pages.
 *
 * Precision goes before recall. The same vendors leave their scripts on ordinary pages, contact forms carry captchas, and
 * articles are written about both. So a rule looks for what only the wall itself has, and, unless that is proof enough,
 * for a page that says little else.
 */

/**
 * How much the page may show besides its clues.
 * - `any`: the clues are proof.
 * - `short`: a screen of text and few links.
 * - `bare`: next to nothing, and no field to fill in.
 */
export type ContentLimit = "any" | "short" | "bare";

/** All places but `title` (compared from its beginning) and `name` (compared whole) are searched for the words. */
export type ClueSource =
  | "title"
  | "text"
  | "noscript"
  | "script"
  | "inline"
  | "frame"
  | "name"
  | "refresh"
  | "address"
  | `header ${string}`;

/** One of the words in that place, in lower case. */
export type Clue = readonly [source: ClueSource, ...oneOf: string[]];

export interface Rule {
  rule: string;
  /** Who serves it, for the message. */
  by: string;
  kind: "challenge" | "captcha";
  contentLimit: ContentLimit;
  /** All of them. */
  clues: readonly Clue[];
}

/** What a wall tells its reader to do. */
const DEMANDS = [
  "verify you are human",
  "verify you're human",
  "verify that you are human",
  "verify that you are not a robot",
  "verify you are not a robot",
  "verifying you are human",
  "confirm you are human",
  "confirm that you are human",
  "confirm you are not a robot",
  "confirm you're not a robot",
  "prove you are human",
  "prove you're human",
  "prove that you are human",
  "make sure you are not a robot",
  "make sure you're not a robot",
  "are you a robot",
  "human verification",
  "complete the captcha",
  "solve the captcha",
  "solve this captcha",
] as const;

/** Sentences that mean a wall only next to a captcha. */
const HUMAN = [
  ...DEMANDS,
  "are you human",
  "are you a human",
  "i'm not a robot",
  "i am not a robot",
  "you're not a robot",
  "you are not a robot",
  "not a bot",
  "security check",
  "complete the security",
  "unusual traffic",
  "unusual activity",
  "automated access",
  "automated requests",
] as const;

const CAPTCHA_SCRIPTS = [
  "google.com/recaptcha/",
  "recaptcha.net/recaptcha/",
  "gstatic.com/recaptcha/",
  "hcaptcha.com/1/api.js",
  "hcaptcha.com/1/secure-api.js",
  "challenges.cloudflare.com/turnstile",
  "smartcaptcha.yandexcloud.net",
  "smartcaptcha.cloud.yandex.ru",
  "static.geetest.com/",
  "api.funcaptcha.com/",
  "arkoselabs.com/v2/",
  "cdn.friendlycaptcha.com/",
  "mtcaptcha.com/",
] as const;

/** The first rule that matches names the block, so a vendor's sure signs stand before its weaker ones. */
export const SOFT_BLOCK_RULES: readonly Rule[] = [
  // Cloudflare. `challenge-platform/scripts/jsd` alone is on ordinary pages.
  by("Cloudflare", "cloudflare_mitigated", "challenge", "any", ["header cf-mitigated", "challenge"]),
  by("Cloudflare", "cloudflare_captcha", "captcha", "short", ["name", "cf-captcha-container", "cf-hcaptcha-container"]),
  by("Cloudflare", "cloudflare_challenge", "challenge", "short", ["inline", "_cf_chl_opt"]),
  by("Cloudflare", "cloudflare_challenge", "challenge", "short", [
    "script",
    "/challenge-platform/h/b/orchestrate/",
    "/challenge-platform/h/g/orchestrate/",
  ]),
  by(
    "Cloudflare",
    "cloudflare_challenge",
    "challenge",
    "bare",
    ["title", "just a moment"],
    [
      "name",
      "challenge-form",
      "challenge-running",
      "challenge-stage",
      "challenge-error-text",
      "cf-chl-widget",
      "cf-browser-verification",
      "cf-im-under-attack",
    ],
  ),
  by("Cloudflare", "cloudflare_block", "challenge", "short", ["title", "attention required! | cloudflare"]),
  by(
    "Cloudflare",
    "cloudflare_turnstile",
    "captcha",
    "bare",
    ["script", "challenges.cloudflare.com/turnstile"],
    ["title", "just a moment", "checking your browser", "verify", "security check", "one moment", "human verification"],
  ),
  // Akamai. `/akam/…` scripts alone are on ordinary pages.
  by("Akamai", "akamai_challenge", "challenge", "short", ["name", "sec-if-cpt-container", "sec-cpt-if"]),
  by("Akamai", "akamai_challenge", "challenge", "short", ["script", "/_sec/cp_challenge/"]),
  by("Akamai", "akamai_challenge", "challenge", "bare", ["refresh", "bm-verify="]),
  by(
    "Akamai",
    "akamai_block",
    "challenge",
    "bare",
    ["title", "access denied"],
    ["text", "errors.edgesuite.net", "on this server. reference #"],
  ),
  // PerimeterX, now HUMAN. `_pxAppId` alone is on ordinary pages.
  by("HUMAN", "human_captcha", "captcha", "short", ["name", "px-captcha", "px-captcha-wrapper"]),
  by("HUMAN", "human_captcha", "captcha", "short", [
    "script",
    "captcha.px-cdn.net",
    "captcha.px-cloud.net",
    "captcha.perimeterx.net",
  ]),
  by("HUMAN", "human_captcha", "captcha", "bare", ["title", "access to this page has been denied"]),
  by("HUMAN", "human_captcha", "captcha", "bare", ["text", "press & hold to confirm you are"]),
  // DataDome. `js.datadome.co/tags.js` alone is on ordinary pages.
  by("DataDome", "datadome_challenge", "challenge", "bare", ["script", "ct.captcha-delivery.com/i.js"]),
  by("DataDome", "datadome_captcha", "captcha", "short", ["script", "captcha-delivery.com/"]),
  by("DataDome", "datadome_captcha", "captcha", "short", ["frame", "geo.captcha-delivery.com/"]),
  by("DataDome", "datadome_captcha", "captcha", "bare", ["text", '{"url":"https://geo.captcha-delivery.com/']),
  // Imperva, with Incapsula and Distil. `_Incapsula_Resource?SWJIYLWA` alone is on ordinary pages.
  by("Imperva", "imperva_challenge", "challenge", "bare", ["text", "incapsula incident id"]),
  by("Imperva", "imperva_challenge", "challenge", "bare", ["frame", "_incapsula_resource?"]),
  by("Imperva", "imperva_challenge", "challenge", "bare", ["script", "_incapsula_resource?cwudnsai"]),
  by("Imperva", "imperva_challenge", "challenge", "short", ["title", "pardon our interruption"]),
  // Kasada. `KPSDK` and `/p.js` alone are on ordinary pages.
  by("Kasada", "kasada_challenge", "challenge", "bare", ["script", "/ips.js?"], ["inline", "kpsdk"]),
  by("Kasada", "kasada_challenge", "challenge", "bare", ["header x-kpsdk-ct", ""], ["script", "/ips.js"]),
  // AWS WAF. Its `challenge.js` alone is how ordinary pages get a token in advance.
  by("AWS WAF", "aws_waf_captcha", "captcha", "any", ["header x-amzn-waf-action", "captcha"]),
  by("AWS WAF", "aws_waf_challenge", "challenge", "any", ["header x-amzn-waf-action", "challenge"]),
  by("AWS WAF", "aws_waf_captcha", "captcha", "bare", ["script", ".captcha-sdk.awswaf.com/", "captcha.awswaf.com/"]),
  by("AWS WAF", "aws_waf_challenge", "challenge", "bare", ["inline", "gokuprops", "awswafcookiedomainlist"]),
  by("Sucuri", "sucuri_challenge", "challenge", "bare", ["inline", "sucuri_cloudproxy_js"]),
  by("Sucuri", "sucuri_block", "challenge", "short", ["title", "sucuri website firewall"]),
  by("DDoS-Guard", "ddos_guard_challenge", "challenge", "bare", [
    "script",
    "/.well-known/ddos-guard/",
    "check.ddos-guard.net/",
  ]),
  by(
    "DDoS-Guard",
    "ddos_guard_challenge",
    "challenge",
    "bare",
    ["title", "ddos-guard"],
    ["text", "checking your browser"],
  ),
  by("Vercel", "vercel_challenge", "challenge", "any", ["header x-vercel-mitigated", "challenge"]),
  by("Vercel", "vercel_challenge", "challenge", "bare", ["title", "vercel security checkpoint"]),
  by("Anubis", "anubis_challenge", "challenge", "short", ["name", "anubis_challenge", "anubis_version"]),
  by("Anubis", "anubis_challenge", "challenge", "short", ["script", "/.within.website/x/cmd/anubis/"]),
  // F5. `/TSPD/` scripts alone are on ordinary pages.
  by("F5", "f5_challenge", "challenge", "bare", ["noscript", "your support id is"]),
  by("F5", "f5_block", "challenge", "bare", ["title", "request rejected"], ["text", "your support id is"]),
  by("Radware", "radware_captcha", "captcha", "short", ["title", "radware captcha page"]),
  by("Radware", "radware_captcha", "captcha", "bare", ["address", "//validate.perfdrive.com/"]),
  by("SiteGround", "siteground_captcha", "captcha", "bare", ["refresh", "/.well-known/sgcaptcha/"]),
  by(
    "Google",
    "google_sorry",
    "captcha",
    "short",
    ["text", "systems have detected unusual traffic"],
    ["name", "captcha-form", "recaptcha", "g-recaptcha"],
  ),
  by(
    "Amazon",
    "amazon_captcha",
    "captcha",
    "short",
    ["text", "enter the characters you see below"],
    ["text", "make sure you're not a robot", "automated access to amazon data"],
  ),
  by("Yandex", "yandex_captcha", "captcha", "bare", ["address", "/showcaptcha?", "/showcaptchafast?"]),
  // Nobody in particular: a captcha and nothing else but words about it.
  by("the site", "captcha_wall", "captcha", "bare", ["script", ...CAPTCHA_SCRIPTS], ["text", ...HUMAN]),
  by("the site", "captcha_wall", "captcha", "bare", ["script", ...CAPTCHA_SCRIPTS], ["title", ...HUMAN, "captcha"]),
  by(
    "the site",
    "captcha_wall",
    "captcha",
    "bare",
    ["script", ...CAPTCHA_SCRIPTS],
    ["name", "captcha-page", "captcha-wall", "captcha-form"],
  ),
  by(
    "the site",
    "captcha_wall",
    "captcha",
    "bare",
    ["title", "robot check", "security check", "access denied", ...DEMANDS],
    ["text", ...DEMANDS],
  ),
  by("the site", "javascript_and_cookies", "challenge", "bare", [
    "text",
    "enable javascript and cookies to continue",
    "please turn javascript on and reload the page",
    "this process is automatic. your browser will redirect to your requested content shortly",
  ]),
  by(
    "the site",
    "checking_browser",
    "challenge",
    "bare",
    ["title", "checking your browser", "just a moment"],
    [
      "text",
      "checking your browser",
      "checking if the site connection is secure",
      "needs to review the security of your connection",
      "ddos protection by",
      ...HUMAN,
    ],
  ),
];

function by(
  vendor: string,
  rule: string,
  kind: Rule["kind"],
  contentLimit: ContentLimit,
  ...clues: readonly Clue[]
): Rule {
  return { rule, by: vendor, kind, contentLimit, clues };
}
