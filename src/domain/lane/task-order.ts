/** Which tasks of a run come first in a list. */
export const TASK_ORDERS = ["oldest", "newest", "slowest", "largest"] as const;
export type TaskOrder = (typeof TASK_ORDERS)[number];
