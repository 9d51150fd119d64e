/** Of a connection, in milliseconds, enforced by the server: an idle transaction would block others. */
export const LIMITS = { statement_timeout: 60_000, lock_timeout: 15_000, idle_in_transaction_session_timeout: 5000 };
