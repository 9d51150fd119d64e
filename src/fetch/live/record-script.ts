/** The script that reports what a person does on a page. It runs in a world of its own: the page neither sees nor calls it. */
export const RECORD_WORLD = "orb";
export const RECORD_BINDING = "orbRecord";

/** Text of secret fields never leaves the page: passwords, one-time codes and card numbers. */
export const RECORD_SCRIPT = `(() => {
  if (window.top !== window) return;
  const report = (event) => globalThis.${RECORD_BINDING}?.(JSON.stringify(event));
  const secrets = new WeakSet();
  const isSecret = (field) => {
    const isMasked = (getComputedStyle(field).webkitTextSecurity ?? "none") !== "none";
    if (isMasked || field.type === "password" || /(?:password|one-time-code|^cc-)/.test(field.autocomplete ?? "")) secrets.add(field);
    return secrets.has(field);
  };
  const isText = (element) =>
    element instanceof HTMLTextAreaElement ||
    (element instanceof HTMLInputElement &&
      !/^(?:button|checkbox|color|file|hidden|image|radio|range|reset|submit)$/.test(element.type));
  const only = (selector, element) => {
    const found = document.querySelectorAll(selector);
    return found.length === 1 && found[0] === element;
  };
  const quoted = (text) => '"' + text.replace(/["\\\\]/g, "\\\\$&") + '"';
  const selectorOf = (element) => {
    const tag = element.localName;
    const { id } = element;
    if (id !== "" && !/\\d{3}/.test(id) && only("#" + CSS.escape(id), element)) return "#" + CSS.escape(id);
    for (const name of ["data-testid", "name", "aria-label", "href", "value"]) {
      const value = element.getAttribute(name);
      if (value === null || value === "" || value.length > 200) continue;
      if (name === "value" && isText(element)) continue;
      const selector = tag + "[" + name + "=" + quoted(value) + "]";
      if (only(selector, element)) return selector;
    }
    const parts = [];
    for (let at = element; at !== null && at !== document.documentElement; at = at.parentElement) {
      const same = [...(at.parentElement?.children ?? [])].filter((one) => one.localName === at.localName);
      parts.unshift(CSS.escape(at.localName) + (same.length > 1 ? ":nth-of-type(" + (same.indexOf(at) + 1) + ")" : ""));
      const selector = parts.join(" > ");
      if (only(selector, element)) return selector;
    }
    return parts.join(" > ");
  };
  const started = new WeakMap();
  let open = null;
  const begin = (field) => {
    if (!isText(field)) return;
    isSecret(field);
    open = field;
    if (!started.has(field)) started.set(field, field.value);
  };
  const end = () => {
    const field = open;
    if (field === null) return;
    const before = started.get(field) ?? "";
    if (field.value === before) return;
    started.set(field, field.value);
    const selector = selectorOf(field);
    report(isSecret(field) ? { type: "secret", selector } : { type: "write", selector, before, text: field.value });
  };
  const own = (event) => event.composedPath()[0];
  addEventListener("focusin", (event) => begin(own(event)), true);
  addEventListener("input", (event) => { if (isText(own(event))) { if (open !== own(event)) begin(own(event)); isSecret(own(event)); } }, true);
  addEventListener("focusout", () => { end(); open = null; }, true);
  addEventListener("change", (event) => {
    if (own(event) instanceof HTMLSelectElement) report({ type: "choose", selector: selectorOf(own(event)) });
  }, true);
  addEventListener("click", (event) => {
    // Without a pointer it is the echo of a key or of a label.
    if (!event.isTrusted || event.detail === 0) return;
    end();
    const target = own(event);
    if (!(target instanceof Element)) return;
    const element = target.closest("a, button, input, select, textarea, label, summary, [role], [onclick]") ?? target;
    report({ type: "click", selector: selectorOf(element) });
  }, true);
  addEventListener("keydown", (event) => {
    if (!event.isTrusted || event.ctrlKey || event.altKey || event.metaKey) return;
    const key = event.key === " " ? "Space" : event.key;
    const inText = isText(own(event));
    if (inText && !(key === "Escape" || (key === "Enter" && own(event) instanceof HTMLInputElement))) return;
    if (!/^(?:Enter|Escape|Space|Arrow(?:Up|Down|Left|Right)|Page(?:Up|Down)|Home|End)$/.test(key)) return;
    end();
    report({ type: "press", key });
  }, true);
  document.addEventListener("scrollend", (event) => {
    if (event.target === document) report({ type: "scroll", y: scrollY });
  }, true);
  report({ type: "page" });
})()`;
