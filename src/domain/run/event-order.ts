/** Which events of a run come first in a list. */
export const EVENT_ORDERS = ["oldest", "newest"] as const;
export type EventOrder = (typeof EVENT_ORDERS)[number];
