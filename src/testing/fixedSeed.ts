/** Random tests take the same walks in every run; `TIELINE_TEST_SEED=N npm test` takes others. */
import fc from "fast-check";

fc.configureGlobal({ seed: Number(process.env["TIELINE_TEST_SEED"] ?? 1) });
