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
    let answered = true;
    let rest = Buffer.alloc(0);
    let begun = false;
    near.setNoDelay(true);
    far.setNoDelay(true);
    near.on("data", (data) => {
      if (answered) this.traffic.journeys += 1;
      answered = false;
      this.traffic.bytes += data.length;
      rest = Buffer.concat([rest, data]);
      for (;;) {
        // The first message of a connection has no type byte.
        const head = begun ? 1 : 0;
        if (rest.length < head + 4) break;
        const length = head + rest.readInt32BE(head);
        if (rest.length < length) break;
        // Bind, or a simple query.
        if (begun && (rest[0] === 0x42 || rest[0] === 0x51)) this.traffic.statements += 1;
        begun = true;
        rest = rest.subarray(length);
      }
      far.write(data);
    });
    far.on("data", (data) => {
      answered = true;
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
