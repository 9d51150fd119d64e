import fc from "fast-check";
import { testSeed } from "./seed.ts";

// Tests of properties draw their cases by the seed of the run. fast-check prints it with what failed.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: testSeed() });

export default fc;
