/** Connections of a process that write claims and outcomes. More than one, so that claims do not wait for settles. */
export const WRITERS = 2;

/** Of a connection, in milliseconds, enforced by the server: an idle transaction would block others. */
export const LIMITS = { statement_timeout: 60_000, lock_timeout: 15_000, idle_in_transaction_session_timeout: 5000 };
