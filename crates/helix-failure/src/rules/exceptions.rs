//! What the class of an uncaught exception says by the words of its name, in whatever language it was raised.
//!
//! Must not know any library: a rule for a library's own class weighs more than these.

use crate::cause::*;

rules! {
    "class.assertion" TEST_ASSERTION 59 r"{py}\w*(?:Assertion|Comparison|Expectation|Mismatch)\w*(?:Error|Exception|Failure|Failed|NotMet)(?:: |:?$)";
    "class.null" NULL_DEREF 62 r"{py}\w*(?:Null|Nil|None)(?:Pointer|Reference|Type|Dereference)\w*(?:Error|Exception|)(?:: |:?$)";
    "class.type" RUNTIME_TYPE 60 r"{py}\w*(?:TypeError|ClassCast|InvalidCast|ArgumentType|ArrayStore|ArgumentCount|BadArity|NoMatchingOverload|UnificationError|IncompatibleType){tail}";
    "class.file" FILE_MISSING 66 r"{py}(?:Errno::)?\w*(?:FileNotFound|NoSuchFile|DirectoryNotFound|PathNotFound|FileDoesNotExist|NotADirectory|IsADirectory|ENOENT|EISDIR|ENOTDIR)(?:Error|Exception|)(?:: |:?$)";
    "class.denied" PERMISSION_DENIED 59 r"{py}(?:Errno::)?(?:\w*(?:UnauthorizedAccess|NotCapable|ReadOnlyFileSystem)\w*|PermissionDenied|EACCES|EPERM)(?:Error|Exception|)(?:: |:?$)";
    "class.timeout" DEADLINE 58 r"{py}\w*(?:Timeout|TimedOut|DeadlineExceeded|TimeLimit){tail}";
    "class.memory" ALLOC_FAILED 60 r"{py}\w*(?:OutOfMemory|NoMemory|MemoryError|BadAlloc|HeapExhausted){tail}";
    "class.stack" STACK_OVERFLOW 60 r"{py}\w*(?:StackOverflow|SystemStack|RecursionError|RecursionLimit|StackExhausted){tail}";
    "class.refused" CONN_REFUSED 60 r"{py}(?:Errno::)?(?:\w*(?:ConnectionRefused|ConnectionFailed|ConnectFailed|ConnectError|ConnectException|EndpointConnection|NoBrokersAvailable|ServerSelection)(?:\w*[A-Za-rt-z0-9_])?|ECONNREFUSED)(?:: |:?$)";
    "class.network" CONN_RESET 59 r"{py}(?:Errno::)?(?:\w*(?:ConnectionReset|ConnectionClosed|ConnectionAborted|ConnectionLost|ConnectionDropped|SocketException|SocketError|ProtocolError|RemoteDisconnected|EOFException|NetworkError|BrokenPipe)(?:\w*[A-Za-rt-z0-9_])?|ECONNRESET|EPIPE)(?:: |:?$)";
    "class.dns" DNS 60 r"{py}\w*(?:UnknownHost|NameResolution|HostNotFound|DnsException|DNSError|gaierror){tail}";
    "class.tls" TLS 60 r"{py}\w*(?:SSLError|SSLException|SSLHandshake|TLSError|CertificateError|CertVerification|CertificateException){tail}";
    "class.rate" RATE_LIMITED 62 r"{py}\w*(?:RateLimit|RateExceeded|TooManyRequests|Throttl|SlowDown|RequestLimitExceeded|ProvisionedThroughputExceeded){tail}";
    "class.server" HTTP_5XX 60 r"{py}(?:\w*(?:InternalServer|ServiceUnavailable|BadGateway|GatewayTimeout)\w*|InternalError|InternalFailure)(?:: |:?$)";
    "class.auth" AUTH_INVALID 60 r"{py}\w*(?:Unauthenticated|Unauthorized(?:Error|Exception|Client|)|AuthenticationFail|AuthenticationError|AuthenticationException|AuthError|InvalidCredential|BadCredential|InvalidToken|ExpiredToken|TokenExpired|UnrecognizedClient){tail}";
    "class.forbidden" AUTH_FORBIDDEN 60 r"{py}\w*(?:AccessDenied|Forbidden|InsufficientPrivilege|NotAuthorized|PermissionDeniedError){tail}";
    "class.limit" QUOTA 60 r"{py}\w*(?:QuotaExceeded|LimitExceeded|ResourceExhausted|CapacityExceeded|InsufficientCapacity){tail}";
    "class.lock" LOCK_HELD 58 r"{py}\w*(?:LockError|LockedException|LockedError|AlreadyLocked|LockHeld|ResourceBusy|ResourceInUse|LockNotAvailable|AlreadyRunning){tail}";
    "class.missing_module" MISSING_MODULE 61 r"{py}\w*(?:ClassNotFound|NoClassDef|ModuleNotFound|PackageNotFound|LoadError|ImportError|PluginNotFound|UnknownPlugin){tail}";
    "class.missing_name" MISSING_SYMBOL 60 r"{py}\w*(?:NoSuchMethod|NoSuchField|NoMethodError|NameError|ReferenceError|UndefinedFunction|UndefinedVariable|UndefVar|MissingMethod|MissingProperty|UnboundLocal|AttributeError|UnknownProperty|UnknownTask|NoSuchBean|NoSuchBeanDefinition){tail}";
    "class.missing_thing" MISSING_PACKAGE 55 r"{py}(?:NoSuch[A-Z]\w*|ResourceNotFound\w*|[A-Z]\w*NotFound(?:Error|Exception|Fault|)|[A-Z]\w*DoesNotExist)(?:: |:?$)";
    "class.element" RUNTIME_EXCEPTION 64 r"{py}NoSuchElement(?:Error|Exception)(?:: |:?$)";
    "class.syntax" COMPILE_SYNTAX 60 r"{py}\w*(?:Syntax|Parse|Parser|Parsing|Lexer|Scanner|TokenMissing|MismatchedDelimiter|UnexpectedToken|MalformedInput|JsonDecode|YAMLError|YamlException|TomlDecode)\w*(?:Error|Exception|Failed|Failure)(?:: |:?$)";
    "class.warning" LINT 58 r"{py}\w*(?:Deprecation|Future|User|Syntax|Runtime|Resource|Unraisable\w*)Warning(?:: |:?$)";
}
