// The house rules as a program: reads every source file and names each line that breaks one.
import { findingsIn } from "./tidy/findings.ts";
import { sourcesOfProject } from "./tidy/source.ts";

const sources = sourcesOfProject(new URL("..", import.meta.url).pathname);
const findings = findingsIn(sources);
for (const { path, line, problem } of findings) console.log(`${path}:${line} ${problem}`);
if (findings.length > 0) {
  console.log(`\n${findings.length} places break the house rules.`);
  process.exitCode = 1;
} else {
  console.log(`${sources.length} files keep the house rules.`);
}
