/** The table insertion modes: parts are implied, and other content is foster-parented in front of the table. */
import type { Formatting } from "./formatting.ts";
import type { OpenElements } from "./open-elements.ts";
import { type Tag, TAGS } from "./tags.ts";

const TBODY = TAGS.get("tbody") as Tag;
const TR = TAGS.get("tr") as Tag;
const COLGROUP = TAGS.get("colgroup") as Tag;
const BODIES = ["tbody", "tfoot", "thead"] as const;
const PARTS = new Set(["caption", "col", "colgroup", "tbody", "td", "tr"]);

/**
 * `done`: handled. `again`: reprocess in the new mode. `body`: process as in the body. `foster`: likewise, with foster
 * parenting.
 */
export type Verdict = "done" | "again" | "body" | "foster";

export class Tables {
  readonly #open: OpenElements;
  readonly #formatting: Formatting;

  constructor(open: OpenElements, formatting: Formatting) {
    this.#open = open;
    this.#formatting = formatting;
  }

  startTag(tag: Tag, from: number, to: number): Verdict {
    switch (this.#open.mode) {
      case "in-table":
        return this.#startInTable(tag, from, to);
      case "in-table-body":
        return this.#startInTableBody(tag, from, to);
      case "in-row":
        return this.#startInRow(tag, from, to);
      case "in-cell":
        if (!PARTS.has(tag.rule)) return "body";
        if (!this.#open.inTableScope("td", "th")) return "done";
        this.#closeCell();
        return "again";
      case "in-caption":
        if (!PARTS.has(tag.rule)) return "body";
        return this.#closeCaption() ? "again" : "done";
      case "in-colgroup":
        return this.#startInColgroup(tag, from, to);
      case "in-template":
        return this.#startInTemplate(tag);
      default:
        return "body";
    }
  }

  #startInTable(tag: Tag, from: number, to: number): Verdict {
    const open = this.#open;
    switch (tag.rule) {
      case "caption":
        open.clearTo("table", "html");
        this.#formatting.mark();
        open.open(tag, from, to);
        open.mode = "in-caption";
        return "done";
      case "colgroup":
        open.clearTo("table", "html");
        open.open(tag, from, to);
        open.mode = "in-colgroup";
        return "done";
      case "col":
        open.clearTo("table", "html");
        open.open(COLGROUP);
        open.mode = "in-colgroup";
        return "again";
      case "tbody":
        open.clearTo("table", "html");
        open.open(tag, from, to);
        open.mode = "in-table-body";
        return "done";
      case "td":
      case "tr":
        open.clearTo("table", "html");
        open.open(TBODY);
        open.mode = "in-table-body";
        return "again";
      case "table":
        return this.#endTable() ? "again" : "done";
      case "head-content":
      case "template":
        return tag.name === "style" || tag.name === "script" || tag.rule === "template" ? "body" : "foster";
      default:
        return "foster";
    }
  }

