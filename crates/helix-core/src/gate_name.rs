//! Names of gates, as plans, reports and the journal write them.
//!
//! Must not know what a gate checks.

crate::words! {
    /// A kind of gate.
    pub enum GateName {
        FilesExist = "files_exist",
        OutputsClaimed = "outputs_claimed",
        SyntaxCheck = "syntax_check",
        TestsPass = "tests_pass",
        Mutation = "mutation",
        LintPass = "lint_pass",
        BuildPass = "build_pass",
        Command = "command",
        AdrValid = "adr_valid",
        AdrComplete = "adr_complete",
        DocsRefsValid = "docs_refs_valid",
        CriteriaCovered = "criteria_covered",
        ConflictsResolved = "conflicts_resolved",
        ReviewApproved = "review_approved",
        Approval = "approval",
        Manual = "manual",
        DeploySuccess = "deploy_success",
        IntegrationPass = "integration_pass",
    }
}
