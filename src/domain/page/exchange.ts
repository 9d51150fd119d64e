/** One request and the head of its response, as sent over the wire. */
export interface Exchange {
  url: string;
  method: string;
  /** In the order sent. */
  sent: readonly Header[];
  /** When it was sent. */
  at: number;
  status: number;
  statusText: string;
  /** As received: original order and case, including repeated headers. */
  headers: readonly Header[];
}

export type Header = readonly [name: string, value: string];
