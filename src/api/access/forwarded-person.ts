/** People whom a proxy in front of this server has signed in: it names them in a header. */
import { BlockList, isIP } from "node:net";
import { grantingGroup, type GroupRoles, roleOfGroup } from "../../domain/access/group-roles.ts";
import { type Person, personPrincipal, PROXY_ISSUER, shownName } from "../../domain/access/person.ts";
import type { Principal } from "../../domain/access/principal.ts";
import type { ForwardedAuth } from "../deps.ts";
import type { ApiRequest } from "../instance.ts";
import { ApiProblem } from "../problems.ts";

const LONGEST = 256;

export class ForwardedPeople {
  readonly #auth: ForwardedAuth;
  readonly #roles: GroupRoles;
  readonly #proxies = new BlockList();

  constructor(auth: ForwardedAuth, roles: GroupRoles) {
    this.#auth = auth;
    this.#roles = roles;
    for (const network of auth.proxies) {
      const [address = "", prefix = ""] = network.split("/");
      this.#proxies.addSubnet(address, Number(prefix), familyOf(address));
    }
  }

  /** Whom the proxy names; null: no listed proxy sent the request, or it names nobody. */
  subjectOf(request: ApiRequest): string | null {
    // The address of the connection: X-Forwarded-For is what anybody may send.
    if (!this.#isProxy(request.ip)) return null;
    const { header } = this.#auth;
    const subject = onlyValue(request, header);
    if (subject.length > LONGEST) throw malformed(header, `is longer than ${LONGEST} characters`);
    return subject === "" ? null : subject;
  }

  /** Null: as for `subjectOf`. Throws if the person has no role. */
  principalOf(request: ApiRequest): Principal | null {
    const subject = this.subjectOf(request);
    if (subject === null) return null;
    const { groupsHeader } = this.#auth;
    const groups = groupsHeader === null ? [] : onlyValue(request, groupsHeader).split(/[,|]/);
    const person: Person = { issuer: PROXY_ISSUER, subject, name: shownName(subject) };
    const group = grantingGroup(
      groups.map((name) => name.trim()).filter((name) => name !== ""),
      this.#roles,
    );
    const role = group === null ? null : roleOfGroup(group, this.#roles);
    if (role === null) throw new ApiProblem("role_missing", noRole(person.name));
    return personPrincipal(person, role);
  }

  #isProxy(ip: string): boolean {
    const [unscoped = ""] = ip.split("%", 1);
    const address = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(unscoped)?.[1] ?? unscoped;
    return isIP(address) !== 0 && this.#proxies.check(address, familyOf(address));
  }
}

export const noRole = (name: string) => `none of the groups of ${name} has a role here`;

const familyOf = (address: string) => (isIP(address) === 6 ? "ipv6" : "ipv4");

/** A proxy that adds the header to the one that its client sent would let anybody name themselves. */
function onlyValue({ raw }: ApiRequest, name: string): string {
  const values = raw.rawHeaders.filter(
    (_, index) => index % 2 === 1 && raw.rawHeaders[index - 1]?.toLowerCase() === name,
  );
  if (values.length > 1) throw malformed(name, "occurs more than once: the proxy must replace it, not add to it");
  return decoded(values[0] ?? "").trim();
}

/** Node reads headers as Latin-1; proxies send names in UTF-8. */
function decoded(text: string): string {
  const bytes = Buffer.from(text, "latin1");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return text;
  }
}

const malformed = (header: string, why: string) => new ApiProblem("request_malformed", `the header ${header} ${why}`);
