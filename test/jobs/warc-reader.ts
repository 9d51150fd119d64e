/** Reads web archives with another program's reader, and beside it byte by byte. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { crc32, inflateRawSync } from "node:zlib";
import { WARCParser } from "warcio";

export interface ReadRecord {
  type: string;
  url: string | null;
  headers: Map<string, string>;
  /** Of an HTTP record. */
  statusLine: string | null;
  http: Map<string, string>;
  /** What comes after the HTTP headers, or all of it. */
  payload: Buffer;
}

/** The pieces of a file that were compressed on their own, each checked against its own sum. */
export function membersOf(bytes: Buffer): Buffer[] {
  const members: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    assert.deepEqual([...bytes.subarray(at, at + 4)], [0x1f, 0x8b, 8, 0], "a plain gzip header");
    const { buffer, engine } = inflateRawSync(bytes.subarray(at + 10), { info: true } as never) as unknown as {
      buffer: Buffer;
      engine: { bytesWritten: number };
    };
    at += 10 + engine.bytesWritten;
    assert.deepEqual([bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)], [crc32(buffer), buffer.length]);
    members.push(buffer);
    at += 8;
  }
  return members;
}

/** As archives write it: base 32. */
function sha1(bytes: Uint8Array): string {
  const bits = [...createHash("sha1").update(bytes).digest()].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const letters = bits.match(/.{5}/g)!.map((five) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[Number.parseInt(five, 2)]);
  return `sha1:${letters.join("")}`;
}

/** One member is one record, whose length and digests are right. Gives the block. */
function checkMember(member: Buffer): { block: Buffer; fields: Map<string, string> } {
  const end = member.indexOf("\r\n\r\n");
  const [version, ...lines] = member.subarray(0, end).toString("utf8").split("\r\n");
  assert.equal(version, "WARC/1.1");
  const fields = new Map(
    lines.map((line) => {
      const colon = line.indexOf(": ");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 2)];
    }),
  );
  const length = Number(fields.get("content-length"));
  const block = member.subarray(end + 4, end + 4 + length);
  assert.equal(block.length, length);
  assert.equal(member.subarray(end + 4 + length).toString("latin1"), "\r\n\r\n");
  assert.match(fields.get("warc-record-id") ?? "", /^<urn:uuid:[0-9a-f-]{36}>$/);
  assert.match(fields.get("warc-date") ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.equal(fields.get("warc-block-digest"), sha1(block));
  return { block, fields };
}

/** By their names in small letters; repeated ones in lines below each other. */
function headersOf(list: Iterable<[string, string]>): Map<string, string> {
  const headers = new Map<string, string>();
  for (const [name, value] of list) {
    const before = headers.get(name.toLowerCase());
    headers.set(name.toLowerCase(), before === undefined ? value : `${before}\n${value}`);
  }
  return headers;
}

/** All records of a file, each of which is whole and agrees with what the other reader sees. */
export async function readWarc(bytes: Buffer): Promise<ReadRecord[]> {
  const members = membersOf(bytes).map(checkMember);
  const source = (async function* () {
    // In pieces that fit nothing.
    for (let at = 0; at < bytes.length; at += 1000) yield new Uint8Array(bytes.subarray(at, at + 1000));
  })();
  const records: ReadRecord[] = [];
  for await (const record of WARCParser.iterRecords(source)) {
    const { block, fields } = members[records.length]!;
    const payload = Buffer.from(await record.readFully(false));
    const hasHttp = record.warcType === "request" || record.warcType === "response";
    const after = hasHttp ? block.subarray(block.indexOf("\r\n\r\n") + 4) : block;
    assert.ok(payload.equals(after), `${record.warcType} ${record.warcTargetURI}`);
    const digest = fields.get("warc-payload-digest");
    if (digest !== undefined) assert.equal(digest, sha1(payload));
    assert.deepEqual(
      [record.warcType, record.warcTargetURI ?? null, record.warcContentLength],
      [fields.get("warc-type"), fields.get("warc-target-uri") ?? null, block.length],
    );
    records.push({
      type: record.warcType ?? "",
      url: record.warcTargetURI ?? null,
      headers: fields,
      statusLine: hasHttp ? (record.httpHeaders?.statusline ?? "") : null,
      http: headersOf(hasHttp ? record.httpHeaders!.headers : []),
      payload,
    });
  }
  assert.equal(records.length, members.length, "one record per compressed piece");
  const ids = members.map(({ fields }) => fields.get("warc-record-id"));
  assert.equal(new Set(ids).size, ids.length, "no id twice");
  for (const { headers } of records)
    if (headers.has("warc-concurrent-to")) assert.ok(ids.includes(headers.get("warc-concurrent-to")));
  return records;
}
