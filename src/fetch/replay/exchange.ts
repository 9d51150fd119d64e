/** A request of a page and its response: recorded in a browser, or read from a HAR file. */
export interface Exchange {
  request: {
    method: string;
    url: string;
    /** Lower-case names. */
    headers: Record<string, string>;
    body: string | null;
  };
  response: {
    status: number;
    /** Lower-case names. */
    headers: Record<string, string>;
    contentType: string | null;
    body: string;
  };
}
