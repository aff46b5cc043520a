pub(super) static FAULTS: &[super::Planted] = &[];
