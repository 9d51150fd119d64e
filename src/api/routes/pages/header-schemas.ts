import { nullable } from "../../schemas.ts";
import { Type } from "../../type.ts";

/** Write-only. */
export const Headers = nullable(
  Type.Record(Type.String(), Type.String({ maxLength: 8192 }), {
    description: "sent to the target's origin alone, and never shown again",
  }),
);

/** The store knows it by both; what is shown is the id. */
export const SessionName = Type.String({
  minLength: 1,
  maxLength: 200,
  description: "the id or the name of a stored session; it is sent to its own origin alone",
});
export const SessionRef = nullable(SessionName);
