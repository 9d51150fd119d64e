import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { warcFields, warcRecord } from "../domain/page/warc.ts";
import type { Archiver } from "./exporter.ts";

const compress = promisify(gzip);

/** Responses are stored as gzipped WARC records: the archive is a warcinfo record followed by them. */
export const warcArchiver: Archiver = {
  name: "warc",
  contentType: "application/warc",
  extension: "warc.gz",
  about: "raw responses as a web archive; only for crawls started with this format",
  isText: false,
  async *archive(files, { id, now, fileName, fields }) {
    const block = warcFields([
      ["format", "WARC File Format 1.1"],
      ["conformsTo", "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"],
      ...Object.entries(fields),
    ]);
    const contentType = "application/warc-fields";
    const more = [["WARC-Filename", fileName]] as const;
    yield await compress(warcRecord({ type: "warcinfo", id, date: now, contentType, block, more }));
    for await (const file of files) yield* file;
  },
};
