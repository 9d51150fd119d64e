import { type AddressInfo, createConnection, createServer, type Server, type Socket } from "node:net";

/** Traffic on a connection to Postgres. */
export interface Traffic {
  /** Round trips: messages sent after a response had arrived. */
  journeys: number;
  statements: number;
  bytes: number;
}

/** A TCP proxy to Postgres that counts messages; reads the first byte and the length of each. */
export class CountingLine {
  readonly traffic: Traffic = { journeys: 0, statements: 0, bytes: 0 };
  /** Journeys of each connection. */
  readonly journeysOf: number[] = [];
  readonly #server: Server;

  private constructor(port: number) {
    this.#server = createServer((near) => this.#join(near, createConnection({ host: "127.0.0.1", port })));
  }

  static async to(port: number): Promise<CountingLine> {
    const line = new CountingLine(port);
    await new Promise<void>((resolve) => line.#server.listen({ host: "127.0.0.1", port: 0 }, resolve));
    return line;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  #join(near: Socket, far: Socket): void {
    const connection = this.journeysOf.push(0) - 1;
    // Queries that the server has not answered. What is sent meanwhile waits for nothing.
    let open = 0;
    let isUnderWay = false;
    near.setNoDelay(true);
    far.setNoDelay(true);
    const asked = messages((type) => {
      // The first message of a connection has no type byte: it is answered like a query.
      if (type === null || type === SYNC || type === QUERY) open += 1;
      if (type === BIND || type === QUERY) this.traffic.statements += 1;
    }, true);
    const answered = messages((type) => {
      if (type === READY) open -= 1;
      if (open === 0) isUnderWay = false;
    });
    near.on("data", (data) => {
      if (!isUnderWay) {
        this.traffic.journeys += 1;
        this.journeysOf[connection] = (this.journeysOf[connection] ?? 0) + 1;
      }
      isUnderWay = true;
      this.traffic.bytes += data.length;
      asked(data);
      far.write(data);
    });
    far.on("data", (data) => {
      answered(data);
      near.write(data);
    });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on("error", () => one.destroy());
      one.on("close", () => other.destroy());
    }
  }

  close(): void {
    this.#server.close();
  }
}

const BIND = 0x42;
const QUERY = 0x51;
const READY = 0x5a;
const SYNC = 0x53;

/** Tells the type of each message of the protocol. */
function messages(each: (type: number | null) => void, startsUntyped = false): (data: Buffer) => void {
  let rest = Buffer.alloc(0);
  let isUntyped = startsUntyped;
  return (data) => {
    rest = Buffer.concat([rest, data]);
    for (;;) {
      const head = isUntyped ? 0 : 1;
      if (rest.length < head + 4) return;
      const length = head + rest.readInt32BE(head);
      if (rest.length < length) return;
      each(isUntyped ? null : (rest[0] as number));
      isUntyped = false;
      rest = rest.subarray(length);
    }
  };
}
