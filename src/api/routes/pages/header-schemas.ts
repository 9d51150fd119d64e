import { nullable } from "../../schemas.ts";
import { Type } from "../../type.ts";

/** Write-only. */
export const Headers = nullable(
  Type.Record(Type.String(), Type.String({ maxLength: 8192 }), {
    description: "sent to the target's origin only, and never shown again",
  }),
);

/** Accepts a name or an id; responses contain the id. */
export const SessionName = Type.String({
  minLength: 1,
  maxLength: 200,
  description: "id or name of a stored session; it is sent to its own origin only",
});
export const SessionRef = nullable(SessionName);
