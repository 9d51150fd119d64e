/** Reads the binary form of the OpenTelemetry protocol, by the fields of its definition, as the objects that its JSON form has. */
import assert from "node:assert/strict";

/** `packed`: numbers of eight bytes behind each other, as some collectors want them. */
type Kind = "text" | "id" | "number" | "bool" | "int64" | "double" | "time" | "packed times" | "packed doubles" | Shape;
interface Shape {
  [field: number]: [name: string, kind: Kind, many?: "many"];
}

const value: Shape = {
  1: ["stringValue", "text"],
  2: ["boolValue", "bool"],
  3: ["intValue", "int64"],
  4: ["doubleValue", "double"],
};
const attribute: Shape = { 1: ["key", "text"], 2: ["value", value] };
const resource: Shape = { 1: ["attributes", attribute, "many"] };
const scope: Shape = { 1: ["name", "text"], 2: ["version", "text"] };
const status: Shape = { 2: ["message", "text"], 3: ["code", "number"] };
const span: Shape = {
  1: ["traceId", "id"],
  2: ["spanId", "id"],
  4: ["parentSpanId", "id"],
  5: ["name", "text"],
  6: ["kind", "number"],
  7: ["startTimeUnixNano", "time"],
  8: ["endTimeUnixNano", "time"],
  9: ["attributes", attribute, "many"],
  15: ["status", status],
};
const numberPoint: Shape = {
  2: ["startTimeUnixNano", "time"],
  3: ["timeUnixNano", "time"],
  4: ["asDouble", "double"],
  7: ["attributes", attribute, "many"],
};
const histogramPoint: Shape = {
  2: ["startTimeUnixNano", "time"],
  3: ["timeUnixNano", "time"],
  4: ["count", "time"],
  5: ["sum", "double"],
  6: ["bucketCounts", "packed times"],
  7: ["explicitBounds", "packed doubles"],
  9: ["attributes", attribute, "many"],
};
const gauge: Shape = { 1: ["dataPoints", numberPoint, "many"] };
const sum: Shape = { ...gauge, 2: ["aggregationTemporality", "number"], 3: ["isMonotonic", "bool"] };
const histogram: Shape = { 1: ["dataPoints", histogramPoint, "many"], 2: ["aggregationTemporality", "number"] };
const metric: Shape = {
  1: ["name", "text"],
  2: ["description", "text"],
  5: ["gauge", gauge],
  7: ["sum", sum],
  9: ["histogram", histogram],
};
const resourceSpans: Shape = {
  1: ["resource", resource],
  2: ["scopeSpans", { 1: ["scope", scope], 2: ["spans", span, "many"] }, "many"],
};
const resourceMetrics: Shape = {
  1: ["resource", resource],
  2: ["scopeMetrics", { 1: ["scope", scope], 2: ["metrics", metric, "many"] }, "many"],
};

export const readTraces = (bytes: Buffer) => message(bytes, { 1: ["resourceSpans", resourceSpans, "many"] });
export const readMetrics = (bytes: Buffer) => message(bytes, { 1: ["resourceMetrics", resourceMetrics, "many"] });

function message(bytes: Buffer, shape: Shape): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  // Absent lists are empty, and a span without an error has the default status.
  for (const [name, , many] of Object.values(shape)) if (many !== undefined) found[name] = [];
  if (shape === span) found["status"] = {};
  let at = 0;
  const varint = (): bigint => {
    for (let read = 0n, shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      assert.ok(byte !== undefined && shift < 70n, "a number that ends");
      read |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return read;
    }
  };
  while (at < bytes.length) {
    const key = Number(varint());
    const entry = shape[key >> 3];
    assert.ok(entry !== undefined, `field ${key >> 3} is known`);
    const [name, kind, many] = entry;
    const one = (() => {
      switch (key & 7) {
        case 0: {
          const number = varint();
          if (kind === "bool") return number === 1n;
          if (kind === "int64") return String(BigInt.asIntN(64, number));
          assert.equal(kind, "number", name);
          return Number(number);
        }
        case 1: {
          at += 8;
          if (kind === "double") return bytes.readDoubleLE(at - 8);
          assert.equal(kind, "time", name);
          return String(bytes.readBigUInt64LE(at - 8));
        }
        default: {
          assert.equal(key & 7, 2, name);
          const length = Number(varint());
          const part = bytes.subarray(at, (at += length));
          assert.equal(part.length, length, name);
          if (kind === "text") return new TextDecoder("utf-8", { fatal: true }).decode(part);
          if (kind === "id") return part.toString("hex");
          if (kind === "packed times" || kind === "packed doubles") {
            assert.equal(part.length % 8, 0, name);
            const places = Array.from({ length: part.length / 8 }, (_, index) => index * 8);
            if (kind === "packed doubles") return places.map((place) => part.readDoubleLE(place));
            return places.map((place) => String(part.readBigUInt64LE(place)));
          }
          assert.ok(typeof kind === "object", name);
          return message(part, kind);
        }
      }
    })();
    if (many === undefined) found[name] = one;
    else (found[name] as unknown[]).push(one);
  }
  return found;
}
