use super::*;

fn job(number: u64) -> Owner {
    Owner::Job(JobId::from_parts(1_700_000_000_000, number))
}

fn ticket(owner: &Owner, urgency: Urgency) -> Ticket {
    Ticket { owner: owner.clone(), phase: None, urgency }
}

fn owners_served(queue: &mut Queue<()>, times: usize) -> Vec<Owner> {
    (0..times).map_while(|_| queue.serve().map(|(ticket, ())| ticket.owner)).collect()
}

#[test]
fn fifty_ready_phases_do_not_starve_a_job_that_came_later() {
    let (mut queue, big, small) = (Queue::new(2), job(1), job(2));
    for _ in 0..50 {
        queue.join(ticket(&big, Urgency::Begin), ());
    }
    assert_eq!(owners_served(&mut queue, 9), [big.clone(), big.clone()], "there are two places");
    queue.join(ticket(&small, Urgency::Begin), ());
    queue.join(ticket(&small, Urgency::Begin), ());
    // The one with less is next, although the other has waited longer.
    queue.release(&big);
    assert_eq!(owners_served(&mut queue, 9), std::slice::from_ref(&small));
    // Both have one place: they take turns from here on.
    let mut turns = Vec::new();
    for _ in 0..2 {
        queue.release(&big);
        turns.extend(owners_served(&mut queue, 9));
        queue.release(&small);
        turns.extend(owners_served(&mut queue, 9));
    }
    assert_eq!(turns, [big.clone(), small, big.clone(), big], "the small job has nothing left at last");
    assert_eq!(queue.waiting(), 50 - 2 - 3);
}

#[test]
fn jobs_take_turns_and_each_job_keeps_its_order() {
    let mut queue = Queue::new(1);
    let jobs: Vec<Owner> = (1..=3).map(job).collect();
    for number in 0..3 {
        for owner in &jobs {
            let phase = PhaseId::new(format!("p{number}")).unwrap();
            queue.join(Ticket { phase: Some(phase), ..ticket(owner, Urgency::Begin) }, ());
        }
    }
    let mut served = Vec::new();
    while let Some((ticket, ())) = queue.serve() {
        queue.release(&ticket.owner);
        let number = jobs.iter().position(|owner| *owner == ticket.owner).unwrap() + 1;
        served.push(format!("{number}{}", ticket.phase.unwrap()));
    }
    assert_eq!(served, ["1p0", "2p0", "3p0", "1p1", "2p1", "3p1", "1p2", "2p2", "3p2"]);
    assert!(queue.owners.is_empty() && queue.waiting.is_empty(), "nothing is kept of who has gone");
}

#[test]
fn what_has_begun_comes_before_what_begins_and_a_person_before_both() {
    let (mut queue, one, other) = (Queue::new(1), job(1), job(2));
    let chat = Owner::Session(SessionId::from_parts(1_700_000_000_000, 7));
    queue.join(ticket(&one, Urgency::Begin), ());
    queue.join(ticket(&other, Urgency::Begin), ());
    queue.join(ticket(&other, Urgency::Continue), ());
    queue.join(ticket(&chat, Urgency::Person), ());
    let mut served = Vec::new();
    while let Some((ticket, ())) = queue.serve() {
        queue.release(&ticket.owner);
        served.push((ticket.owner, ticket.urgency));
    }
    let expected =
        [(chat, Urgency::Person), (other.clone(), Urgency::Continue), (one, Urgency::Begin), (other, Urgency::Begin)];
    assert_eq!(served, expected);
}

#[test]
fn who_leaves_is_not_served_and_costs_nobody_a_place() {
    let (mut queue, one, other) = (Queue::new(1), job(1), job(2));
    let number = queue.join(ticket(&one, Urgency::Begin), ());
    queue.join(ticket(&other, Urgency::Begin), ());
    queue.leave(&one, number);
    queue.leave(&one, number);
    assert_eq!(queue.serve().unwrap().0.owner, other);
    assert_eq!((queue.taken(), queue.waiting()), ((1, 1), 0));
}
