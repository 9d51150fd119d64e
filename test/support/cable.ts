import { type AddressInfo, createConnection, createServer, type Server, type Socket } from "node:net";

/** A line to a service that can be cut, and on which everything can be made to stand still. */
export class Cable {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;
  #frozen = false;

  private constructor(server: Server, sockets: Set<Socket>) {
    this.#server = server;
    this.#sockets = sockets;
    this.port = (server.address() as AddressInfo).port;
  }

  static async to(port: number): Promise<Cable> {
    const sockets = new Set<Socket>();
    const server = createServer((near) => {
      const far = createConnection({ host: "127.0.0.1", port });
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(socket);
        socket.pipe(other);
        socket.on("error", () => socket.destroy());
        socket.on("close", () => {
          sockets.delete(socket);
          other.destroy();
        });
        if (cable.#frozen) socket.pause();
      }
    });
    await new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port: 0 }, resolve));
    const cable = new Cable(server, sockets);
    return cable;
  }

  /** Connections stay, and nothing comes through. */
  freeze(): void {
    this.#frozen = true;
    for (const socket of this.#sockets) socket.pause();
  }

  thaw(): void {
    this.#frozen = false;
    for (const socket of this.#sockets) socket.resume();
  }

  /** All connections end, and no new ones can be made. */
  cut(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
