/** TAR files (POSIX ustar) as a stream. Deterministic: all entries have the same time, owner and mode. */
import type { PackedFile } from "./exporter.ts";

const BLOCK = 512;
/** 1 January 1980, as in ZIP files. */
const TIME = 315_532_800;
const MAX_NAME_BYTES = 100;
/** Eleven octal digits. */
const MAX_OCTAL = 0o77_777_777_777;

export async function* tar(files: AsyncIterable<PackedFile> | Iterable<PackedFile>): AsyncGenerator<Uint8Array> {
  for await (const file of files) {
    yield head(file);
    let sent = 0;
    for await (const chunk of file.open()) {
      sent += chunk.length;
      yield chunk;
    }
    if (sent !== file.size) throw new Error(`${file.path} has ${sent} bytes instead of ${file.size}`);
    if (sent % BLOCK !== 0) yield Buffer.alloc(BLOCK - (sent % BLOCK));
  }
  yield Buffer.alloc(2 * BLOCK);
}

function head({ path, size }: PackedFile): Buffer {
  const block = Buffer.alloc(BLOCK);
  const [prefix, name] = nameParts(path);
  block.write(name, 0);
  block.write("0000644\0", 100);
  block.write("0000000\0", 108);
  block.write("0000000\0", 116);
  if (size <= MAX_OCTAL) block.write(`${size.toString(8).padStart(11, "0")}\0`, 124);
  else {
    // The encoding of GNU tar and bsdtar: high bit set, then the binary size.
    block[124] = 0x80;
    block.writeBigUInt64BE(BigInt(size), 128);
  }
  block.write(`${TIME.toString(8).padStart(11, "0")}\0`, 136);
  block.write(" ".repeat(8), 148);
  block.write("0", 156);
  block.write("ustar\x0000", 257);
  block.write(prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

/** Splits long paths at a slash into prefix and name. */
function nameParts(path: string): [prefix: string, name: string] {
  if (Buffer.byteLength(path) <= MAX_NAME_BYTES) return ["", path];
  for (let at = path.indexOf("/"); at > 0; at = path.indexOf("/", at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (Buffer.byteLength(prefix) <= 155 && Buffer.byteLength(name) <= MAX_NAME_BYTES) return [prefix, name];
  }
  throw new Error(`${path} is too long for a tar file`);
}
