/** People that another system has signed in. */
import type { Principal } from "./principal.ts";
import type { Role } from "./roles.ts";

export interface Person {
  /** Who vouches for them: the URL of the provider, or `proxy`. */
  issuer: string;
  /** Unique and unchanged at the issuer. */
  subject: string;
  /** For display; may change. */
  name: string;
}

export interface PersonInGroups extends Person {
  groups: readonly string[];
}

/** Of people who are signed in by a proxy in front of the server. */
export const PROXY_ISSUER = "proxy";

const LONGEST_NAME = 200;

/** Two issuers may use the same subject. The URL of an issuer has no fragment. */
const personId = ({ issuer, subject }: Person) => `${issuer}#${subject}`;

export function personPrincipal(person: Person, role: Role): Principal {
  return { kind: "person", id: personId(person), name: person.name, role, limits: null, requestsPerMinute: null };
}

/** Without control characters and those that change the direction of text: names are shown in lists and logs. */
export function shownName(text: string): string {
  return text
    .replace(/[\p{C}\s]+/gu, " ")
    .trim()
    .slice(0, LONGEST_NAME);
}
