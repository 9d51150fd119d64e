import type { Operations } from "../api/types.ts";

export type Actor = NonNullable<Operations["listJobVersions"]["answer"][number]["made_by"]>;

/** Who did something. */
export function actorText({ kind, name }: Actor): string {
  return TEXTS[kind](name);
}

const TEXTS: Readonly<Record<Actor["kind"], (name: string) => string>> = {
  key: (name) => `Key ${name}`,
  person: (name) => name,
  token: () => "Server token",
  local: () => "Local user",
  schedule: (name) => `Schedule of ${name}`,
  repair: () => "Automatic repair",
  system: () => "Orbweaver",
};
