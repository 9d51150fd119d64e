/** A cookie as browsers and Playwright write it. Without a domain it belongs to the origin it was given for. */
export interface Cookie {
  name: string;
  value: string;
  domain?: string;
  path?: string;
  /** Seconds since 1970; absent or -1: as long as the session. */
  expires?: number;
  httpOnly?: boolean;
  secure?: boolean;
  sameSite?: "Strict" | "Lax" | "None";
}

/**
 * Credentials for one origin: headers and cookies of a job, or a stored session. They are sent nowhere else, whatever a
 * redirect, a frame or a script requests.
 */
export interface Credentials {
  origin: string;
  headers: Readonly<Record<string, string>>;
  cookies: readonly Cookie[];
  basic: { username: string; password: string } | null;
  /** What the browser keeps for the origin (Playwright's storage state). */
  localStorage: readonly { name: string; value: string }[];
}

export function noCredentials(origin: string): Credentials {
  return { origin, headers: {}, cookies: [], basic: null, localStorage: [] };
}

/** Later ones win, name by name. All must belong to one origin. */
export function mergeCredentials(first: Credentials, second: Credentials): Credentials {
  const cookies = new Map([...first.cookies, ...second.cookies].map((cookie) => [cookieKey(cookie), cookie]));
  const items = new Map([...first.localStorage, ...second.localStorage].map((item) => [item.name, item]));
  return {
    origin: first.origin,
    headers: { ...first.headers, ...second.headers },
    cookies: [...cookies.values()],
    basic: second.basic ?? first.basic,
    localStorage: [...items.values()],
  };
}

const cookieKey = ({ name, domain, path }: Cookie) => `${name}\0${domain ?? ""}\0${path ?? "/"}`;
