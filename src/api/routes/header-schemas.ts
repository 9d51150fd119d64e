import { nullable } from "../schemas.ts";
import { Type } from "../type.ts";

/** Write-only. */
export const Headers = nullable(
  Type.Record(Type.String(), Type.String({ maxLength: 8192 }), {
    description: "sent to the target's origin alone, and never shown again",
  }),
);
