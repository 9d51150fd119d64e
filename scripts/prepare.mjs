// After npm ci in a clone: `import "orbweaver"` finds the built program, which `orb` would otherwise build at its first
// start, and a program beside it that links the clone finds its types. Where it cannot be built, as without the packages for development, the installation is none the worse for it.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "./bootstrap.mjs";
import { ensureCode } from "./code.mjs";
import { makeTypes } from "./types.mjs";

try {
  if (existsSync(join(root, "node_modules", "rolldown"))) {
    await ensureCode();
    await makeTypes();
  }
} catch (error) {
  process.stderr.write(`${error.message}\nThe installation goes on; npm run build tries it again.\n`);
}
