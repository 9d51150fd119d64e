/** A kind of channel: its settings, declared once, and how a message looks to its receiver. */
import type { Message } from "./message.ts";

interface BaseField {
  label: string;
  about: string;
  required?: true;
  /** Stored sealed, and never shown again. */
  secret?: true;
  /** Says where secrets are sent: when it changes, they must be entered again. */
  destination?: true;
  example?: string;
}

export type Field =
  | (BaseField & { type: "text"; maxLength?: number; pattern?: RegExp; expected?: string })
  | (BaseField & { type: "url" })
  | (BaseField & { type: "integer"; minimum: number; maximum: number; default: number })
  | (BaseField & { type: "choice"; choices: readonly string[]; default: string })
  | (BaseField & { type: "list"; most: number; pattern?: RegExp; expected?: string });

export type Fields = Readonly<Record<string, Field>>;
export type SettingValue = string | number | readonly string[];
export type Settings = Readonly<Record<string, SettingValue>>;

/** A request that delivers a message. */
export interface HttpDelivery {
  via: "http";
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Signed with this secret, or with APP_WEBHOOK_SECRET if it is null; absent: not signed. */
  sign?: string | null;
}

/** A mail that delivers a message. */
export interface MailDelivery {
  via: "smtp";
  host: string;
  port: number;
  security: "starttls" | "tls" | "none";
  user: string | null;
  password: string | null;
  from: string;
  to: readonly string[];
  subject: string;
  text: string;
  priority: "high" | "normal";
}

export type Delivery = HttpDelivery | MailDelivery;

export interface ChannelKind {
  kind: string;
  label: string;
  about: string;
  fields: Fields;
  /** Problems of settings that are valid one by one. */
  check?(settings: Settings): { path: string; message: string } | null;
  /** Names the receiver, without secrets. */
  target(settings: Settings): string;
  /** Pure: the same message gives the same bytes. */
  render(settings: Settings, message: Message): Delivery;
  /** The receiver's own explanation in the body of a rejection, in the form that it documents; null: none. */
  reason?(body: string): string | null;
}

export const textIn = (settings: Settings, name: string): string | null => {
  const value = settings[name];
  return typeof value === "string" && value !== "" ? value : null;
};

export const hostOf = (url: string | null) => URL.parse(url ?? "")?.host ?? "";

export const jsonHeaders = { "content-type": "application/json" } as const;

/** A text member of a JSON answer. */
export function memberOf(body: string, name: string): string | null {
  try {
    const value: unknown = (JSON.parse(body) as Record<string, unknown> | null)?.[name];
    return typeof value === "string" && value !== "" ? value : null;
  } catch {
    return null;
  }
}