  #startInTableBody(tag: Tag, from: number, to: number): Verdict {
    const open = this.#open;
    if (tag.rule === "tr") {
      open.clearTo("tbody", "tfoot", "thead", "html");
      open.open(tag, from, to);
      open.mode = "in-row";
      return "done";
    }
    if (tag.rule === "td") {
      open.clearTo("tbody", "tfoot", "thead", "html");
      open.open(TR);
      open.mode = "in-row";
      return "again";
    }
    if (PARTS.has(tag.rule)) {
      if (!open.inTableScope(...BODIES)) return "done";
      open.clearTo("tbody", "tfoot", "thead", "html");
      open.stack.pop();
      open.mode = "in-table";
      return "again";
    }
    return this.#startInTable(tag, from, to);
  }

  #startInRow(tag: Tag, from: number, to: number): Verdict {
    const open = this.#open;
    if (tag.rule === "td") {
      open.clearTo("tr", "html");
      open.open(tag, from, to);
      open.mode = "in-cell";
      this.#formatting.mark();
      return "done";
    }
    if (PARTS.has(tag.rule)) return this.#closeRow() ? "again" : "done";
    return this.#startInTable(tag, from, to);
  }

  #startInColgroup(tag: Tag, from: number, to: number): Verdict {
    const open = this.#open;
    if (tag.rule === "col") {
      open.insert(tag, from, to);
      return "done";
    }
    if (tag.rule === "template") return "body";
    if (open.current.tag.rule !== "colgroup") return "done";
    open.stack.pop();
    open.mode = "in-table";
    return "again";
  }

  #startInTemplate(tag: Tag): Verdict {
    const open = this.#open;
    if (tag.rule === "head-content" || tag.rule === "template") return "body";
    if (tag.rule === "td") open.readTemplateAs("in-row");
    else if (tag.rule === "tr") open.readTemplateAs("in-table-body");
    else if (tag.rule === "col") open.readTemplateAs("in-colgroup");
    else open.readTemplateAs(PARTS.has(tag.rule) ? "in-table" : "in-body");
    return "again";
  }

  endTag(tag: Tag): Verdict {
    const open = this.#open;
    if (tag.rule === "template") return "body";
    switch (open.mode) {
      case "in-table":
        if (tag.rule === "table") {
          this.#endTable();
          return "done";
        }
        return PARTS.has(tag.rule) || tag.rule === "body" || tag.rule === "html" ? "done" : "foster";
      case "in-table-body":
        if (tag.rule !== "tbody" && tag.rule !== "table") {
          return PARTS.has(tag.rule) || tag.rule === "body" || tag.rule === "html" ? "done" : "foster";
        }
        if (!open.inTableScope(...(tag.rule === "tbody" ? [tag.name] : BODIES))) return "done";
        open.clearTo("tbody", "tfoot", "thead", "html");
        open.stack.pop();
        open.mode = "in-table";
        return tag.rule === "table" ? "again" : "done";
      case "in-row":
        if (tag.rule === "tr") {
          this.#closeRow();
          return "done";
        }
        if (tag.rule === "table") return this.#closeRow() ? "again" : "done";
        if (tag.rule === "tbody") return open.inTableScope(tag.name) && this.#closeRow() ? "again" : "done";
        return PARTS.has(tag.rule) || tag.rule === "body" || tag.rule === "html" ? "done" : "foster";
      case "in-cell":
        return this.#endInCell(tag);
      case "in-caption":
        if (tag.rule === "caption") {
          this.#closeCaption();
          return "done";
        }
        if (tag.rule === "table") return this.#closeCaption() ? "again" : "done";
        return PARTS.has(tag.rule) || tag.rule === "body" || tag.rule === "html" ? "done" : "body";
      case "in-colgroup":
        if (tag.rule === "col" || open.current.tag.rule !== "colgroup") return "done";
        open.stack.pop();
        open.mode = "in-table";
        return tag.rule === "colgroup" ? "done" : "again";
      case "in-template":
        return "done";
      default:
        return "body";
    }
  }

  #endInCell(tag: Tag): Verdict {
    const open = this.#open;
    if (tag.rule === "td") {
      if (!open.inTableScope(tag.name)) return "done";
      open.impliedEnds();
      open.popThroughName(tag.name);
      this.#formatting.clearToMark();
      open.mode = "in-row";
      return "done";
    }
    if (tag.rule === "table" || tag.rule === "tbody" || tag.rule === "tr") {
      if (!open.inTableScope(tag.name)) return "done";
      this.#closeCell();
      return "again";
    }
    return PARTS.has(tag.rule) || tag.rule === "body" || tag.rule === "html" ? "done" : "body";
  }

  #endTable(): boolean {
    if (!this.#open.inTableScope("table")) return false;
    this.#open.popThroughName("table");
    this.#open.resetMode();
    return true;
  }

  #closeRow(): boolean {
    const open = this.#open;
    if (!open.inTableScope("tr")) return false;
    open.clearTo("tr", "html");
    open.stack.pop();
    open.mode = "in-table-body";
    return true;
  }

  #closeCell(): void {
    this.#open.impliedEnds();
    this.#open.popThroughName("td", "th");
    this.#formatting.clearToMark();
    this.#open.mode = "in-row";
  }

  #closeCaption(): boolean {
    const open = this.#open;
    if (!open.inTableScope("caption")) return false;
    open.impliedEnds();
    open.popThroughName("caption");
    this.#formatting.clearToMark();
    open.mode = "in-table";
    return true;
  }
}
