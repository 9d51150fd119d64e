/** Options of reading documents, part of the table of all options. */
import { option, optional } from "./option.ts";
import * as type from "./types.ts";

export const DOCUMENT_OPTIONS = {
  ocrCommand: optional({
    name: "APP_OCR_COMMAND",
    type: type.commandLine,
    about:
      "Program that reads scanned documents: it gets the PDF on its standard input, and writes a PDF with text, or plain text with a form feed between pages. Without it, scanned documents fail as `needs_ocr`.",
    example: "ocrmypdf --force-ocr - -",
  }),
  ocrTimeoutMs: option({
    name: "APP_OCR_TIMEOUT_SECONDS",
    type: type.duration("seconds", 1, 86_400),
    default: "300",
    about: "Time limit of `APP_OCR_COMMAND` for one document.",
    example: "900",
  }),
};
