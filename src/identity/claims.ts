/** What the claims of a person say. */
import { shownName } from "../domain/access/person.ts";

export type Claims = Readonly<Record<string, unknown>>;

const LONGEST = 256;
const MOST = 2000;

/** The claim of this name, or the one to which its dots lead; undefined: there is none. */
export function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Claims)[name];
  }
  return value;
}

/** Groups are a list of texts, or one text; anything else names none. */
export function groupsIn(claims: Claims, path: string): string[] {
  const value = claimAt(claims, path);
  const list: unknown[] = Array.isArray(value) ? value : [value];
  return list
    .filter((group): group is string => typeof group === "string" && group !== "" && group.length <= LONGEST)
    .slice(0, MOST);
}

/** The e-mail address, unless the provider says that it did not check it; otherwise a name. */
export function nameIn(claims: Claims, subject: string): string {
  const textOf = (name: string) => {
    const value = claims[name];
    return Object.hasOwn(claims, name) && typeof value === "string" ? shownName(value) : "";
  };
  const email = claims["email_verified"] === false ? "" : textOf("email");
  return email || textOf("preferred_username") || textOf("name") || shownName(subject);
}
