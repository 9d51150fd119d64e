/** Follows a sign-in from server to server as a browser does: with the cookies of each, and with every redirect. */
export class Walker {
  /** By origin, then by name. */
  readonly #jars = new Map<string, Map<string, string>>();
  /** Every Set-Cookie header, in order. */
  readonly set: string[] = [];

  /** The first answer that leads nowhere else, or at which the walk is to stop. */
  async open(
    url: string,
    until: (location: string) => boolean = () => false,
  ): Promise<{ url: string; response: Response }> {
    let here = url;
    for (let hop = 0; hop < 20; hop += 1) {
      const { origin } = new URL(here);
      const cookie = this.cookiesOf(origin);
      const headers = { accept: "text/html", ...(cookie === "" ? {} : { cookie }) };
      const response = await fetch(here, { redirect: "manual", headers });
      for (const line of response.headers.getSetCookie()) this.#keep(origin, line);
      const location = response.headers.get("location");
      if (location === null) return { url: here, response };
      await response.body?.cancel();
      here = new URL(location, here).href;
      if (until(here)) return { url: here, response };
    }
    throw new Error(`too many redirects from ${url}`);
  }

  cookiesOf(origin: string): string {
    return [...(this.#jars.get(origin) ?? [])].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  cookie(origin: string, name: string): string | undefined {
    return this.#jars.get(origin)?.get(name);
  }

  forget(origin: string, name?: string): void {
    if (name === undefined) this.#jars.delete(origin);
    else this.#jars.get(origin)?.delete(name);
  }

  #keep(origin: string, line: string): void {
    this.set.push(line);
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    const jar = this.#jars.get(origin) ?? new Map<string, string>();
    this.#jars.set(origin, jar);
    if (/max-age=0|expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name);
    else jar.set(name, value);
  }
}
