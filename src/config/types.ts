/**
 * Value types of options. Each describes what it expects (for errors and the reference page), parses text, and formats
 * values for `orb config`.
 */
import { isIP } from "node:net";
import { resolve } from "node:path";

export interface ValueType<T> {
  /** Completes "expected …". */
  expected: string;
  /** Throws BadValue; anything else it throws is a bug. */
  parse(text: string, cwd: string): T;
  format(value: T): string;
}

/** The text is not of the expected type; a message adds why when "expected …" alone does not explain it. */
export class BadValue extends Error {}

function refuse(why = ""): never {
  throw new BadValue(why);
}

function decimal(text: string, min: number, max: number): number {
  // Number() alone would also accept "", "0x10", "1e3" and "Infinity".
  if (!/^-?(\d+(\.\d*)?|\.\d+)$/.test(text)) refuse();
  const value = Number(text);
  return value >= min && value <= max ? value : refuse();
}

export function integer(min: number, max: number): ValueType<number> {
  return {
    expected: `a whole number from ${min} to ${max}`,
    parse: (text) => (/^-?\d+$/.test(text) ? decimal(text, min, max) : refuse()),
    format: String,
  };
}

/** A duration in a unit, fractions allowed, stored in whole milliseconds. */
export function duration(
  unit: "seconds" | "milliseconds" | "minutes" | "hours",
  min: number,
  max: number,
): ValueType<number> {
  const factor = { milliseconds: 1, seconds: 1000, minutes: 60_000, hours: 3_600_000 }[unit];
  return {
    expected: `a number of ${unit} from ${min} to ${max}`,
    parse: (text) => Math.round(decimal(text, min, max) * factor),
    format: (ms) => String(ms / factor),
  };
}

export const boolean: ValueType<boolean> = {
  expected: "true or false",
  parse: (text) => readBoolean(text) ?? refuse(),
  format: String,
};

function readBoolean(text: string): boolean | undefined {
  const word = text.toLowerCase();
  if (["true", "1", "yes"].includes(word)) return true;
  if (["false", "0", "no"].includes(word)) return false;
  return undefined;
}

export function oneOf<const T extends string>(words: readonly T[]): ValueType<T> {
  return {
    expected: `one of ${words.join(", ")}`,
    parse: (text) => words.find((word) => word === text.toLowerCase()) ?? refuse(),
    format: String,
  };
}

export function listOf<const T extends string>(words: readonly T[]): ValueType<readonly T[]> {
  const one = oneOf(words);
  return {
    expected: `a comma-separated list of ${words.join(", ")}`,
    parse: (text, cwd) => [...new Set(splitList(text).map((word) => one.parse(word, cwd)))],
    format: (list) => list.join(","),
  };
}

