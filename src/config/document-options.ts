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
  ocrUrl: optional({
    name: "APP_OCR_URL",
    type: type.url(["http", "https"]),
    about:
      "Your own server that reads scanned documents, instead of `APP_OCR_COMMAND`: it gets the PDF in a POST request, and answers a PDF with text, or plain text with a form feed between pages. It may be in a private network.",
    example: "http://localhost:8080/ocr",
    secret: "password",
  }),
  ocrTimeoutMs: option({
    name: "APP_OCR_TIMEOUT_SECONDS",
    type: type.duration("seconds", 1, 86_400),
    default: "300",
    about: "Time limit of `APP_OCR_COMMAND` or `APP_OCR_URL` for one document.",
    example: "900",
  }),
};
