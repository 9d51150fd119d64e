/** The selector first, then what else the rule says. */
export function ruleText(rule: unknown): string {
  if (rule === null || typeof rule !== "object") return String(rule);
  const [[kind, selector] = ["", ""], ...others] = Object.entries(rule);
  if (!["css", "xpath", "jsonpath", "regex"].includes(kind)) return JSON.stringify(rule);
  const rest = others.length === 0 ? "" : ` ${JSON.stringify(Object.fromEntries(others))}`;
  return `${kind === "css" ? "" : `${kind}: `}${String(selector)}${rest}`;
}
