//! What every journal must do, whichever database is behind it.
//!
//! A backend runs these with `contract_tests!(factory)`, where `factory` is an async function that gives an empty journal
//! and whatever has to live as long as it does. The numbers in brackets are the failures seen before that a test keeps away.

pub(crate) mod cases;
pub(crate) mod interleaving;
pub(crate) mod samples;

/// Runs every case against the journals that an async factory makes.
macro_rules! contract_tests {
    ($factory:path) => {
        $crate::contract::contract_tests!(@each $factory:
            events_are_numbered_per_stream_from_one,
            events_of_all_streams_are_read_in_the_order_in_which_they_were_written,
            a_page_says_whether_there_is_more,
            a_conflict_names_the_real_number,
            of_two_racing_decisions_one_is_refused,
            an_append_without_events_is_refused,
            one_refused_append_does_not_harm_its_neighbours,
            projection_and_events_are_written_together,
            a_projection_that_does_not_fit_is_refused_with_its_events,
            of_racing_submits_with_one_key_one_creates,
            submits_without_a_key_are_all_different,
            of_racing_openings_with_one_key_one_creates,
            keys_that_look_alike_are_different_sessions,
            jobs_are_listed_newest_first_in_pages,
            jobs_are_found_by_an_unambiguous_beginning,
            sessions_are_listed_newest_first_in_pages,
            what_there_is_is_counted,
            turns_are_rows_of_their_own_and_found_by_every_name,
            a_forgotten_session_is_gone_whole_and_nothing_else_is,
            fences_increase_and_old_ones_write_nothing,
            every_follower_gets_every_event_in_order,
            a_late_subscriber_is_told_to_read_again,
            closing_is_heard_by_followers,
            any_interleaving_leaves_no_gaps_and_true_projections,
        );
    };
    (@each $factory:path: $($case:ident,)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                let (journal, guard) = $factory().await;
                $crate::contract::case!($case, journal);
                drop(guard);
            }
        )*
    };
}

/// Names the module of a case.
macro_rules! case {
    (any_interleaving_leaves_no_gaps_and_true_projections, $journal:ident) => {
        $crate::contract::interleaving::any_interleaving_leaves_no_gaps_and_true_projections($journal).await
    };
    ($case:ident, $journal:ident) => {
        $crate::contract::cases::$case($journal).await
    };
}

pub(crate) use {case, contract_tests};
