/** One request and the head of its answer, as they went over the wire. */
export interface Exchange {
  url: string;
  method: string;
  /** In the order in which they were sent. */
  sent: readonly Header[];
  /** When it was sent. */
  at: number;
  status: number;
  statusText: string;
  /** As the server wrote them: in its order, with its capitals, repeated ones included. */
  headers: readonly Header[];
}

export type Header = readonly [name: string, value: string];
