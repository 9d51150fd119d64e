import { OrbError } from "../../base/errors.ts";

export const PRIMARY_ERROR = {
  BUSY: 5,
  LOCKED: 6,
  READONLY: 8,
  IOERR: 10,
  CORRUPT: 11,
  FULL: 13,
  CANTOPEN: 14,
  CONSTRAINT: 19,
  NOTADB: 26,
};

const IOERR_SHMSIZE = 4874;

/** Maps errors of SQLite to `OrbError`s. */
export function storeError(error: unknown): unknown {
  const code = (error as { errcode?: number }).errcode;
  if (typeof code !== "number" || !(error instanceof Error)) return error;
  // The shared-memory file could not grow: SQLite reports an I/O error, but the disk is full.
  if (code === IOERR_SHMSIZE) {
    return new OrbError("disk_full", "the database cannot be opened: the disk is full", { cause: error });
  }
  switch (code & 0xff) {
    case PRIMARY_ERROR.FULL:
      return new OrbError("disk_full", "the database cannot grow: the disk is full", { cause: error });
    case PRIMARY_ERROR.BUSY:
    case PRIMARY_ERROR.LOCKED:
      return new OrbError("database_busy", "another process locked the database for too long", { cause: error });
    case PRIMARY_ERROR.CANTOPEN:
    case PRIMARY_ERROR.READONLY:
    case PRIMARY_ERROR.IOERR:
    case PRIMARY_ERROR.CORRUPT:
      return new OrbError("database_unavailable", `the database cannot be used: ${error.message}`, { cause: error });
    case PRIMARY_ERROR.NOTADB:
      return new OrbError("database_foreign", "the database file is not an SQLite database", { cause: error });
    case PRIMARY_ERROR.CONSTRAINT:
      return error.message.startsWith("illegal ")
        ? new OrbError("illegal_transition", error.message, { cause: error })
        : error;
    default:
      return error;
  }
}
