// Bundles the page and lays it into a C file: node build.mjs OUTPUT_FOLDER
//
// The parts are three files: page, script, style. They are written beside the C file as well, for
// looking at.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const folder = process.argv[2];
if (!folder) {
  console.error("usage: node build.mjs OUTPUT_FOLDER");
  process.exit(2);
}
mkdirSync(folder, { recursive: true });

await build({
  entryPoints: { app: join(here, "src/main.tsx") },
  outdir: folder,
  bundle: true,
  minify: true,
  format: "iife",
  target: ["chrome100", "firefox100", "safari15"],
  jsx: "automatic",
  jsxImportSource: "preact",
  charset: "utf8",
  legalComments: "none",
  loader: { ".woff2": "dataurl" },
  logLevel: "warning",
});

const assets = [
  { path: "/index.html", type: "text/html; charset=utf-8", file: join(here, "index.html") },
  { path: "/app.js", type: "text/javascript; charset=utf-8", file: join(folder, "app.js") },
  { path: "/app.css", type: "text/css; charset=utf-8", file: join(folder, "app.css") },
];

function arrayOf(name, bytes) {
  const lines = [];
  for (let i = 0; i < bytes.length; i += 20)
    lines.push(`    ${Array.from(bytes.subarray(i, i + 20)).join(", ")},`);
  return `static const unsigned char ${name}[] = {\n${lines.join("\n")}\n};\n`;
}

const parts = assets.map((asset, i) => arrayOf(`asset_${i}`, readFileSync(asset.file)));
const rows = assets.map(
  (asset, i) =>
    `    {"${asset.path}", "${asset.type}", {(const char *)asset_${i}, sizeof asset_${i}}},`,
);
writeFileSync(
  join(folder, "view_assets.c"),
  `/* Made by web/build.mjs. */
#include "view/view_assets.h"

${parts.join("\n")}
const view_asset view_assets[] = {
${rows.join("\n")}
};
const size_t view_asset_count = sizeof view_assets / sizeof view_assets[0];
`,
);
