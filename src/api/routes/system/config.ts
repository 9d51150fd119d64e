import { CONFIG_SOURCES } from "../../../config/load.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { nullable, oneOf, strict } from "../../schemas.ts";
import { Type } from "../../type.ts";

const Entry = strict({
  name: Type.String({ description: "the variable that sets it" }),
  value: nullable(Type.String({ description: "current value, with secrets masked; null: not set" })),
  source: nullable(
    oneOf(CONFIG_SOURCES, { description: "its source; null: set by the program that uses the library" }),
  ),
  about: Type.String(),
});

export function configRoutes(api: ApiInstance, { configuration }: ApiDeps): void {
  api.get(
    "/config",
    {
      config: { role: "viewer" },
      schema: {
        summary: "The configuration of this process, with secrets masked",
        operationId: "getConfig",
        tags: ["server"],
        response: { 200: Type.Array(Entry) },
      },
    },
    async () => [...configuration],
  );
}
