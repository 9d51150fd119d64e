import { OrbError } from "../../base/errors.ts";

/** What went wrong, as it travels between threads. */
export interface PlainError {
  message: string;
  /** Five letters of Postgres's; null: it is not the server that speaks. */
  code: string | null;
  /** There was no connection over which anything could have been asked. */
  unsent?: boolean;
}

/** Of what `pg` has thrown. */
export function plainError(error: unknown): PlainError {
  const { message, code, severity } = error as { message?: string; code?: unknown; severity?: unknown };
  // Without a severity it is not the server that speaks.
  const own = typeof code === "string" && typeof severity === "string" ? code : null;
  return { message: message || String(code ?? error), code: own };
}

/** The server ends a connection whose transaction stood still, so that others can go on. */
const STOOD_STILL = "25P03";

/** The connection is gone, or the server does not take any: the same may work with another one. */
export function isConnectionLost({ code, message }: PlainError): boolean {
  // Another process has changed the tables: what was prepared on this connection is of no use any more.
  if (code === "0A000") return message.startsWith("cached plan");
  return code === null || code.startsWith("08") || code.startsWith("57P") || code === STOOD_STILL;
}

/** The server has undone the transaction so that others can go on: the same may work when it is tried again. */
export function isConflict({ code }: PlainError): boolean {
  return code === "40001" || code === "40P01";
}

/** Turns what Postgres says into the product's errors. */
export function postgresError(error: PlainError, text = ""): Error {
  const { message, code } = error;
  const where = text === "" ? "" : ` (in: ${text.replaceAll(/\s+/g, " ").slice(0, 300)})`;
  const cause = Object.assign(new Error(`${message}${where}`), { code });
  if (code === "53100") return new OrbError("disk_full", "the database cannot grow: its disk is full", { cause });
  if (isConflict(error) || code === "55P03" || code === "57014")
    return new OrbError("database_busy", `the database was kept busy for too long: ${message}`, { cause });
  if (code === STOOD_STILL)
    return new OrbError("database_busy", "the database ended a transaction that stood still for too long", { cause });
  if (code === "28P01" || code === "28000" || code === "3D000" || code === "42501")
    return new OrbError("database_unavailable", `the database does not let us in: ${message}`, {
      cause,
      hint: "Check user, password and database name in APP_DATABASE_URL, and what that user may do.",
    });
  if (isConnectionLost(error) || code?.startsWith("53") === true)
    return new OrbError("database_unavailable", `the database cannot be reached: ${message}`, {
      cause,
      hint: "See that it runs, and that host and port in APP_DATABASE_URL are its own.",
    });
  if (message.startsWith("illegal ")) return new OrbError("illegal_transition", message, { cause });
  return cause;
}
