// Runs tests of the viewer: node test.mjs SUITE STROBE SAMPLE SCRATCH [PATTERN]
//
// SUITE is a file in test/ without its ending, STROBE and SAMPLE are the programs, SCRATCH is a
// folder for what the tests leave, PATTERN chooses tests by name. The tests are TypeScript, so they
// are bundled first.
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const [suite, strobe, sample, scratch, pattern] = process.argv.slice(2);
if (!scratch) {
  console.error("usage: node test.mjs SUITE STROBE SAMPLE SCRATCH [PATTERN]");
  process.exit(2);
}
mkdirSync(scratch, { recursive: true });
const bundle = join(resolve(scratch), `${suite}.mjs`);
await build({
  entryPoints: [join(here, "test", `${suite}.ts`)],
  outfile: bundle,
  bundle: true,
  platform: "node",
  format: "esm",
  // The browser's driver is too large to be copied about; it is found where it is installed.
  plugins: [
    {
      name: "driver",
      setup(setup) {
        const driver = join(here, "node_modules/playwright-core/index.mjs");
        setup.onResolve({ filter: /^playwright-core$/ }, () => ({ path: driver, external: true }));
      },
    },
  ],
  logLevel: "warning",
});
const environment = {
  ...process.env,
  STROBE: resolve(strobe),
  VIEW_SAMPLE: resolve(sample),
  SCRATCH: resolve(scratch),
  PROJECT: resolve(here, ".."),
};
const chosen = pattern ? [`--test-name-pattern=${pattern}`] : [];
const done = spawnSync(process.execPath, ["--test", ...chosen, bundle], {
  stdio: "inherit",
  env: environment,
});
process.exit(done.status ?? 1);
