use super::*;

#[test]
fn what_an_older_kernel_lacks_is_named_with_the_kernel_that_has_it() {
    let old = Version::Abi(4);
    assert_eq!((old.missing(Wall::Files), old.missing(Wall::Network)), (None, None));
    assert!(old.missing(Wall::Signals).unwrap().why.contains("Linux 6.12"));
    assert!(Version::None(libc::ENOSYS).missing(Wall::Files).unwrap().why.contains("5.13"));
    assert!(Version::None(libc::EOPNOTSUPP).missing(Wall::Files).unwrap().why.contains("lsm="));
    assert_eq!(Version::Abi(6).missing_for_all(), None);
    assert!(old.missing_for_all().is_some());
}
