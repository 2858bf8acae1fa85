#[test]
fn answers_come_in_the_order_of_the_questions() {
    for count in [0_usize, 1, 15, 16, 33, 1000] {
        let items: Vec<usize> = (0..count).collect();
        assert_eq!(super::each(&items, |item| item * 2), items.iter().map(|item| item * 2).collect::<Vec<_>>());
    }
}
