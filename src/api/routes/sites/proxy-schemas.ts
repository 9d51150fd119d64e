import { nullable } from "../../schemas.ts";
import { Type } from "../../type.ts";

/** Shared by jobs and crawls. */
export const Proxy = nullable(
  Type.String({
    minLength: 1,
    maxLength: 2000,
    description:
      "`pool`, or the URL of one proxy (http, https or socks5); its user name and password are never shown again",
  }),
);
