//! The axes of a classification: category, when to try again, whose move it is.
//!
//! Must not know how any of them is decided.

helix_core::words! {
    /// What kind of failure it is: the ten labels of the contract, in its order.
    pub enum Category {
        /// A path is missing or the operating system refuses it.
        FileAccess = "FILE_ACCESS",
        /// A named thing (command, module, symbol, package, table) does not exist.
        FunctionError = "FUNCTION_ERROR",
        /// Code, SQL or configuration does not parse.
        SyntaxError = "SYNTAX_ERROR",
        /// A check said no: assertion, snapshot, coverage, lint, format.
        AssertionFailure = "ASSERTION_FAILURE",
        /// Types, ownership, argument counts, use of nothing as something.
        TypeError = "TYPE_ERROR",
        /// A deadline passed.
        Timeout = "TIMEOUT",
        /// No memory: killed for it, heap limit, failed allocation, stack overflow.
        MemoryError = "MEMORY_ERROR",
        /// The network, or a service at its other end, did not work.
        NetworkError = "NETWORK_ERROR",
        /// A limited thing ran out or was refused: disk, descriptors, quota, rate, budget, rights at a service.
        ResourceError = "RESOURCE_ERROR",
        /// None of these, or not known.
        Unknown = "UNKNOWN",
    }
}

helix_core::words! {
    /// When trying again makes sense. Advice for people and prompts: retry policy reads typed agent errors instead.
    pub enum RetryAdvice {
        /// At once, as it is.
        Now = "now",
        /// As it is, after a while.
        AfterDelay = "after_delay",
        /// After something that an agent or Helix can change.
        AfterChange = "after_change",
        /// After a person has done something.
        Human = "human",
        /// Not at all.
        Never = "never",
    }
}

helix_core::words! {
    /// Whose move it is.
    pub enum Blame {
        /// The coding agent's work.
        Agent = "agent",
        /// The machine, its services, and remote services other than the model's.
        Environment = "environment",
        /// The model's API.
        Provider = "provider",
        /// Helix's own arguments, configuration, limits, sessions.
        Platform = "platform",
        /// A person's keys, plan, billing, account.
        User = "user",
    }
}
