// After npm ci in a clone: builds the program, so that `import "orbweaver"` works and linked programs find its types. A
// failure, as without development packages, does not fail the installation.
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
