/**
 * A line that delays everything between the cluster and Postgres, as a network does: `node delay-line.ts HOST PORT MS`.
 * Sends its own port to its parent.
 */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

const [host = "127.0.0.1", port = "5432", ms = "1"] = process.argv.slice(2);

function pipe(from: Socket, to: Socket): void {
  // Timers of equal length fire in order, so the bytes stay in order.
  const later = (work: () => void) => void setTimeout(work, Number(ms));
  from.on("data", (bytes) => later(() => void (to.destroyed || to.write(bytes))));
  from.on("end", () => later(() => to.end()));
  from.on("error", () => to.destroy());
}

const server = createServer((client) => {
  const database = connect(Number(port), host);
  client.setNoDelay(true);
  database.setNoDelay(true);
  pipe(client, database);
  pipe(database, client);
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("disconnect", () => process.exit());
