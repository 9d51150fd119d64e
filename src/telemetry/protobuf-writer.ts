/** Writes protobuf messages into one growing buffer, without objects in between. */

/** Lengths are written after what they count, so they have a fixed size: 28 bits, which is a valid form of a shorter number. */
const LENGTH_BYTES = 4;
/** A loop is faster than a call into the runtime. */
const SHORT = 100;

const WIRE = { varint: 0, fixed64: 1, bytes: 2 } as const;

export class ProtobufWriter {
  #bytes = Buffer.allocUnsafeSlow(64 * 1024);
  #view = new DataView(this.#bytes.buffer);
  #at = 0;

  get length(): number {
    return this.#at;
  }

  /** A copy of what was written; the writer is empty then. */
  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.#at));
    this.#at = 0;
    return taken;
  }

  varint(field: number, value: number): void {
    this.#reserve(20);
    this.#key(field, WIRE.varint);
    this.#varint(value);
  }

  bool(field: number, value: boolean): void {
    this.varint(field, value ? 1 : 0);
  }

  /** A signed integer of up to 53 bits. */
  int64(field: number, value: number): void {
    if (value >= 0) return this.varint(field, value);
    this.#reserve(20);
    this.#key(field, WIRE.varint);
    for (let rest = BigInt.asUintN(64, BigInt(value)); ; rest >>= 7n) {
      if (rest < 0x80n) return void (this.#bytes[this.#at++] = Number(rest));
      this.#bytes[this.#at++] = Number(rest & 0x7fn) | 0x80;
    }
  }

  double(field: number, value: number): void {
    this.#reserve(20);
    this.#key(field, WIRE.fixed64);
    this.#view.setFloat64(this.#at, value, true);
    this.#at += 8;
  }

  fixed64(field: number, value: number): void {
    this.#reserve(20);
    this.#key(field, WIRE.fixed64);
    this.#fixed64(Math.floor(value / 0x1_0000_0000), value >>> 0);
  }

  /** Repeated numbers, packed: not every collector reads them one by one. */
  doubles(field: number, values: readonly number[]): void {
    const begun = this.begin(field);
    this.#reserve(values.length * 8);
    for (const value of values) {
      this.#view.setFloat64(this.#at, value, true);
      this.#at += 8;
    }
    this.end(begun);
  }

  fixed64s(field: number, values: readonly number[]): void {
    const begun = this.begin(field);
    this.#reserve(values.length * 8);
    for (const value of values) this.#fixed64(Math.floor(value / 0x1_0000_0000), value >>> 0);
    this.end(begun);
  }

  /** Milliseconds as nanoseconds, which exceed 53 bits. */
  nanos(field: number, ms: number): void {
    this.#reserve(20);
    this.#key(field, WIRE.fixed64);
    const micros = Math.round(ms * 1000);
    const high = Math.floor(micros / 0x1_0000_0000);
    const low = (micros >>> 0) * 1000;
    this.#fixed64(high * 1000 + Math.floor(low / 0x1_0000_0000), low >>> 0);
  }

  text(field: number, value: string): void {
    const { length } = value;
    this.#reserve(length * 3 + 20);
    this.#key(field, WIRE.bytes);
    const at = this.#skipLength();
    if (length > SHORT || !this.#ascii(value)) {
      this.#at = at + LENGTH_BYTES;
      this.#at += this.#bytes.write(value, this.#at, "utf8");
    }
    this.#setLength(at);
  }

  /** Eight bytes, as ids have them. */
  id(field: number, high: number, low: number): void {
    this.#reserve(20);
    this.#key(field, WIRE.bytes);
    this.#bytes[this.#at++] = 8;
    this.#view.setInt32(this.#at, high);
    this.#view.setInt32(this.#at + 4, low);
    this.#at += 8;
  }

  bytes(field: number, value: Uint8Array): void {
    this.#reserve(value.length + 20);
    this.#key(field, WIRE.bytes);
    this.#varint(value.length);
    this.raw(value);
  }

  /** Fields that were written elsewhere. */
  raw(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#bytes.set(value, this.#at);
    this.#at += value.length;
  }

  /** Begins a message within this one; returns what `end` wants. */
  begin(field: number): number {
    this.#reserve(20);
    this.#key(field, WIRE.bytes);
    return this.#skipLength();
  }

  end(begun: number): void {
    this.#setLength(begun);
  }

  #skipLength(): number {
    const at = this.#at;
    this.#at += LENGTH_BYTES;
    return at;
  }

  #setLength(at: number): void {
    const length = this.#at - at - LENGTH_BYTES;
    this.#bytes[at] = (length & 0x7f) | 0x80;
    this.#bytes[at + 1] = ((length >>> 7) & 0x7f) | 0x80;
    this.#bytes[at + 2] = ((length >>> 14) & 0x7f) | 0x80;
    this.#bytes[at + 3] = (length >>> 21) & 0x7f;
  }

  #key(field: number, wire: number): void {
    // All fields of the protocol are below 16.
    this.#bytes[this.#at++] = (field << 3) | wire;
  }

  #varint(value: number): void {
    let rest = value;
    while (rest > 0x7f) {
      this.#bytes[this.#at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#at++] = rest;
  }

  #fixed64(high: number, low: number): void {
    this.#view.setUint32(this.#at, low, true);
    this.#view.setUint32(this.#at + 4, high, true);
    this.#at += 8;
  }

  /** False: it has other characters, and something of it may have been written. */
  #ascii(value: string): boolean {
    const bytes = this.#bytes;
    let at = this.#at;
    for (let index = 0; index < value.length; index += 1) {
      const code = value.charCodeAt(index);
      if (code > 0x7f) return false;
      bytes[at++] = code;
    }
    this.#at = at;
    return true;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#at + bytes));
    larger.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}
