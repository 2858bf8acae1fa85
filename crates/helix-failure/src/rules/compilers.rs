//! What compilers, linkers and type checkers say: Rust, TypeScript, C, Go, the JVM, mypy.
//!
//! Must not know how these tools are run.

use crate::cause::*;
use crate::verdict::RetryAdvice::Human;

rules! {
    "rust.name" MISSING_SYMBOL 82 r"^error: (?:cannot find (?:\w+ )?(?:macro|attribute|function|value|type|trait)|environment variable `\w+` not defined)|^(?:\S+:\d+:\d+: )?error\[E0(?:4(?:05|07|12|22|23|24|25|26|31|37|38|46)|5(?:31|32|59|60|71|74|76|99)|60[39]|61[06]|624)\]";
    "rust.module" MISSING_MODULE 82 r"^(?:\S+:\d+:\d+: )?error\[E0(?:432|433|463|583|461)\]|^error: (?:can't find crate|couldn't find crate)|^error\[E0658\]";
    "rust.borrow" BORROW_CHECK 82 r"^(?:\S+:\d+:\d+: )?error\[E0(?:106|261|309|310|373|38[1-4]|49[1-9]|50[0-9]|51[0-6]|59[4-7]|62[123]|700|71[256]|72[16]|744)\]|^error: lifetime may not live long enough|^error: captured variable cannot escape";
    "rust.type" COMPILE_TYPE 78 r"^(?:\S+:\d+:\d+: )?error\[E0\d{3}\]";
    "rust.linker" MISSING_COMMAND 88 r"^error: linker `[^`]+` not found|^(?:error|erreur|Fehler): linker .* not found|(?i)is `?cmake`? not installed|failed to find tool|is it installed(?: and on PATH)?\??|failed to execute command: (?:No such file|program not found)|Could not find `?protoc|Unable to find libclang";
    "rust.missing_lib" MISSING_LIBRARY 88 r"(?i)(?:system library|library) `[^`]+` required by crate|cannot find -l\S+|unable to find library -l|library not found for -l|ld: library '.*' not found|could not find (?:directory of )?openssl|No package '[^']+' found|Package \S+ was not found in the pkg-config search path|(?:error while loading shared libraries|cannot open shared object file)|-l\S+ (?:kann nicht gefunden werden|est introuvable)|(?:kann|konnte) (?:-l\S+|.* -l\S+) nicht (?:ge)?finden|impossible de trouver -l|找不到 -l";
    "rust.syntax" COMPILE_SYNTAX 79 r"^error: (?:expected |unexpected (?:token|closing|end|eof|character|`)|this file contains an un|mismatched closing|unclosed|unterminated|unknown start of token|missing `|invalid suffix|`\w+` is not followed|unmatched|non-item|keyword|macros? must|cannot parse|character literal|leading|no rules expected)|^error\[E0(?:586|670|7(?:48|53|58|65|66|68))\]" .tools(&["cargo", "rustc", "rustfmt", "clippy", "nextest", "bash", "make", "just", "npm"]);
    "rust.lint" LINT 70 r"^error: (?:unused |unneeded |unreachable |redundant |dead code|this \w+|the |use of deprecated|missing documentation|variable |function |(?:field|method|constant|type|struct|enum|static|associated)s? |needless |useless |very complex|you |used |called |casting |explicit |large |manual |length |returning |writing |in an? |item |literal |module |it |an? |unnecessary |needlessly |single|stripping|question|redundant|comparison|match |denote|equal|identical|doc|digits|empty|calling|using )" .tools(&["cargo", "rustc", "clippy"]);
    "link.undefined" MISSING_SYMBOL 84 r"(?i)undefined reference to|undefined symbols?(?: for architecture|: )|unresolved external symbol|nicht definierter (?:verweis|referenz) auf|référence indéfinie vers|对.*未定义的引用|symbol lookup error|multiple definition of";
    "ts.syntax" COMPILE_SYNTAX 82 r"error TS1\d{3}\b|error TS1700[0-9]\b";
    "ts.name" MISSING_SYMBOL 82 r"error TS(?:2304|2305|2318|2339|2503|2551|2552|2552|2582|2583|2584|2614|2662|2663|2694|2724|18004)\b";
    "ts.file" FILE_MISSING 80 r"error TS(?:505[78]|5083|605[34]|6231)\b";
    "ts.unused" LINT 80 r"error TS(?:6133|6138|6192|6196|6198|7027|7028|7029|7030)\b";
    "ts.inputs" NO_TESTS 80 r"error TS1800[23]\b";
    "ts.type" COMPILE_TYPE 76 r"error TS[2-9]\d{3}\b|error TS1[89]\d{3}\b|error TS80\d\d\b";
    "c.header" MISSING_LIBRARY 95 r"(?i)fatal error: [^:]+\.(?:h|hpp|hh|hxx|cuh)\b.{0,3}: |fatal error: '[^']+' file not found|(?:schwerwiegender fehler|erreur fatale|致命错误)\s?[:：] ?\S+\.h|fatal error C1083" .retry(Human);
    "c.name" MISSING_SYMBOL 80 r"(?i)\.(?:c|cc|cpp|cxx|h|hpp|cu|m)(?::\d+)+:? ?(?:fatal )?(?:error|fehler|erreur|错误)\s?[:：] ?.*(?:implicit declaration|undeclared|was not declared|has no member|unknown type name|does not name a type|no member named|use of undeclared|not a member of|implizite deklaration|nicht deklariert|hat kein element|déclaration implicite|non déclaré|n'a pas de membre|未声明|隐式声明|没有名为)";
    "c.syntax" COMPILE_SYNTAX 80 r"(?i)\.(?:c|cc|cpp|cxx|h|hpp|cu|m)(?::\d+)+:? ?(?:fatal )?(?:error|fehler|erreur|错误)\s?[:：] ?.*(?:expected .{1,60}(?:before|at end|after|;|\)|declaration|expression|identifier)|stray .* in program|unterminated|missing terminating|expected '|erwartet|attendu|fehlendes|nicht abgeschlossen|manquant|expected-|缺少|(?:之前|前|处)应有|应为|extraneous|#endif|unbalanced)" .tools(&["gcc", "clang", "g++", "cc", "make", "cmake", "bash", "ninja"]);
    "c.werror" LINT 81 r"\[-Werror=(?:unused|shadow|sign|format|pedantic|parentheses|maybe|uninit|misleading|missing|return-type|switch|unknown)[\w=-]*\]|\[-Werror,-W(?:unused|shadow|sign|format|pedantic|parentheses|conditional|uninit|sometimes|misleading|missing|return|switch|unknown|deprecated|dangling|tautological|logical|extra|self-assign|unreachable|cast|strict|everything|all)[\w-]*\]";
    "c.type" COMPILE_TYPE 74 r"(?i)^\S+?\.(?:c|cc|cpp|cxx|h|hpp|cu|m):\d+(?::\d+)?: (?:fatal )?(?:error|fehler|erreur|错误)\s?[:：]";
    "c.lint" LINT 77 r"^\S+?\.(?:c|cc|cpp|cxx|h|hpp|cu|m):\d+(?::\d+)?: (?:error|warning|style|performance|portability): .* \[[a-z][\w.-]*(?:,-warnings-as-errors)?\]$";
    "c.directive" BAD_USAGE 82 r"error: #error\b";
    "go.name" MISSING_SYMBOL 82 r"^(?:vet: )?\S+\.go:\d+(?::\d+)?: (?:.*undefined(?:: |\b.*(?:has no field or method|type ))|.* not declared by package|undeclared name|.*unknown field|.*has no field or method)";
    "go.module" MISSING_MODULE 84 r"no required module provides package|is not in (?:std|GOROOT)|cannot find (?:package|module providing)";
    "go.unused" LINT 80 r"\.go:\d+(?::\d+)?: (?:declared and not used|\S+ declared (?:and|but) not used|.* imported and not used)";
    "go.cycle" IMPORT_CYCLE 95 r"import cycle not allowed|most likely due to a circular import|^Error: .*circular dependenc|\.go:\d+:\d+: import cycle";
    "go.toolchain" TOOLCHAIN 86 r"requires go >= ?[\d.]+|^go: (?:toolchain|errors parsing go.mod.*invalid go version)|requires rustc [\d.]+|is not supported by the following package|cannot be built because it requires rustc|feature `edition20\d\d` is required|invalid (?:source|target) release|Unsupported class file major version|has been compiled by a more recent version|requires Python|requires a different Python|EBADENGINE|Not compatible with your version of node|engine .* is incompatible with this module|toolchain '.*' is not installed|requires (?:Node\.js|node) (?:v|>=)|python version .* is not supported|The current project's (?:supported )?Python requirement|was compiled against a different Node|lock file version .* requires|lockfile version \d+ (?:was found, but|requires)|error: package `[^`]+` cannot be built";
    "go.syntax" COMPILE_SYNTAX 78 r"\.go:\d+:\d+: (?:expected |missing ['`\x22]|syntax error)";
    "go.type" COMPILE_TYPE 74 r"^(?:vet: )?\S+\.go:\d+:\d+: ";
    "jvm.name" MISSING_SYMBOL 82 r"(?i)error: cannot find symbol|unresolved reference|error: package \S+ does not exist|NoSuchMethod(?:Error|Exception)|NoSuchField(?:Error|Exception)|not found: (?:value|type)|error CS(?:0103|0246|0117|1061|0234)\b";
    "jvm.class" MISSING_MODULE 82 r"ClassNotFoundException|NoClassDefFoundError|Could not find or load main class";
    "jvm.null" NULL_DEREF 82 r"NullPointerException|NullReferenceException";
    "jvm.oom" HEAP_OOM 92 r"java\.lang\.OutOfMemoryError|There is insufficient memory for the Java Runtime|GC overhead limit exceeded|Could not reserve enough space";
    "jvm.syntax" COMPILE_SYNTAX 80 r"(?i)\.java:\d+: error: .*(?:expected|unclosed|illegal start|reached end of file|not a statement|class, interface)|\.kts?:.*(?:Expecting|Unexpected tokens)|error CS1\d{3}:|error CS1002";
    "jvm.type" COMPILE_TYPE 77 r"\.java:\d+: error: |^e: .*\.kts?:|\): error CS\d{4}:|\.scala:\d+: error|\.swift:\d+:\d+: error:";
    "mypy.name" MISSING_SYMBOL 82 r"error: .*\[(?:name-defined|attr-defined|union-attr-missing)\]|error: .*\(report(?:Undefined|AttributeAccess)\w*\)";
    "mypy.type" COMPILE_TYPE 78 r"^\S+\.pyi?:\d+(?::\d+)?: error: |^\S+\.pyi?:\d+:\d+ - error: ";
    "rust.assert" TEST_ASSERTION 96 r"^assertion (?:`[^`]*`|failed|.* failed)|panicked at '?assertion |^assertion failed: |explicit panic in test";
    "rust.none" NULL_DEREF 86 r"called `Option::(?:unwrap|expect)\(\)` on a `None` value";
    "rust.panic" RUNTIME_EXCEPTION 50 r"^thread '.*' (?:\(\d+\) )?panicked at|^called `(?:Result|Option)::|^(?:index out of bounds|attempt to |not implemented|not yet implemented|internal error: entered unreachable|explicit panic)";
    "rust.stack" STACK_OVERFLOW 94 r"has overflowed its stack|^fatal runtime error: stack overflow|goroutine stack exceeds|^fatal error: stack overflow";
}
