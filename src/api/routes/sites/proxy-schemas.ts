import { nullable } from "../../schemas.ts";
import { Type } from "../../type.ts";

/** Shared by jobs and crawls. */
export const Proxy = nullable(
  Type.String({
    minLength: 1,
    maxLength: 2000,
    description:
      "pool for proxies of the pool, or the address of one (http, https or socks5); what stands before its @ is never shown again",
  }),
);
