/** Styles and lists of a Word file. */
import { readXml } from "../xml.ts";
import { isOn } from "./ooxml.ts";

interface Style {
  name: string;
  basedOn: string | null;
  outline: number | null;
  numId: string | null;
  level: number | null;
}

export class WordStyles {
  readonly #styles = new Map<string, Style>();
  language: string | null = null;

  constructor(xml: string) {
    let style: Style | null = null;
    let isDefault = false;
    readXml(xml, {
      open: (name, attributes) => {
        const { val } = attributes;
        if (name === "docDefaults") isDefault = true;
        else if (name === "lang" && isDefault) this.language ??= val ?? null;
        else if (name === "style") {
          style = { name: "", basedOn: null, outline: null, numId: null, level: null };
          if (attributes["type"] === "paragraph") this.#styles.set(attributes["styleId"] ?? "", style);
        } else if (style === null || val === undefined) return;
        else if (name === "name") style.name = val.toLowerCase();
        else if (name === "basedOn") style.basedOn = val;
        else if (name === "outlineLvl") style.outline = Number(val);
        else if (name === "numId") style.numId = val;
        else if (name === "ilvl") style.level = Number(val);
      },
      close(name) {
        if (name === "style") style = null;
        else if (name === "docDefaults") isDefault = false;
      },
    });
  }

  /** 1 to 6; null: no heading. */
  headingLevel(id: string | null): number | null {
    for (const style of this.#chain(id)) {
      if (style.name === "title") return 1;
      const named = /^(?:heading|überschrift|titre|título|titolo) (\d)$/.exec(style.name);
      if (named !== null) return Math.min(6, Number(named[1]));
      if (style.outline !== null && style.outline < 9) return Math.min(6, style.outline + 1);
    }
    return null;
  }

  listOf(id: string | null): { numId: string; level: number } | null {
    for (const { numId, level } of this.#chain(id)) if (numId !== null) return { numId, level: level ?? 0 };
    return null;
  }

  *#chain(id: string | null): Generator<Style> {
    const seen = new Set<string>();
    for (let next = id; next !== null && !seen.has(next) && seen.size < 20;) {
      seen.add(next);
      const style = this.#styles.get(next);
      if (style === undefined) return;
      yield style;
      next = style.basedOn;
    }
  }
}

/** Which lists are numbered. */
export class WordLists {
  /** The formats of the levels, by the definition's id. */
  readonly #formats = new Map<string, Map<number, string>>();
  readonly #definitions = new Map<string, string>();

  constructor(xml: string) {
    let definition = new Map<number, string>();
    let level = 0;
    let number = "";
    readXml(xml, {
      open: (name, { val = "", ...rest }) => {
        if (name === "abstractNum") this.#formats.set(rest["abstractNumId"] ?? "", (definition = new Map()));
        else if (name === "lvl") level = Number(rest["ilvl"] ?? 0);
        else if (name === "numFmt") definition.set(level, val);
        else if (name === "num") number = rest["numId"] ?? "";
        else if (name === "abstractNumId") this.#definitions.set(number, val);
      },
    });
  }

  /** Null: no list. */
  isOrdered(numId: string, level: number): boolean | null {
    if (numId === "0") return null;
    const format = this.#formats.get(this.#definitions.get(numId) ?? "")?.get(level) ?? "bullet";
    if (format === "none") return null;
    return format !== "bullet";
  }
}

/** The style of a run of characters. */
export class RunStyle {
  bold = false;
  italic = false;
  strike = false;
  raised: "sup" | "sub" | null = null;
  hidden = false;

  set(name: string, val: string | undefined): void {
    if (name === "b") this.bold = isOn(val);
    else if (name === "i") this.italic = isOn(val);
    else if (name === "strike" || name === "dstrike") this.strike = isOn(val);
    else if (name === "vanish") this.hidden = isOn(val);
    else if (name === "vertAlign") this.raised = val === "superscript" ? "sup" : val === "subscript" ? "sub" : null;
  }

  get key(): string {
    return `${this.bold}${this.italic}${this.strike}${this.raised ?? ""}`;
  }

  wrap(html: string): string {
    let wrapped = html;
    if (this.raised !== null) wrapped = `<${this.raised}>${wrapped}</${this.raised}>`;
    if (this.strike) wrapped = `<s>${wrapped}</s>`;
    if (this.italic) wrapped = `<em>${wrapped}</em>`;
    return this.bold ? `<strong>${wrapped}</strong>` : wrapped;
  }
}
