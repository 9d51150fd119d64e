/**
 * Removes active content from third-party HTML before any document parses it: a document reports every inline event
 * handler to the console, even if its content policy blocks it and it is removed a moment later.
 */
import { type DefaultTreeAdapterTypes, parse, serialize } from "parse5";

const REMOVED = new Set([
  ...["script", "noscript", "iframe", "frame", "frameset", "object", "embed", "applet", "portal", "base", "link"],
  ...["meta", "template", "dialog"],
]);
const ACTS = /^(?:on.*|action|formaction|srcdoc|ping|target|autofocus)$/i;
/** Browsers ignore control characters and white space before and within the scheme. */
const RUNS =
  /^[\0-\x20]*(?:j[\t\n\r]*a[\t\n\r]*v[\t\n\r]*a|v[\t\n\r]*b)[\t\n\r]*s[\t\n\r]*c[\t\n\r]*r[\t\n\r]*i[\t\n\r]*p[\t\n\r]*t[\t\n\r]*:/i;

/** Markup can be nested so that its serialisation parses differently; then it is cleaned again. */
const MOST_PASSES = 5;

export function cleanHtml(html: string): string {
  let text = html;
  for (let pass = 0; pass < MOST_PASSES; pass += 1) {
    const cleaned = cleanOnce(text);
    if (cleaned === text) return cleaned;
    text = cleaned;
  }
  // Only crafted markup gets here: shown as source.
  return `<pre>${text.replace(/&/g, "&amp;").replace(/</g, "&lt;")}</pre>`;
}

function cleanOnce(html: string): string {
  const page = parse(html, { scriptingEnabled: false });
  const left: DefaultTreeAdapterTypes.ParentNode[] = [page];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    node.childNodes = node.childNodes.filter((child) => !("tagName" in child && REMOVED.has(child.tagName)));
    for (const child of node.childNodes) {
      if (!("tagName" in child)) continue;
      child.attrs = child.attrs.filter(({ name, value }) => !ACTS.test(name) && !RUNS.test(value));
      left.push(child);
    }
  }
  return serialize(page);
}
