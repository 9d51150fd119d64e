/** Sort orders of a run's tasks. */
export const TASK_ORDERS = ["oldest", "newest", "slowest", "largest"] as const;
export type TaskOrder = (typeof TASK_ORDERS)[number];
