import { OrbError } from "../../base/errors.ts";

/** An error in the form that passes between threads. */
export interface PlainError {
  message: string;
  /** SQLSTATE; null: not an error of the server. */
  code: string | null;
  /** No connection existed, so nothing was sent. */
  unsent?: boolean;
}

/** Converts an error of `pg`. */
export function plainError(error: unknown): PlainError {
  const { message, code, severity } = error as { message?: string; code?: unknown; severity?: unknown };
  // Only errors of the server have a severity.
  const sqlState = typeof code === "string" && typeof severity === "string" ? code : null;
  return { message: message || String(code ?? error), code: sqlState };
}

/** The server closes a connection whose transaction is idle, because it blocks others. */
const IDLE_IN_TRANSACTION_TIMEOUT = "25P03";

/** The connection is lost or the server accepts none: another connection may succeed. */
export function isConnectionLost({ code, message }: PlainError): boolean {
  // Another process has changed the tables: this connection's prepared statements are invalid.
  if (code === "0A000") return message.startsWith("cached plan");
  return code === null || code.startsWith("08") || code.startsWith("57P") || code === IDLE_IN_TRANSACTION_TIMEOUT;
}

/** The server rolled the transaction back (serialization failure or deadlock): a retry may succeed. */
export function isConflict({ code }: PlainError): boolean {
  return code === "40001" || code === "40P01";
}

/** The error for a connection that lost its session settings. */
export const SETTINGS_LOST = "a connection pooler does not pass on the settings of the connection";

/** Connection errors with hints; the first match applies. */
const CONNECTING: readonly { is(error: PlainError): boolean; what: string; hint: string }[] = [
  {
    is: ({ code }) => code === "42501",
    what: "rejected the login",
    hint: "The user in APP_DATABASE_URL needs CREATE on the database (GRANT CREATE ON DATABASE name TO user), or to own the schema.",
  },
  {
    is: ({ code }) => code === "28P01" || code === "28000" || code === "3D000",
    what: "rejected the login",
    hint: "Check user, password and database name in APP_DATABASE_URL, and the permissions of the user.",
  },
  {
    is: ({ code }) => code === "25006",
    what: "is read-only",
    hint: "It is a standby or set to read-only: point APP_DATABASE_URL at the primary.",
  },
  {
    is: ({ message }) => message === SETTINGS_LOST || message.startsWith("unsupported startup parameter"),
    what: "is behind a pooler that cannot be used",
    hint: "Point APP_DATABASE_URL at the server itself, not at PgBouncer: each process keeps four to seven connections and needs no pooler.",
  },
  {
    is: ({ code }) => code === "53300",
    what: "accepts no more connections",
    hint: "Each process uses four to seven connections: raise max_connections, or the limit of the role or the database, or run fewer processes.",
  },
  {
    is: ({ code, message }) => code === null && /certificate|\bSSL\b|\bTLS\b|altname/i.test(message),
    what: "cannot be reached with TLS",
    hint: "In APP_DATABASE_URL, sslmode=require needs a certificate that can be verified: set sslrootcert=FILE to the CA certificate, sslmode=no-verify to skip the check, or sslmode=disable for no encryption.",
  },
  {
    is: ({ code, message }) => code === null && /^E[A-Z]+: .*, open '/.test(message),
    what: "cannot be connected to",
    hint: "Correct sslrootcert, sslcert or sslkey in APP_DATABASE_URL: each must be a file on this machine.",
  },
  {
    is: (error) => isConnectionLost(error) || error.code?.startsWith("53") === true,
    what: "cannot be reached",
    hint: "Check that it is running, and the host and port in APP_DATABASE_URL.",
  },
];

/** Maps errors of Postgres to `OrbError`s. */
export function postgresError(error: PlainError, text = ""): Error {
  const { message, code } = error;
  const where = text === "" ? "" : ` (in: ${text.replaceAll(/\s+/g, " ").slice(0, 300)})`;
  const cause = Object.assign(new Error(`${message}${where}`), { code });
  if (code === "53100") return new OrbError("disk_full", "the database cannot grow: its disk is full", { cause });
  if (isConflict(error) || code === "55P03" || code === "57014")
    return new OrbError("database_busy", `the database was locked for too long: ${message}`, { cause });
  if (code === IDLE_IN_TRANSACTION_TIMEOUT)
    return new OrbError("database_busy", "the database aborted an idle transaction (timeout)", { cause });
  const known = CONNECTING.find(({ is }) => is(error));
  if (known !== undefined)
    return new OrbError("database_unavailable", `the database ${known.what}: ${message}`, { cause, hint: known.hint });
  if (message.startsWith("illegal ")) return new OrbError("illegal_transition", message, { cause });
  return cause;
}
