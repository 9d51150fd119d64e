/**
 * How long a test waits for something that is sure to come, before it says what it waited for in vain. It only ends what
 * hangs: on a machine that others kept busy, the start of one server was seen to take three minutes.
 */
export const PATIENCE_MS = 600_000;
