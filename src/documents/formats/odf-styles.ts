/** Which styles of an OpenDocument file hide what has them: sheets, slides and text. */
import type { Attributes } from "../xml.ts";

/** The style of an element, by the element's name. */
const FAMILIES: Readonly<Record<string, string>> = {
  table: "table",
  page: "drawing-page",
  span: "text",
  p: "paragraph",
  h: "paragraph",
};

export class HiddenStyles {
  readonly #hidden = new Set<string>();
  /** The style that is open. */
  #style: string | null = null;

  open(name: string, attributes: Attributes): void {
    if (name === "style") this.#style = `${attributes["family"] ?? ""} ${attributes["name"] ?? ""}`;
    else if (this.#style !== null && isHiding(name, attributes)) this.#hidden.add(this.#style);
  }

  /** The end of a style. */
  close(): void {
    this.#style = null;
  }

  hides(name: string, attributes: Attributes): boolean {
    const family = FAMILIES[name];
    return family !== undefined && this.#hidden.has(`${family} ${attributes["style-name"] ?? ""}`);
  }
}

function isHiding(name: string, attributes: Attributes): boolean {
  if (name === "table-properties") return attributes["display"] === "false";
  if (name === "drawing-page-properties") return attributes["visibility"] === "hidden";
  return name === "text-properties" && attributes["display"] === "none";
}
