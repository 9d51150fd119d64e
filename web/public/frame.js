// Shows HTML of strangers. This document has an origin of its own and no network (its content policy says so), and what
// could act in the HTML is taken out before it is shown.
// In: {type: "show", html, page}. Out: {type: "ready"} once, {type: "shown", page} after each page.
// For whoever builds rules. In: {type: "pick", on}: elements are outlined, and a click tells which one it was.
// {type: "mark", selector, items}: shows what they find. {type: "try", id, selectors, within}: what each finds, in the
// page or in the item (`within`) around the element that was clicked last. Out: {type: "picked", chain, text,
// position, page}, {type: "marked", count, items, wrong}, {type: "tried", id, results}. {type: "locate", id, text}: where the page
// shows a text. Out: {type: "located", id, places, page}.
(() => {
  const REMOVED =
    "script, noscript, iframe, frame, frameset, object, embed, applet, portal, base, link, meta, template, dialog";

  // Elements with such names would stand in the place of what documents and forms have by nature.
  const HIDERS = "img, form, input, button, select, textarea, fieldset, output";
  const isNatural = (value) => value in Document.prototype || value in HTMLFormElement.prototype;
  // Until those are gone nothing can be asked of the page itself.
  const { querySelectorAll } = Document.prototype;
  const { getAttributeNames, getAttribute, setAttribute, removeAttribute, matches } = Element.prototype;

  function clean(html) {
    const page = new DOMParser().parseFromString(html, "text/html");
    for (const element of querySelectorAll.call(page, REMOVED)) element.remove();
    for (const element of querySelectorAll.call(page, "*")) {
      for (const name of getAttributeNames.call(element)) {
        const value = getAttribute.call(element, name);
        const acts = /^on/i.test(name) || /^(action|formaction|srcdoc|ping|target|autofocus)$/i.test(name);
        const leads = /^(href|src|xlink:href)$/i.test(name) && !/^\s*data:image\//i.test(value);
        const hides = /^(name|id)$/i.test(name) && isNatural(value) && matches.call(element, HIDERS);
        if (acts) removeAttribute.call(element, name);
        // What it led to, or was called, stays readable; it leads nowhere.
        else if (leads || hides) {
          removeAttribute.call(element, name);
          setAttribute.call(element, `data-orb-${name.replace(":", "-")}`, value);
        }
      }
    }
    return page;
  }

  function show(html, number) {
    shown = number;
    const page = clean(html);
    const styles = [...page.head.querySelectorAll("style")];
    document.head.replaceChildren(...styles.map((style) => document.importNode(style, true)));
    document.body.replaceWith(document.importNode(page.body, true));
    picked = null;
    document.head.append(looks);
    parent.postMessage({ type: "shown", page: shown }, "*");
  }

  // The number of the shown page; null: none yet.
  let shown = null;
  let picking = false;
  let picked = null;
  const looks = document.createElement("style");
  looks.textContent = `
    [data-orb-item] { outline: 2px dashed #8a86e8 !important; outline-offset: 2px !important; }
    [data-orb-found] { outline: 2px solid #17803f !important; outline-offset: 1px !important; background-color: #17803f22 !important; }
    [data-orb-over] { outline: 2px solid #5048c8 !important; outline-offset: 1px !important; background-color: #5048c822 !important; cursor: crosshair !important; }`;

  // What leads somewhere has another name here.
  const inHere = (selector) => selector.replace(/\[\s*(href|src)\b/gi, "[data-orb-$1");
  const unmark = (name) => {
    for (const element of document.querySelectorAll(`[${name}]`)) element.removeAttribute(name);
  };
  const classesOf = (element) => [...element.classList].join(" ");

  function describe(element, longest) {
    const attributes = {};
    for (const { name, value } of element.attributes) {
      const own = /^data-orb-(href|src|xlink-href|name|id)$/.exec(name)?.[1];
      if (own !== undefined) attributes[own] = value.slice(0, longest);
      else if (!name.startsWith("data-orb-")) attributes[name] = value.slice(0, longest);
    }
    const same = [...(element.parentElement?.children ?? [element])].filter(
      ({ tagName }) => tagName === element.tagName,
    );
    return {
      tag: element.localName,
      id: element.id,
      classes: [...element.classList],
      attributes,
      nth: same.indexOf(element) + 1,
      ofType: same.length,
      only: element.parentElement?.childElementCount === 1,
      alike: same.filter((other) => classesOf(other) === classesOf(element)).length,
    };
  }

  // As the server reads a text: styles do not change it, and blocks are words of their own.
  const BLOCKS = new Set(
    "address article aside blockquote br caption center dd details dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li main menu nav ol optgroup option p pre search section summary table tbody td tfoot th thead title tr ul".split(
      " ",
    ),
  );
  const LONGEST = 10_001;
  function textOf(element) {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) =>
      node.localName === "style" ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
    );
    let text = "";
    const open = [];
    for (let node = walker.nextNode(); node !== null && text.length < 4 * LONGEST; node = walker.nextNode()) {
      while (open.length > 0 && !open.at(-1).contains(node)) {
        open.pop();
        text += " ";
      }
      if (node.nodeType === Node.TEXT_NODE) text += node.data;
      else if (BLOCKS.has(node.localName)) {
        open.push(node);
        text += " ";
      }
    }
    return text.replace(/\s+/g, " ").trim().slice(0, LONGEST);
  }

  function pick(element) {
    picked = element;
    const chain = [describe(element, 2000)];
    for (let at = element.parentElement; at !== null; at = at.parentElement) chain.push(describe(at, 200));
    const position = [...document.querySelectorAll("*")].indexOf(element);
    parent.postMessage({ type: "picked", chain, text: textOf(element), position, page: shown }, "*");
  }

  // Elements with exactly this text or attribute, or else the innermost ones that contain it. Those around them with
  // the same text are the same place.
  const MOST_PLACES = 200;
  const bare = (text) => text.replace(/\s+/g, "");
  function locate(id, text) {
    if (shown === null) return;
    const elements = [...document.querySelectorAll("*")];
    const wanted = bare(text);
    const around = new Set();
    const places = [];
    const parts = [];
    // Backwards: what is inside comes before what is around it.
    for (let at = elements.length - 1; at >= 0 && places.length < MOST_PLACES; at -= 1) {
      const element = elements[at];
      if (!document.body.contains(element) || element.localName === "style") continue;
      const isNamed = [...element.attributes].some(
        ({ name, value }) => value.trim() === text && (!name.startsWith("data-orb-") || /-(href|src)$/.test(name)),
      );
      if (!isNamed && !bare(element.textContent).includes(wanted)) continue;
      const isInner = !around.has(element);
      for (let one = element.parentElement; one !== null; one = one.parentElement) around.add(one);
      const isExact = isNamed || textOf(element) === text;
      const inner = places.find((place) => isExact && element.contains(elements[place.last]));
      if (inner !== undefined) inner.first = Math.min(inner.first, at);
      else if (isExact) places.push({ first: at, last: at });
      else if (isInner) parts.push({ first: at, last: at });
    }
    const found = (places.length > 0 ? places : parts).toReversed().slice(0, MOST_PLACES);
    parent.postMessage({ type: "located", id, places: found, page: shown }, "*");
  }

  function find(scope, selector) {
    if (selector === ":scope") return [scope];
    try {
      return [...scope.querySelectorAll(inHere(selector))];
    } catch {
      return null;
    }
  }

  function mark(selector, items) {
    unmark("data-orb-found");
    unmark("data-orb-item");
    const around = items === "" ? null : find(document, items);
    for (const element of around ?? []) element.setAttribute("data-orb-item", "");
    // Of an item the first match is its value.
    const found =
      selector === ""
        ? []
        : around === null
          ? find(document, selector)
          : around.flatMap((item) => find(item, selector)?.slice(0, 1) ?? []);
    for (const element of found ?? []) element.setAttribute("data-orb-found", "");
    const count = found === null ? 0 : found.length;
    parent.postMessage({ type: "marked", count, items: around?.length ?? 0, wrong: found === null }, "*");
  }

  function tryAll(id, selectors, within) {
    const item = within === null ? document : (picked?.closest(inHere(within)) ?? null);
    const results = selectors.map((selector) => {
      const found = item === null ? [] : (find(item, selector) ?? []);
      return { count: found.length, first: found[0] === picked && picked !== null };
    });
    parent.postMessage({ type: "tried", id, results }, "*");
  }

  addEventListener("message", ({ source, data }) => {
    if (source !== parent || typeof data !== "object" || data === null) return;
    if (data.type === "show" && typeof data.html === "string") show(data.html, data.page ?? null);
    else if (data.type === "pick") {
      picking = data.on === true;
      unmark("data-orb-over");
    } else if (data.type === "mark") mark(String(data.selector ?? ""), String(data.items ?? ""));
    else if (data.type === "locate" && typeof data.text === "string") locate(data.id, data.text);
    else if (data.type === "try" && Array.isArray(data.selectors))
      tryAll(data.id, data.selectors.map(String), data.within ?? null);
  });
  addEventListener(
    "pointerover",
    ({ target }) => {
      if (!picking || !(target instanceof Element)) return;
      unmark("data-orb-over");
      if (target !== document.documentElement && target !== document.body) target.setAttribute("data-orb-over", "");
    },
    true,
  );
  addEventListener("pointerout", () => unmark("data-orb-over"), true);
  // Nothing in here leads anywhere else.
  for (const name of ["click", "submit", "auxclick"])
    addEventListener(
      name,
      (event) => {
        event.preventDefault();
        event.stopPropagation();
        const { target } = event;
        if (picking && name === "click" && target instanceof Element && target !== document.documentElement)
          pick(target);
      },
      true,
    );
  parent.postMessage({ type: "ready" }, "*");
})();
