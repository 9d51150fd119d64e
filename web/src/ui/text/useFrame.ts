/** Messages with the frame that shows a third-party page. Its messages are validated before use. */
import { type RefObject, useEffect, useRef, useState } from "react";
import type { Chain, Node, Tried } from "../../logic/selector.ts";

export interface Picked {
  chain: Chain;
  text: string;
  /** Its place among the elements of the page, in document order. */
  position: number;
}

/** Elements with a text: nested ones with the same text are one place. */
interface TextPlace {
  first: number;
  last: number;
}

export interface Frame {
  /** Where the page shows a text, in document order. */
  locate: (text: string) => Promise<TextPlace[]>;
  element: RefObject<HTMLIFrameElement | null>;
  /** What the selectors match, in the page or in the item around the clicked element. */
  ask: (selectors: readonly string[], within: string | null) => Promise<Tried[]>;
}

interface FrameInput {
  html: string;
  /** The highlighted matches, and the items they are in. */
  marked?: { selector: string; items: string };
  /** Without it nothing can be picked. */
  onPicked?: (picked: Picked) => void;
}

/** A frame that does not answer for so long shows nothing. */
const LOCATE_MS = 3000;
const NOTHING = { selector: "", items: "" };

export function useFrame({ html, marked = NOTHING, onPicked }: FrameInput): Frame {
  const element = useRef<HTMLIFrameElement>(null);
  const [ready, setReady] = useState(0);
  const [shown, setShown] = useState(0);
  const locating = useRef(new Map<number, { text: string; resolve: (places: TextPlace[]) => void }>());
  // Numbers the shown pages: a click on the page before does not count for the next one.
  const page = useRef({ html, number: 1 });
  if (page.current.html !== html) page.current = { html, number: page.current.number + 1 };
  const waiting = useRef(new Map<number, (tried: Tried[]) => void>());
  const lastId = useRef(0);
  const latest = useRef(onPicked);
  latest.current = onPicked;
  const post = (message: unknown) => element.current?.contentWindow?.postMessage(message, "*");

  useEffect(() => {
    const onMessage = ({ source, data }: MessageEvent<unknown>) => {
      // The frame has an opaque origin; its window is the only identification.
      if (source === null || source !== element.current?.contentWindow) return;
      const said = (typeof data === "object" && data !== null ? data : {}) as Record<string, unknown>;
      if (said["type"] === "ready") setReady((n) => n + 1);
      else if (said["type"] === "shown") {
        if (said["page"] !== page.current.number) return;
        setShown((n) => n + 1);
        for (const [id, { text }] of locating.current) post({ type: "locate", id, text });
      } else if (said["type"] === "located" && said["page"] === page.current.number) {
        const id = Number(said["id"]);
        locating.current.get(id)?.resolve(Array.isArray(said["places"]) ? said["places"].map(placeOf) : []);
        locating.current.delete(id);
      } else if (said["type"] === "picked") {
        if (said["page"] !== page.current.number) return;
        const chain = chainOf(said["chain"]);
        if (chain.length > 0)
          latest.current?.({ chain, text: String(said["text"] ?? ""), position: Number(said["position"]) || 0 });
      } else if (said["type"] === "tried" && Array.isArray(said["results"])) {
        const id = Number(said["id"]);
        waiting.current.get(id)?.(said["results"].map(triedOf));
        waiting.current.delete(id);
      }
    };
    addEventListener("message", onMessage);
    return () => removeEventListener("message", onMessage);
  }, []);

  useEffect(() => {
    if (ready === 0) return undefined;
    let isOutdated = false;
    // Loaded with the first page: the parser is a tenth of the dashboard's code.
    void import("../logic/clean-html.ts").then(({ cleanHtml }) => {
      if (!isOutdated) post({ type: "show", html: cleanHtml(html), page: page.current.number });
    });
    return () => {
      isOutdated = true;
    };
  }, [ready, html]);
  const picks = onPicked !== undefined;
  useEffect(() => {
    if (shown > 0) post({ type: "pick", on: picks });
  }, [shown, picks]);
  useEffect(() => {
    if (shown > 0) post({ type: "mark", ...marked });
  }, [shown, marked.selector, marked.items]);

  const ask: Frame["ask"] = (selectors, within) =>
    new Promise((resolve) => {
      const id = (lastId.current += 1);
      waiting.current.set(id, resolve);
      post({ type: "try", id, selectors, within });
    });
  const locate: Frame["locate"] = (text) =>
    new Promise((resolve) => {
      const id = (lastId.current += 1);
      locating.current.set(id, { text, resolve });
      // A page that is not shown yet is asked then.
      post({ type: "locate", id, text });
      setTimeout(() => {
        resolve([]);
        locating.current.delete(id);
      }, LOCATE_MS);
    });
  return { element, ask, locate };
}

function placeOf(value: unknown): TextPlace {
  const { first, last } = (value ?? {}) as Record<string, unknown>;
  return { first: Number(first) || 0, last: Number(last) || 0 };
}

function triedOf(value: unknown): Tried {
  const { count, first } = (value ?? {}) as Record<string, unknown>;
  return { count: Number(count) || 0, first: first === true };
}

function chainOf(value: unknown): Node[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, 200).map((one) => {
    const { tag, id, classes, attributes, nth, ofType, only, alike } = (one ?? {}) as Record<string, unknown>;
    const named = typeof attributes === "object" && attributes !== null ? Object.entries(attributes) : [];
    return {
      tag: String(tag),
      id: String(id ?? ""),
      classes: Array.isArray(classes) ? classes.map(String) : [],
      attributes: Object.fromEntries(named.map(([name, text]) => [name, String(text)])),
      nth: Number(nth) || 1,
      ofType: Number(ofType) || 1,
      only: only === true,
      alike: Number(alike) || 1,
    };
  });
}
