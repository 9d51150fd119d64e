import assert from "node:assert/strict";
import { inflateRawSync } from "node:zlib";

/** What is in a ZIP file by a second reading of its format: from the directory at its end. */
export function readZip(bytes: Buffer): Map<string, Buffer> {
  const end = bytes.length - 22;
  assert.equal(bytes.readUInt32LE(end), 0x06054b50);
  let [count, at] = [bytes.readUInt16LE(end + 10), bytes.readUInt32LE(end + 16)];
  if (count === 0xffff || at === 0xffffffff) {
    const full = Number(bytes.readBigUInt64LE(end - 20 + 8));
    assert.equal(bytes.readUInt32LE(full), 0x06064b50);
    [count, at] = [Number(bytes.readBigUInt64LE(full + 32)), Number(bytes.readBigUInt64LE(full + 48))];
  }
  const found = new Map<string, Buffer>();
  for (let n = 0; n < count; n += 1) {
    assert.equal(bytes.readUInt32LE(at), 0x02014b50);
    const [nameLength, extraLength] = [bytes.readUInt16LE(at + 28), bytes.readUInt16LE(at + 30)];
    const name = bytes.toString("utf8", at + 46, at + 46 + nameLength);
    let extra = at + 46 + nameLength + 4;
    const wide = (value: number) => {
      if (value !== 0xffffffff) return value;
      extra += 8;
      return Number(bytes.readBigUInt64LE(extra - 8));
    };
    const size = wide(bytes.readUInt32LE(at + 24));
    const packed = wide(bytes.readUInt32LE(at + 20));
    const offset = wide(bytes.readUInt32LE(at + 42));
    const start = offset + 30 + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28);
    const content = bytes.subarray(start, start + packed);
    found.set(name, bytes.readUInt16LE(at + 10) === 8 ? inflateRawSync(content) : content);
    assert.equal(found.get(name)?.length, size);
    at += 46 + nameLength + extraLength;
  }
  return found;
}
