//! What build tools, bundlers, linters, provisioners and runners of CI say, each in its own form.
//!
//! Must not know the operating system's or the languages' own messages.

use crate::cause::*;
use crate::verdict::Blame::User;
use crate::verdict::RetryAdvice::Human;

rules! {
    "make.file" FILE_MISSING 89 r"^(?:make(?:\[\d+\])?: [^:]*[./]|\S+:\d+: )[^:]+: No such file or directory$" .tools(&["make"]);
    "latex.package" MISSING_LIBRARY 90 r"LaTeX Error: File [`'][^`']+\.(?:sty|cls|def)' not found";
    "gpg.sign" AUTH_MISSING 88 r"(?i)gpg failed to sign|gpg: signing failed|no secret key\b|failed to sign the data" .retry(Human) .blame(User);
    "cmake.parse" CONFIG_SYNTAX 89 r"^CMake Error: Error in cmake code at|^CMake Error at .*: Parse error|^Parse error\. +(?:Expected|Function missing)";
    "cmake.file" FILE_MISSING 89 r"^CMake Error: The source directory .* does not (?:exist|appear)|^CMake Error at .*\((?:add_subdirectory|include|configure_file|add_executable|add_library|file)\):|^Cannot find source file:|does not contain a CMakeLists\.txt file";
    "bundle.parse" COMPILE_SYNTAX 86 r"^Module parse failed: |^\[?ERROR\]?:? (?:Expected|Unexpected|Unterminated|Invalid (?:character|escape)|Syntax error)|^Syntax ?[Ee]rror: |: Unexpected token \(\d+:\d+\)|Unexpected closing \x22|Expected identifier but found";
    "lint.python.name" MISSING_SYMBOL 84 r"(?:^|: )(?:F821|E0602)\b:? |undefined name '";
    "lint.python.syntax" COMPILE_SYNTAX 89 r"(?:^|: )(?:E999|E0001|invalid-syntax)\b:? |^error: Failed to parse \S+\.py|^error: cannot format .*: Cannot parse|^\S+:\d+: error: .*\[syntax\]$";
    "lint.named" LINT 88 r"^\S+:\d+:\d+ lint/\w|^[!×x⚠] (?:eslint|oxc|typescript|unicorn|react|jsx-a11y|import|jest|vitest|promise|n|nextjs)(?:-\w+)?\(|^L: +\d+ \| P: +\d+ \| |^\d+:\d+ +[✖×] +.+ +[\w/@-]+$|(?i:imports are incorrectly sorted)|^unformatted: |^File would be reformatted";
    "lint.parse" COMPILE_SYNTAX 89 r"^L: +\d+ \| P: +\d+ \| +PRS \||^\S+:\d+:\d+ (?:parse|syntax)\b|SC10(?:0[6-9]|4[6-9]|5[0-9]|6[0-9]|7[0-9]|8[0-9]) \(error\)|^error: cannot parse: ";
    "lint.code" LINT 78 r"^[A-Z]{1,4}\d{3,4} (?:\[\*\] )?[`A-Z][a-z`]|\^-*\^? SC\d{4}\b|^\S+:\d+ (?:DL|SC)\d{4} |^\S+:\d+(?::\d+)?: (?:MD\d{3}|\[\w[\w-]+\] )|^\S+:\d+:\d+\s+(?:error|warning)\s+.+ +[\w/@-]+$";
    "go.vet" LINT 80 r"\.go:\d+:\d+: (?:(?:\w+\.)?(?:Print|Sprint|Fprint|Error|Fatal|Log|Skip|Panic)\w* (?:format|call|arg)|.*(?:possible (?:misuse|formatting)|struct field tag|composite literal uses|self-assignment|passes lock by value|copies lock|unreachable code|should have comment|result of .* call not used)|.*\((?:\w*(?:lint|check|vet)\w*|gosimple|ineffassign|unused|revive|gocritic|gosec|gofmt|gofumpt|goimports|misspell|unparam|lll|dupl|gocyclo|funlen|whitespace|bodyclose|nilerr|wsl|S[AT]?\d{4})\)$|.*\bSA\d{4}\b)";
    "pkg.unknown" MISSING_PACKAGE 93 r"\bwas not found in the package registry|\bthere (?:is|are) no versions? of |^> Could not (?:find|resolve) [\w.-]+:[\w.-]+(?::[\w.+-]+)?\.?$|Could not find [\w.-]+:[\w.-]+:[\w.+-]+\.$|^> Plugin \[id: .* was not found|^Plugin \[id: .*not found";
    "version.required" TOOLCHAIN 87 r"(?i)\d[\d.]* or (?:higher|newer|later|above|greater) (?:is )?required|requires at least .{1,40}version \d|version \d[\d.]*(?: or (?:higher|newer|later))? is required|is not supported by the project \(|(?:python|node|ruby|php|java|jdk|rust|go|npm) version .{1,60}(?:not supported|unsupported|too old|does not satisfy)|your (?:php|ruby|python|node) version (?:\S+ )?(?:is|does)|No matching toolchains? found|release version \d+ not supported|(?:this|package) .{0,60}(?:requires|needs) (?:python|node|ruby|php|java|go|rust|swift|bazel|terraform) ?(?:version )?[>=^~v]*\d|Unsupported Terraform Core version";
    "npm.otp" AUTH_MISSING 92 r"(?i)one-time pass(?:word|code)|two-factor authentication (?:is )?required|\bOTP required";
    "ansible.module" MISSING_MODULE 91 r"couldn't resolve module/action|the role '\S+' was not found|No module named .* in collection";
    "cloud.quota" QUOTA 91 r"(?i)\((?:\w*LimitExceeded\w*|\w*QuotaExceeded\w*)\)|\b\w*(?:Limit|Quota)Exceeded(?:Exception)?: |quota '\w+' exceeded|ServiceQuotaExceeded";
    "kube.wait" DEADLINE 88 r"(?i)timed out waiting for (?:the )?(?:condition|\S+ to)|exceeded its progress deadline|timed out waiting on|(?:rollout|deployment|upgrade|stack) .{0,60}timed out" .tools(&["kubectl", "helm", "oc", "kustomize", "skaffold", "bash", "make", "argocd"]);
    "docker.image" MISSING_IMAGE 90 r"(?i)repository .{0,80}not found|image .{0,80}(?:not found|not known)|repository does not exist" .tools(&["docker", "podman", "docker-compose", "buildah", "kubectl", "helm", "skopeo", "nerdctl"]);
    "ci.runner" WORKER_CRASH 92 r"(?i)runner has received a shutdown signal|runner .{0,60}lost communication|lost communication with the (?:server|runner|agent)|runner system failure|Job failed \(system failure\)|agent (?:was |has )?(?:lost|disconnected|went offline)|executor .{0,40}(?:lost|preempted)|node was (?:preempted|drained)|the self-hosted runner .* lost";
    "shell.unset" MISSING_SYMBOL 86 r"(?i): unbound variable$|: parameter (?:null or )?not set$|variable ist nicht gesetzt|variable sans liaison|未绑定的变量|未绑定变量|The variable '\S+' cannot be retrieved";
}
