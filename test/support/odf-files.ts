/** Spreadsheets and presentations of OpenDocument, made by hand so that their cells and slides are known. */
import { zipOf } from "./document-files.ts";

const META = `<office:document-meta><office:meta><dc:title>Annual Report</dc:title><meta:initial-creator>Ada Writer</meta:initial-creator></office:meta></office:document-meta>`;
const NAMESPACES = ["office", "style", "text", "table", "draw", "presentation", "xlink"]
  .map((name) => `xmlns:${name}="urn:${name}"`)
  .join(" ");

function odf(kind: "spreadsheet" | "presentation", body: string, styles: string): Buffer {
  return zipOf({
    mimetype: `application/vnd.oasis.opendocument.${kind}`,
    "META-INF/manifest.xml": "<manifest/>",
    "meta.xml": META,
    "content.xml": `<?xml version="1.0"?><office:document-content ${NAMESPACES}><office:automatic-styles>${styles}</office:automatic-styles><office:body><office:${kind}>${body}</office:${kind}></office:body></office:document-content>`,
  });
}

interface OdsCell {
  text?: string;
  /** `table:number-columns-repeated`. */
  repeat?: number;
  columns?: number;
  rows?: number;
  isCovered?: boolean;
  /** Attributes of a value whose text was not written. */
  value?: string;
  href?: string;
}

export interface OdsRow {
  cells: readonly (OdsCell | string)[];
  /** `table:number-rows-repeated`. */
  repeat?: number;
}

interface OdsSheet {
  name: string;
  rows: readonly OdsRow[];
  isHidden?: boolean;
}

const attribute = (name: string, value: number | undefined) => (value === undefined ? "" : ` table:${name}="${value}"`);

function odsCell(cell: OdsCell | string): string {
  const {
    text,
    repeat,
    columns,
    rows,
    isCovered = false,
    value = "",
    href,
  }: OdsCell = typeof cell === "string" ? { text: cell } : cell;
  const name = isCovered ? "table:covered-table-cell" : "table:table-cell";
  const attributes = [
    attribute("number-columns-repeated", repeat),
    attribute("number-columns-spanned", columns),
    attribute("number-rows-spanned", rows),
    value === "" ? "" : ` ${value}`,
  ].join("");
  const lines = (text ?? "").split("\n").filter((line) => line !== "");
  const shown = lines.map((line) => (href === undefined ? line : `<text:a xlink:href="${href}">${line}</text:a>`));
  return `<${name}${attributes}>${shown.map((line) => `<text:p>${line}</text:p>`).join("")}</${name}>`;
}

export function ods(sheets: readonly OdsSheet[]): Buffer {
  const styles = `<style:style style:name="shown" style:family="table"><style:table-properties table:display="true"/></style:style><style:style style:name="hidden" style:family="table"><style:table-properties table:display="false"/></style:style>`;
  const tables = sheets.map(({ name, rows, isHidden = false }) => {
    const body = rows.map(
      ({ cells, repeat }) =>
        `<table:table-row${attribute("number-rows-repeated", repeat)}>${cells.map(odsCell).join("")}</table:table-row>`,
    );
    return `<table:table table:name="${name}" table:style-name="${isHidden ? "hidden" : "shown"}">${body.join("")}</table:table>`;
  });
  return odf("spreadsheet", tables.join(""), styles);
}

interface OdpSlide {
  title: string;
  items?: readonly string[];
  notes?: string;
  isHidden?: boolean;
}

export function odp(slides: readonly OdpSlide[]): Buffer {
  const styles = `<style:style style:name="dp1" style:family="drawing-page"><style:drawing-page-properties presentation:display-footer="true"/></style:style><style:style style:name="dp2" style:family="drawing-page"><style:drawing-page-properties presentation:visibility="hidden"/></style:style>`;
  const frame = (kind: string, content: string) =>
    `<draw:frame presentation:class="${kind}"><draw:text-box>${content}</draw:text-box></draw:frame>`;
  const pages = slides.map(({ title, items = [], notes, isHidden = false }, index) => {
    const list = items.map((item) => `<text:list-item><text:p>${item}</text:p></text:list-item>`).join("");
    const body = items.length === 0 ? "" : frame("outline", `<text:list>${list}</text:list>`);
    const said =
      notes === undefined
        ? ""
        : `<presentation:notes>${frame("notes", `<text:p>${notes}</text:p>`)}${frame("page-number", `<text:p>${index + 1}</text:p>`)}</presentation:notes>`;
    return `<draw:page draw:name="page${index + 1}" draw:style-name="${isHidden ? "dp2" : "dp1"}">${frame("title", `<text:p>${title}</text:p>`)}${body}${frame("footer", "<text:p>Confidential</text:p>")}${said}</draw:page>`;
  });
  return odf("presentation", pages.join(""), styles);
}