export function splitList(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

export const group: ValueType<string> = {
  expected: "name or number of a group on this machine",
  parse: (text) => (/^[\w][\w.-]{0,31}\$?$/.test(text) ? text : refuse()),
  format: String,
};

export const path: ValueType<string> = {
  expected: "a path, absolute or relative to the working directory",
  parse: (text, cwd) => (text.includes("\0") ? refuse() : resolve(cwd, text)),
  format: String,
};

export const commandLine: ValueType<string> = {
  expected: "a program with its arguments, without a shell",
  parse: (text) => (/^[^\0\r\n]{1,2000}$/.test(text) && text.trim() !== "" ? text.trim() : refuse()),
  format: String,
};

/** A third-party API key for a header: only its form is checked. */
export const key: ValueType<string> = {
  expected: "printable ASCII characters without spaces",
  parse: (text) => (/^[\x21-\x7e]+$/.test(text) ? text : refuse()),
  format: String,
};

/** Our own secret. One short enough to be guessed is worse than none: it looks like protection. */
export function strongSecret(minLength: number): ValueType<string> {
  return {
    expected: `at least ${minLength} printable ASCII characters, without spaces`,
    parse: (text, cwd) => {
      key.parse(text, cwd);
      if (text.length < minLength) refuse(`it has ${text.length}`);
      if (new Set(text).size < 4) refuse("it repeats the same few characters");
      return text;
    },
    format: String,
  };
}

/** Text that goes into an HTTP header. */
export const headerText: ValueType<string> = {
  expected: "1 to 256 printable ASCII characters",
  parse: (text) => (/^[\x20-\x7e]{1,256}$/.test(text) ? text : refuse()),
  format: String,
};

export function url(schemes: readonly string[]): ValueType<string> {
  const expected = `a URL that starts with ${schemes.map((scheme) => `${scheme}://`).join(" or ")}`;
  return {
    expected,
    parse: (text) => {
      const parsed = URL.parse(text);
      if (parsed === null || !text.includes("://") || !schemes.includes(parsed.protocol.slice(0, -1))) refuse();
      return text;
    },
    format: String,
  };
}

/** CDP endpoints; `local` is the browser of this machine. */
export const browsers: ValueType<readonly string[]> = {
  expected: "a comma-separated list of URLs that start with ws://, wss://, http:// or https://, and of local",
  parse: (text, cwd) => {
    const one = url(["ws", "wss", "http", "https"]);
    const list = [...new Set(splitList(text).map((part) => (part === "local" ? part : one.parse(part, cwd))))];
    return list.every((part) => part === "local") ? refuse("it names no remote browser") : list;
  },
  format: (list) => list.join(","),
};

const PERCENT = "in the password, write characters other than letters, digits and . _ ~ - as %XX, such as %2F for /";

/** redis://HOST:PORT/NUMBER; the database number is optional. */
export const redis: ValueType<string> = {
  expected: url(["redis", "rediss"]).expected,
  parse: (text, cwd) => {
    if (/^rediss?:/.test(text) && !URL.canParse(text)) refuse(PERCENT);
    const { pathname } = new URL(url(["redis", "rediss"]).parse(text, cwd));
    if (!/^\/?\d*$/.test(pathname)) refuse(`"${pathname}" after the host is not a database number`);
    return text;
  },
  format: String,
};

/** Scheme, host and port only. */
export const origin: ValueType<string> = {
  expected: "http:// or https:// with a host and an optional port",
  parse: (text) => {
    const parsed = URL.parse(text);
    if (parsed === null || !/^https?:$/.test(parsed.protocol)) return refuse();
    if (parsed.username !== "" || parsed.password !== "")
      refuse("set the keys with APP_S3_ACCESS_KEY_ID and APP_S3_SECRET_ACCESS_KEY");
    if (!/^\/?$/.test(parsed.pathname) || parsed.search !== "" || parsed.hash !== "")
      refuse("set the bucket and prefix with APP_ARTIFACTS_URL");
    return parsed.origin;
  },
  format: String,
};

export const host: ValueType<string> = {
  expected: "a host name or an IP address",
  parse: (text) => {
    const bare = /^\[(.*)\]$/.exec(text)?.[1] ?? text;
    if (isIP(bare) !== 0) return bare;
    // All digits and dots, but not an address: a typo such as 127.0.0.256, not a name.
    if (/^[\d.]+$/.test(bare) || !/^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(bare)) refuse();
    return bare.toLowerCase();
  },
  format: String,
};

type DatabaseTarget =
  | { readonly kind: "sqlite"; readonly path: string }
  | { readonly kind: "postgres"; readonly url: string }
  /** The Postgres that `orb up` runs; its port is known when it runs. */
  | { readonly kind: "managed" };

export const database: ValueType<DatabaseTarget> = {
  expected: "sqlite:PATH or postgres://…",
  parse: (text, cwd) => {
    if (/^postgres(ql)?:/.test(text)) {
      if (!URL.canParse(text)) refuse(PERCENT);
      return { kind: "postgres", url: url(["postgres", "postgresql"]).parse(text, cwd) };
    }
    if (!text.startsWith("sqlite:")) refuse();
    const file = text.slice("sqlite:".length);
    if (file.includes(":memory:") || file.includes("mode=memory")) {
      refuse("an in-memory database is lost with the process and cannot be shared; use a file");
    }
    if (/[?#\0]/.test(file)) refuse("options after ? or # are not supported");
    // sqlite:///var/orb.db is the URL spelling of an absolute path; in sqlite://orb.db the name would be a host.
    if (file.startsWith("//") && !file.startsWith("///"))
      refuse("write sqlite:PATH without slashes before a relative path");
    const name = file.replace(/^\/+/, "/");
    if (name === "" || name.endsWith("/")) refuse("the path must name a file");
    return { kind: "sqlite", path: resolve(cwd, name) };
  },
  format: (target) =>
    target.kind === "sqlite"
      ? `sqlite:${target.path}`
      : target.kind === "postgres"
        ? target.url
        : "the managed Postgres",
};

type ArtifactsTarget =
  | { readonly kind: "local"; readonly path: string }
  | { readonly kind: "s3"; readonly bucket: string; readonly prefix: string };

export const artifacts: ValueType<ArtifactsTarget> = {
  expected: "s3://BUCKET/PREFIX (a bucket has 3 to 63 characters) or a directory",
  parse: (text, cwd) => {
    // s3:/bucket and S3://bucket are typos, not directories.
    if (!text.includes("://") && !/^s3:/i.test(text)) return { kind: "local", path: path.parse(text, cwd) };
    const match = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(text);
    if (match === null) return refuse();
    return { kind: "s3", bucket: match[1] ?? "", prefix: (match[2] ?? "").replace(/\/+$/, "") };
  },
  format: (target) => (target.kind === "local" ? target.path : `s3://${target.bucket}/${target.prefix}`),
};

/** False, true, or the networks that are allowed, each as address/prefix. */
export const privateNetworks: ValueType<boolean | readonly string[]> = {
  expected: "true, false or a comma-separated list of CIDRs",
  parse: (text) => {
    const all = readBoolean(text);
    if (all !== undefined) return all;
    const networks = splitList(text);
    return networks.length === 0 ? refuse() : networks.map(readCidr);
  },
  format: (value) => (typeof value === "boolean" ? String(value) : value.join(",")),
};

export function readCidr(text: string): string {
  const [address = "", prefix, ...rest] = text.split("/");
  const family = isIP(address);
  if (family === 0 || rest.length > 0 || address.includes("%")) refuse(`"${text}" is none`);
  const bits = family === 4 ? 32 : 128;
  // A bare address means one machine.
  if (prefix === undefined) return `${address}/${bits}`;
  if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > bits) refuse(`"${text}" is none`);
  return `${address}/${Number(prefix)}`;
}

/** `{"name": n}`: a limit per name. */
export const limitsByName: ValueType<Readonly<Record<string, number>>> = {
  expected: "a JSON object of whole numbers above 0",
  parse: (text) => {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      refuse("it is not JSON");
    }
    if (typeof value !== "object" || value === null || Array.isArray(value)) refuse();
    for (const [name, limit] of Object.entries(value)) {
      if (name !== "*" && (!/^[A-Za-z0-9_.:-]{1,128}$/.test(name) || name === "__proto__"))
        refuse(`${JSON.stringify(name)} is not a name`);
      if (!Number.isInteger(limit) || limit < 1) refuse(`the limit of "${name}" is not a whole number above 0`);
    }
    return value as Record<string, number>;
  },
  format: (limits) => JSON.stringify(limits),
};

/** `name=value,name2=value2`; names and values may be percent-encoded. */
export const keyValues: ValueType<Readonly<Record<string, string>>> = {
  expected: "a comma-separated list of name=value",
  parse: (text) =>
    Object.fromEntries(
      splitList(text).map((pair) => {
        const [, name, value] = /^([^=\s]+)\s*=\s*(.*)$/.exec(pair) ?? refuse();
        return [decodeValue(name ?? ""), decodeValue(value ?? "")];
      }),
    ),
  format: (values) =>
    Object.entries(values)
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
      .join(","),
};

function decodeValue(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return refuse(`"${text}" has a % that is not followed by two hexadecimal digits`);
  }
}

export const fraction: ValueType<number> = {
  expected: "a number from 0 to 1",
  parse: (text) => decimal(text, 0, 1),
  format: String,
};
